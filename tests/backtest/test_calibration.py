"""Chances against what happened, by hand and for forecasters that are right."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

from dpmf.backtest.calibration import flatness, reliability


def scores(chance, margin):
    return pd.DataFrame({"p_home": chance, "home_score": margin, "away_score": 0.0})


def test_reliability_by_hand():
    told = reliability(scores([0.22, 0.28, 0.81, 0.89, 1.0, np.nan], [1, -1, 3, 0, 1, 1]))
    np.testing.assert_allclose(told.said, [0.25, 0.85, 1.0])
    np.testing.assert_allclose(told.won, [0.5, 0.75, 1.0])  # a tie is half a win
    np.testing.assert_array_equal(told.games, [2, 2, 1])


def test_intervals_are_those_of_wilson():
    told = reliability(scores(np.full(40, 0.7), np.repeat([1, -1], [31, 9])))
    expected = binomtest(31, 40).proportion_ci(0.9, method="wilson")
    assert told.low[0] == pytest.approx(expected.low)
    assert told.high[0] == pytest.approx(expected.high)


def test_pit_values_of_a_calibrated_forecaster_are_level():
    random = np.random.default_rng(0)
    told = flatness(pd.Series([*random.uniform(size=5000), np.nan, 0.0, 1.0]))
    assert told.counts.sum() == 5002 and told.expected == pytest.approx(500.2)
    bin_ = binom(5002, 0.1)
    assert bin_.cdf(told.high) - bin_.cdf(told.low - 1) >= 0.9
    assert bin_.cdf(told.high - 1) - bin_.cdf(told.low) <= 0.9
    inside = (told.counts >= told.low) & (told.counts <= told.high)
    assert inside.sum() >= 7  # of ten, nine expected; fewer have a chance of 1.3 %
