"""Simulated ratings, kept figures of links, and their places on the page."""

import links
import million
import numpy as np
import page

SAID = """12,345 links of 1,171 members Fit: 2 chains x 150 draws
DPMF: AUC 0.901, log loss 0.412
logistic: AUC 0.875, log loss 0.455
"""


def test_ratings_are_drawn_with_the_chances_that_are_told():
    count = 30_000
    frame, probs = million.drawn(count, rank=2, seed=0)
    level = frame["level"].to_numpy().astype(int) - 1
    np.testing.assert_allclose(probs.sum(axis=1), 1.0)
    came = np.eye(million.LEVELS)[level]
    # Five z-values: 5 standard errors are false alarms in one of 300,000 runs.
    z = (came - probs).sum(axis=0) / np.sqrt((probs * (1 - probs)).sum(axis=0))
    assert np.abs(z).max() < 5
    top = probs.argmax(axis=1) == level
    best = probs.max(axis=1)
    assert abs((top - best).sum()) < 5 * np.sqrt((best * (1 - best)).sum())
    assert frame["user"].nunique() == count // million.PER_USER


def test_what_the_example_says_is_read():
    found = links.figures(SAID)
    assert found["links"] == 12_345 and found["members"] == 1_171
    assert found["dpmf"] == {"auc": 0.901, "log_loss": 0.412}
    assert found["logistic"] == {"auc": 0.875, "log_loss": 0.455}


def test_the_page_has_links_and_the_million():
    text = page.links(links.figures(SAID) | {"cores": 2, "seconds": 60.0})
    assert "| PMF with intercepts | 0.901 | 0.412 |" in text
    row = dict.fromkeys(("ratings", "users", "films", "rank", "chains", "warmup", "draws"), 7)
    scores = ("rhat_max", "ess_median", "mean_log_prob", "mean_log_prob_of_the_truth", "fit_s")
    words = {"device": "x", "jax": "y", "dpmf": "0.4.0", "line": "Converged."}
    text = page.million(row | dict.fromkeys(scores, 1.5) | words)
    assert "fitted in 1.5 seconds" in text and "it says: Converged." in text
