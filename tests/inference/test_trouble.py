"""Data that say little, nothing, or too much: the fit ends, and no forecast is a NaN."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import Dyads
from dpmf.inference.diagnostics import Diagnostics

RANDOM = np.random.default_rng(0)
HOME = RANDOM.integers(4, size=24)
AWAY = (HOME + RANDOM.integers(1, 4, 24)) % 4
NOISE = RANDOM.normal(size=(24, 2))
SCORES = {
    "constant": np.full((24, 2), 20.0),
    "huge": 1e9 + 1e8 * NOISE,
    "tiny": 1e-9 * NOISE,
}


def forecast(frame: pd.DataFrame, **model):
    data = Dyads.from_frame(frame, row="home", col="away", value=("ours", "theirs"))
    fit = dpmf.PMF(**model).fit(
        data, chains=2, warmup=60, draws=40, engine="slice", progress=False
    )
    told = fit.predict(frame)
    for figure in (told.mean, told.sd, told.first_exceeds, told.quantile(0.9)):
        assert np.isfinite(figure).all()
    return fit, told


@pytest.mark.parametrize("name", SCORES)
def test_scores_without_information_or_of_any_size(name):
    frame = pd.DataFrame({"home": HOME, "away": AWAY}).map("T{}".format)
    frame[["ours", "theirs"]] = SCORES[name]
    fit, told = forecast(frame)
    size = SCORES[name].std() or 1.0
    assert np.abs(told.mean - SCORES[name].mean()).max() < 3 * size
    line = fit.diagnostics.line()
    assert fit.diagnostics.converged or "Run longer" in line


def test_one_game_for_each_team():
    frame = pd.DataFrame({"home": ["A", "C", "E"], "away": ["B", "D", "F"]})
    _, told = forecast(frame.assign(ours=[1.0, 5.0, 2.0], theirs=[3.0, 2.0, 2.0]))
    assert np.abs(told.mean - 2.5).max() < 3


def told_of(rhat: float, ess: float, divergences: int = 0, share: float = 0.0) -> str:
    one = np.array([rhat])
    return Diagnostics(
        ("y",), one, np.array([ess]), np.array([ess]), divergences, 0, share
    ).line()


def test_trouble_leads_to_a_plain_suggestion():
    assert told_of(1.3, 500).endswith("Run longer: more warmup and draws, or more chains.")
    assert told_of(1.0, 20).endswith("Run longer: more warmup and draws, or more chains.")
    broken = told_of(1.0, 500, 90, 0.3)
    assert broken.startswith("NOT converged") and "engine='slice' may help" in broken
    assert told_of(np.nan, np.nan).startswith("NOT converged: R-hat needs at least 2 chains")
    assert told_of(1.01, 500, 2, 0.001).startswith("Converged")
