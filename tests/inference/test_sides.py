"""Ordered levels with intercepts: y may have either side of 0, and chains take the same."""

import jax
import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf.inference import start
from dpmf.likelihoods import Ordinal

VIEWERS, FILMS, RATINGS = 60, 150, 6000


def rated() -> dpmf.Dyads:
    """Most viewers dislike what moves them: the other side would suit these data as well."""
    random = np.random.default_rng(0)
    viewer, film = random.integers(0, VIEWERS, RATINGS), random.integers(0, FILMS, RATINGS)
    taste = -0.24 + 0.155 * random.standard_normal(VIEWERS)
    moving = np.logaddexp(0, 5 + 3.6 * random.standard_normal(FILMS))
    y = taste[viewer] * moving[film] + random.logistic(size=RATINGS)
    y += 1.2 * random.standard_normal(VIEWERS)[viewer]
    y += 0.6 * random.standard_normal(FILMS)[film]
    stars = 1.0 + np.searchsorted(np.quantile(y, [0.15, 0.35, 0.65, 0.9]), y)
    frame = pd.DataFrame({"viewer": viewer, "film": film, "stars": stars})
    return dpmf.Dyads.from_frame(frame, row="viewer", col="film", value="stars")


def sides(*, own_cuts: bool = False) -> np.ndarray:
    """On which side of 0 the mean of the rows of each chain is."""
    model = dpmf.PMF(1, Ordinal(5, own_cuts), intercepts=True)
    fit = model.fit(rated(), chains=8, warmup=60, draws=5, seed=2, progress=False)
    return np.sign(np.asarray(fit.draws.states.free.rows.mean)[:, -1, 0])


@pytest.mark.parametrize("own_cuts", [False, True])
def test_chains_of_ratings_take_one_side(own_cuts):
    assert (sides(own_cuts=own_cuts) == 1).all()


def test_chains_whose_intercepts_begin_loud_would_be_found(monkeypatch):
    monkeypatch.setattr(start, "QUIET", 1.0)
    jax.clear_caches()
    try:
        with pytest.raises(AssertionError):
            test_chains_of_ratings_take_one_side(own_cuts=False)
    finally:
        jax.clear_caches()  # or later tests would wander too
