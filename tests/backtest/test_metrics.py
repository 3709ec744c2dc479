"""Metrics of a mixture against scipy, sampling and hand."""

import numpy as np
import pytest
from scipy import stats

from dpmf.backtest.metrics import MARGIN, scored
from dpmf.backtest.prediction import Prediction

COVARIANCE = np.array([[100.0, 40.0], [40.0, 100.0]])


@pytest.fixture
def mixture():
    random = np.random.default_rng(0)
    mean = 100 + 5 * random.standard_normal((3, 4, 2))
    scale = np.array([0.8, 1.0, 1.3])[:, None, None]
    return Prediction(mean, scale * COVARIANCE)


VALUES = np.array([[101.0, 99.0], [90.0, 90.0], [80.0, 120.0], [110.0, 95.0]])


def test_log_prob_is_the_mean_of_densities(mixture):
    each = [
        [stats.multivariate_normal(m, c).pdf(v) for m, v in zip(means, VALUES, strict=True)]
        for means, c in zip(mixture.mean, mixture.covariance, strict=True)
    ]
    np.testing.assert_allclose(mixture.log_prob(VALUES), np.log(np.mean(each, axis=0)))


def test_margin_agrees_with_samples(mixture):
    random = np.random.default_rng(1)
    draws = [
        random.multivariate_normal(mean, covariance, 200_000)
        for mean, covariance in zip(mixture.mean[:, 0], mixture.covariance, strict=True)
    ]
    margin = np.concatenate(draws) @ MARGIN
    real = VALUES[:1] @ MARGIN
    rows = scored(mixture, VALUES)
    assert rows["p_home"][0] == pytest.approx((margin > 0).mean(), abs=0.003)
    assert rows["pit_margin"][0] == pytest.approx((margin <= real).mean(), abs=0.003)
    half = len(margin) // 2
    shuffled = random.permutation(margin)
    spread = np.abs(shuffled[:half] - shuffled[half:]).mean() / 2
    expected = np.abs(margin - real).mean() - spread
    assert rows["crps_margin"][0] == pytest.approx(expected, abs=0.05)


def test_crps_of_one_normal_is_the_closed_form():
    one = Prediction.normal(np.array([[100.0, 98.0]]), COVARIANCE)
    values = np.array([[90.0, 100.0]])
    sd = np.sqrt(120.0)
    z = (-10.0 - 2.0) / sd
    expected = sd * (
        z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    )
    assert scored(one, values)["crps_margin"][0] == pytest.approx(expected, rel=1e-5)


def test_a_tie_counts_one_half():
    means = np.array([[100.0, 98.0], [99.0, 99.0], [95.0, 99.0], [95.0, 99.0]])
    values = np.array([[90.0, 90.0], [91.0, 90.0], [91.0, 90.0], [80.0, 90.0]])
    rows = scored(Prediction.normal(means, COVARIANCE), values)
    assert rows["winner_error"].tolist() == [0.5, 0.5, 1.0, 0.0]
    assert rows["squared_error"][3] == 15.0**2 + 9.0**2
    tie = rows["p_home"][0]
    assert rows["log_loss"][0] == pytest.approx(-0.5 * np.log(tie * (1 - tie)))


def test_who_knows_only_the_winner_is_scored_on_that():
    rows = scored(Prediction.only_winner(np.array([0.75, 0.25])), VALUES[[0, 2]])
    assert rows["winner_error"].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(rows["log_loss"], -np.log(0.75))
    np.testing.assert_allclose(rows["brier"], 0.0625)
    assert rows[["log_prob", "squared_error", "crps_margin", "pit_total"]].isna().all(axis=None)
