"""Weights of draws: smoothed, judged, and turned into how often each draw is taken."""

import warnings

import numpy as np
import pytest

from dpmf import DpmfWarning, SamplingError
from dpmf.inference.diagnostics import Diagnostics, Reweighting
from dpmf.posterior.weights import resampled, reweighting


def test_equal_weights_change_nothing():
    logs = 1e-3 * np.random.default_rng(0).normal(size=1000) - 2000.0
    weights, told = reweighting(logs, 3, 1.0)
    assert weights.sum() == pytest.approx(1)
    assert told.events == 3
    assert told.ess == pytest.approx(1000, rel=1e-3)
    assert told.pareto_k < 0.7


def test_known_tails_give_their_shape():
    """Weights u^-k of uniform u have a Pareto tail of shape k."""
    random = np.random.default_rng(1)
    for k in (0.3, 1.2):
        logs = -k * np.log(random.uniform(size=400_000))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DpmfWarning)
            told = reweighting(logs, 1, 1.0)[1]
        assert told.pareto_k == pytest.approx(k, abs=0.2)


def test_weights_that_cannot_be_trusted_are_told():
    logs = -3.0 * np.log(np.random.default_rng(2).uniform(size=1000))
    with pytest.warns(
        DpmfWarning, match=r"Pareto k is 2\.\d+, expected at most 0.7.*Fit again"
    ):
        reweighting(logs, 5, 1.0)


def test_draws_that_make_events_impossible_have_no_weight():
    logs = np.random.default_rng(3).normal(0, 0.1, 200)
    logs[:3] = np.nan, -np.inf, np.nan
    weights, told = reweighting(logs, 1, 1.0)
    assert (weights[:3] == 0).all()
    assert weights.sum() == pytest.approx(1)
    assert told.ess == pytest.approx(197, rel=0.05)


@pytest.mark.parametrize("logs", [np.zeros(24), -1e3 * np.arange(1000.0)])
def test_too_few_draws_of_any_weight_cannot_be_judged(logs):
    with pytest.warns(DpmfWarning, match="Pareto k is inf"):
        weights, told = reweighting(logs, 1, 1.0)
    assert told.pareto_k == np.inf
    expected = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_events_impossible_under_every_draw():
    with pytest.raises(SamplingError, match="impossible under every draw"):
        reweighting(np.array([np.nan, -np.inf]), 1, 1.0)


def test_draws_are_taken_as_often_as_they_weigh():
    random = np.random.default_rng(4)
    weights = random.dirichlet(np.full(50, 0.3))
    for seed in range(20):
        taken = resampled(weights, np.random.default_rng(seed))
        assert (np.diff(taken) >= 0).all()
        times = np.bincount(taken, minlength=50)
        assert (np.abs(times - 50 * weights) < 1).all()
    often = [
        np.bincount(resampled(weights, np.random.default_rng(s)), minlength=50)
        for s in range(4000)
    ]
    np.testing.assert_allclose(np.mean(often, axis=0), 50 * weights, atol=0.05)


def test_equal_weights_take_every_draw_once():
    taken = resampled(np.full(8, 1 / 8), np.random.default_rng(0))
    assert taken.tolist() == list(range(8))


def good() -> Diagnostics:
    return Diagnostics(("y",), np.array([1.0]), np.array([500.0]), np.array([500.0]), 0, 0)


def test_diagnostics_tell_of_weights():
    fine = good()._replace(reweighted=(Reweighting(1, 0.25, 321.4), Reweighting(4, 0.5, 90.0)))
    assert fine.converged
    assert fine.line().endswith(
        "; then given 1 new event: Pareto k 0.25, ESS of weights 321; then given 4 new events: "
        "Pareto k 0.50, ESS of weights 90."
    )
    bad = good()._replace(reweighted=(Reweighting(1, 0.71, 3.0),))
    assert good().converged and not bad.converged
    assert bad.line().startswith("NOT converged")
    assert bad.line().endswith("Fit again, with the new events among the others.")
    assert not good()._replace(reweighted=(Reweighting(1, np.nan, 3.0),)).converged
