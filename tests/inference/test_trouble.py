"""Data that say little, nothing, or too much: the fit ends, and no forecast is a NaN."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import Dyads
from dpmf.inference.diagnostics import Diagnostics
from dpmf.likelihoods import Bernoulli, Ordinal, Poisson

SIZES = {"chains": 2, "warmup": 60, "draws": 40, "engine": "slice", "progress": False}
RANDOM = np.random.default_rng(0)
HOME = RANDOM.integers(4, size=24)
AWAY = (HOME + RANDOM.integers(1, 4, 24)) % 4
NOISE = RANDOM.normal(size=(24, 2))
SCORES = {
    "constant": np.full((24, 2), 20.0),
    "huge": 1e9 + 1e8 * NOISE,
    "tiny": 1e-9 * NOISE,
    "noise": 20.0 + 10.0 * NOISE,  # nothing about who plays
}
ONE = {  # value of each event
    "separated": (Bernoulli(), (HOME >= 2) * 1.0),
    "always": (Bernoulli(), np.ones(24)),
    "nothing counted": (Poisson(), np.zeros(24)),
    "one level": (Ordinal(levels=3), np.full(24, 2.0)),
}


def forecast(frame: pd.DataFrame, **model):
    data = Dyads.from_frame(frame, row="home", col="away", value=("ours", "theirs"))
    fit = dpmf.PMF(**model).fit(data, **SIZES)
    told = fit.predict(frame)
    assert_told(fit, told.mean, told.sd, told.first_exceeds, told.quantile(0.9))
    return fit, told


def assert_told(fit, *figures):
    """No NaN, and a line that is either sure or says what to do."""
    for figure in figures:
        assert np.isfinite(figure).all()
    line = fit.diagnostics.line()
    if fit.diagnostics.converged:
        assert line.startswith("Converged")
    else:
        assert line.startswith("NOT converged") and ("Run longer" in line or "may help" in line)


@pytest.mark.parametrize("name", SCORES)
def test_scores_without_information_or_of_any_size(name):
    frame = pd.DataFrame({"home": HOME, "away": AWAY}).map("T{}".format)
    frame[["ours", "theirs"]] = SCORES[name]
    _, told = forecast(frame)
    size = SCORES[name].std() or 1.0
    assert np.abs(told.mean - SCORES[name].mean()).max() < 3 * size


@pytest.mark.parametrize("engine", ["slice", pytest.param("hmc", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ONE)
def test_outcomes_that_are_always_the_same(name, engine):
    """Likelihoods that grow towards infinity are held back by the prior."""
    likelihood, values = ONE[name]
    frame = pd.DataFrame({"home": HOME, "away": AWAY}).map("T{}".format)
    data = Dyads.from_frame(frame.assign(it=values), row="home", col="away", value="it")
    fit = dpmf.PMF(rank=1, likelihood=likelihood).fit(data, **SIZES | {"engine": engine})
    told = fit.predict(frame)
    assert_told(fit, told.mean, told.sd, told.log_prob(values))
    for value in np.unique(values):  # what always happened is expected to happen
        assert np.exp(told.log_prob(values))[values == value].mean() > 0.5


def test_more_features_than_the_data_can_carry():
    frame = pd.DataFrame({"home": ["A", "B", "C"], "away": ["B", "C", "A"]})
    _, told = forecast(frame.assign(ours=[1.0, 5.0, 2.0], theirs=[3.0, 2.0, 2.0]), rank=6)
    assert np.abs(told.mean - 2.5).max() < 3


def test_a_single_event():
    frame = pd.DataFrame({"home": ["A"], "away": ["B"], "ours": [3.0], "theirs": [1.0]})
    _, told = forecast(frame)
    assert told.sd.max() < 30


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
