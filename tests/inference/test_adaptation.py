"""What warm-up learns of a Gaussian whose covariance is known."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf import DPMF
from dpmf.inference import adaptation as adapt
from dpmf.inference import hmc_engine
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian
from dpmf.samplers import hmc
from inference.fitted import problem_of, rating_dyads, ratings

WHITE = np.array([1.0, 4.0, 0.0025])  # variances of coordinates by themselves
ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
TOGETHER = ROTATION @ np.diag([1e-4, 0.1, 1.0, 10.0]) @ ROTATION.T
CHAINS, STEPS, WINDOWS = 4, 40, 4


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def log_density(x):
    few = x[len(WHITE) :]
    apart = jnp.sum(x[: len(WHITE)] ** 2 / WHITE)
    return -0.5 * (apart + few @ jnp.asarray(np.linalg.inv(TOGETHER)) @ few)


@jax.jit
def moved(key, x, adaptation):
    trajectory = adapt.tuning(adaptation).trajectory
    jitter = jr.uniform(jr.fold_in(key, CHAINS), minval=0.4, maxval=1.6)
    steps = hmc.leapfrog_steps(trajectory, jitter)

    def one(key, x):
        return hmc.step(key, x, log_density, trajectory, steps)

    after, info = jax.vmap(one)(jr.split(key, CHAINS), x)
    stride = adapt.Stride(jitter, jnp.zeros((), bool))
    return after, adapt.learned(adaptation, x, after, info, stride, jnp.ones(()))


def learned(key) -> adapt.Adaptation:
    """The adaptation after a few windows."""
    count, few = len(WHITE), len(TOGETHER)
    white = jnp.concatenate([jnp.ones(count), jnp.zeros(few)])
    places = count + jnp.arange(few)
    adaptation = adapt.begin(jnp.ones(count + few), white, places, jnp.zeros(0))
    x = 0.1 * jr.normal(key, (CHAINS, count + few))
    for window in range(WINDOWS):
        for step in range(STEPS):
            x, adaptation = moved(jr.fold_in(key, 1000 * window + step), x, adaptation)
        adaptation = adapt.window_closed(adaptation)
    return adaptation


def test_covariances_are_learned_within_a_few_draws(key):
    """Slopes say what so few draws cannot; a little is left to the prior's scale."""
    found = learned(key)
    np.testing.assert_allclose(found.variance[:3], WHITE, rtol=0.15)
    covariance = np.asarray(found.factor @ found.factor.T)
    # In units of the target, in which its covariance is 1 in every direction.
    root = np.linalg.inv(np.linalg.cholesky(TOGETHER))
    values = np.linalg.eigvalsh(root @ covariance @ root.T)
    assert 0.8 < values.min() <= values.max() < 1.25
    np.testing.assert_allclose(found.variance[3:], np.diagonal(covariance))


def test_what_no_trajectory_has_seen_stays(key):
    found = learned(key)
    again = adapt.window_closed(found)
    np.testing.assert_array_equal(again.variance, found.variance)
    np.testing.assert_array_equal(again.factor, found.factor)


def test_a_mean_on_many_points_is_not_learned_together():
    """Its coordinates would outnumber the draws of a warm-up; parameters are few."""
    model = DPMF(2, Matern12("week"), Gaussian(), mean="pooled")
    few, many = (hmc_engine._together(_weekly(model, weeks)) for weeks in (4, 24))
    parameters = 15  # means, scales, correlations, scales of pooled means; sigma
    assert len(many) == parameters
    assert len(few) == parameters + 2 * 2 * 4


def _weekly(model, weeks):
    frame = ratings(Gaussian())
    frame["week"] = np.arange(len(frame)) % weeks * 1.0
    return problem_of(model, rating_dyads(frame))


def test_brackets_follow_moves_but_narrow_step_by_step():
    """Where all slices were cut off nothing moved, which says only that brackets are wide."""
    widths = jnp.array([2.0, 2.0, 2.0])
    begun = adapt.begin(jnp.ones(3), jnp.ones(3), jnp.zeros(0, int), widths)
    steps = 10.0
    distance = jnp.array([[5.0, 0.1, 0.0], [3.0, 0.3, 0.0]])  # of two chains, in all steps
    seen = adapt.brackets_set(adapt.widened(begun, distance), jnp.asarray(steps))
    expected = [
        adapt.PER_MOVE * 4.0 / steps,
        adapt.PER_MOVE * 0.2 / steps,
        2.0 / adapt.NARROWER,
    ]
    np.testing.assert_allclose(seen.widths, expected)
    np.testing.assert_array_equal(seen.distance, 0.0)
