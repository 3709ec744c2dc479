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


def told(length: float, spread: float = SPREAD, known=Filtered) -> Filtered:
    return known.of(steps_of(length), jnp.asarray(COPY), jnp.asarray(spread))


def density_errors(known=Filtered) -> np.ndarray:
    """Against the normal density of the copies."""
    found = [float(told(length, known=known).log_density) for length in LENGTHS]
    expected = []
    for length in LENGTHS:
        covariance = lower(length) @ lower(length).T + SPREAD * np.eye(8)
        expected.append(stats.multivariate_normal.logpdf(COPY, np.zeros(8), covariance))
    return np.diff(found) - np.diff(expected)


def moment_errors(length: float, spread: float = SPREAD, known=Filtered) -> list[np.ndarray]:
    """Of white given the copies, against Bayes' rule; and of what is held of it."""
    own, matrix = told(length, spread, known), lower(length)
    precision = np.eye(8) + matrix.T @ matrix / spread
    mean = np.linalg.solve(precision, matrix.T @ COPY / spread)
    found = np.asarray(own.white(jnp.zeros(8)))
    root = np.asarray(jax.vmap(own.white)(np.eye(8))).T - found[:, None]
    white = np.random.default_rng(1).normal(size=8)
    again = np.asarray(own.white(own.held(jnp.asarray(white))))
    return [found - mean, root @ root.T - np.linalg.inv(precision), again - white]


def test_densities_are_those_of_the_copies(x64):
    np.testing.assert_allclose(density_errors(), 0.0, atol=1e-9)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("spread", [1e-4, SPREAD, 1e4])
def test_white_given_copies_is_as_bayes_says(x64, length, spread):
    for error in moment_errors(length, spread):
        np.testing.assert_allclose(error, 0.0, atol=2e-6)


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
        ("jnp.sqrt(variance / next_predicted) * next_fresh", "jnp.sqrt(variance)"),
        ("(1 - self.back * self.ahead) * self.mean", "self.mean"),
        ("self._from_copies + self.left * held", "self.left * held"),
    ],
)
def test_wrong_moments_are_found(x64, old, new):
    wrong = planted(filtered.Filtered, old, new)
    assert max(np.abs(error).max() for error in moment_errors(0.7, known=wrong)) > 1e-3


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


def test_a_long_diary_of_close_points_stays_finite(x64):
    """A hundred thousand points all but the same, and copies that say all or nothing."""
    points = 100_000
    track = markov.Track(jnp.full(points, 1e-6), jnp.arange(points) == 0)
    steps = track.steps(jnp.asarray(1e4))
    copy = jr.normal(jr.key(0), (points,))
    for spread in (1e-4, 1e4):
        own = Filtered.of(steps, copy, jnp.asarray(spread))
        white = own.white(own.held(jnp.ones(points)))
        assert np.isfinite(own.log_density)
        np.testing.assert_allclose(white, 1.0, atol=1e-3)
