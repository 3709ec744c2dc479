"""Hyperparameters of Markov chains: noisy copies of their values, as Bayes says."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from dpmf.inference import filtered
from dpmf.inference.filtered import Filtered
from dpmf.model import markov
from planted import planted

SPREAD = 0.3
LENGTHS = (0.01, 0.7, 3.0, 500.0)
GAPS = np.array([1.0, 0.5, 2.0, 1e-3, 1.0, 1.0, 4.0, 0.1])
STARTS = np.array([True, False, False, False, True, True, False, False])
COPY = np.random.default_rng(0).normal(0, 1.5, 8)


def steps_of(length: float) -> markov.Steps:
    return markov.Track(jnp.asarray(GAPS), jnp.asarray(STARTS)).steps(jnp.asarray(length))


def lower(length: float) -> np.ndarray:
    """From white to values, as a matrix."""
    steps = markov.Steps(*(x[None] for x in steps_of(length)))
    return np.asarray(jax.vmap(lambda one: markov.coloured(one[None], steps)[0])(np.eye(8))).T


def told(length: float, spread: float = SPREAD, kind=Filtered) -> Filtered:
    return kind.by(steps_of(length), jnp.asarray(COPY), jnp.asarray(spread))


def density_errors(kind=Filtered) -> np.ndarray:
    """Against the normal density of the copies."""
    found = [float(told(length, kind=kind).log_density) for length in LENGTHS]
    expected = []
    for length in LENGTHS:
        covariance = lower(length) @ lower(length).T + SPREAD * np.eye(8)
        expected.append(stats.multivariate_normal.logpdf(COPY, np.zeros(8), covariance))
    return np.diff(found) - np.diff(expected)


def moment_errors(length: float, spread: float = SPREAD, kind=Filtered) -> list[np.ndarray]:
    """Of white given the copies, against Bayes' rule; of its values; and of what is held."""
    own, matrix = told(length, spread, kind), lower(length)
    precision = np.eye(8) + matrix.T @ matrix / spread
    mean = np.linalg.solve(precision, matrix.T @ COPY / spread)
    found, values = (np.asarray(one) for one in own.restored(jnp.zeros(8)))
    root = np.asarray(jax.vmap(lambda one: own.restored(one)[0])(np.eye(8))).T - found[:, None]
    white = jnp.asarray(np.random.default_rng(1).normal(size=8))
    again = np.asarray(own.restored(own.held(white, matrix @ white))[0])
    covariance = root @ root.T - np.linalg.inv(precision)
    return [found - mean, values - matrix @ found, covariance, again - white]


def test_densities_are_those_of_the_copies(x64):
    np.testing.assert_allclose(density_errors(), 0.0, atol=1e-9)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("spread", [1e-4, SPREAD, 1e4])
def test_white_given_copies_is_as_bayes_says(x64, length, spread):
    for error in moment_errors(length, spread):
        np.testing.assert_allclose(error, 0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("decay**2 * _before(variance)", "decay * _before(variance)"),
        ("copy - decay * _before(mean)", "copy - _before(mean)"),
        ("self.surprise**2) - self.log_volume", "self.surprise**2)"),
    ],
)
def test_wrong_densities_are_found(x64, old, new):
    wrong = planted(filtered.Filtered, old, new)
    assert np.abs(density_errors(wrong)).max() > 1e-3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jnp.sqrt(variance * unexplained)", "jnp.sqrt(variance)"),
        ("own=unexplained * mean", "own=mean"),
        ("(self.own + self.left * held)", "(self.left * held)"),
        ("back=variance * ahead", "back=variance"),
    ],
)
def test_wrong_moments_are_found(x64, old, new):
    wrong = planted(filtered.Filtered, old, new)
    assert max(np.abs(error).max() for error in moment_errors(0.7, kind=wrong)) > 1e-3


def test_any_grouping_gives_the_variances(x64):
    steps = steps_of(0.7)
    one, found = 0.0, []
    for decay, fresh in zip(*(np.asarray(x) for x in steps), strict=True):
        predicted = decay**2 * one + fresh**2
        one = SPREAD * predicted / (predicted + SPREAD)
        found.append(one)
    np.testing.assert_allclose(
        filtered._variances(steps, jnp.asarray(SPREAD)), found, rtol=1e-12
    )


@pytest.mark.parametrize("spread", [1e-4, 1e4])
def test_a_long_diary_of_close_points(x64, spread):
    """A hundred thousand points all but the same, and copies that say all or nothing."""
    points = 100_000
    track = markov.Track(jnp.full(points, 1e-6), jnp.arange(points) == 0)
    steps = track.steps(jnp.asarray(1e4))
    copy = jr.normal(jr.key(0), (points,))
    own = Filtered.by(steps, copy, jnp.asarray(spread))
    mean, variance, missed, spreads = 0.0, 0.0, [], []
    for decay, fresh, one in zip(*(np.asarray(x) for x in (*steps, copy)), strict=True):
        predicted = decay**2 * variance + fresh**2
        missed.append(one - decay * mean)
        spreads.append(np.sqrt(predicted + spread))
        gain = predicted / (predicted + spread)
        mean, variance = decay * mean + gain * (one - decay * mean), gain * spread
    expected = stats.norm.logpdf(missed, scale=spreads).sum()
    log_density = own.log_density - 0.5 * points * np.log(2 * np.pi)
    assert float(log_density) == pytest.approx(expected, rel=1e-12)
    values = markov.coloured(jnp.ones((1, points)), markov.Steps(*(x[None] for x in steps)))[0]
    white, again = own.restored(own.held(jnp.ones(points), values))
    np.testing.assert_allclose(white, 1.0, atol=1e-8)
    np.testing.assert_allclose(again, values, atol=1e-12)
