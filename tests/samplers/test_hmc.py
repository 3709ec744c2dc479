"""Hamiltonian Monte Carlo on a Gaussian whose moments are known, and on half of one."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from chance import assert_mean
from dpmf.samplers import hmc
from planted import planted

CHAINS, STEPS = 3000, 50
MEAN = np.array([1.0, -2.0])
COVARIANCE = np.array([[2.0, 0.9], [0.9, 0.8]])
PRECISION = np.linalg.inv(COVARIANCE)


def gaussian(x):
    return -0.5 * (x - MEAN) @ PRECISION @ (x - MEAN)


def tuning(step_size=0.5, length=1.5, variance=(1.5, 1.0)):
    return hmc.Tuning(jnp.array(step_size), jnp.array(variance), jnp.array(length))


def together():
    """Both coordinates in one block, whose covariance is not quite that of the target."""
    factor = np.linalg.cholesky(COVARIANCE + 0.3 * np.eye(2))
    diagonal = tuple(np.sum(factor**2, axis=1))
    few = {"places": jnp.arange(2), "factor": jnp.asarray(factor)}
    return tuning(variance=diagonal)._replace(**few)


def run(key, log_density, start, tuning, step=hmc.step):
    """Chains from `start`, which is drawn from the target: nothing to burn in."""

    def chain(key, position):
        def one(position, key):
            key_jitter, key_step = jr.split(key)
            steps = hmc.leapfrog_steps(tuning, jr.uniform(key_jitter))
            position, info = step(key_step, position, log_density, tuning, steps)
            return position, (position, info)

        return jax.lax.scan(one, position, jr.split(key, STEPS))[1]

    x, info = jax.jit(jax.vmap(chain))(jr.split(key, CHAINS), jnp.asarray(start))
    return np.asarray(x), info


def assert_gaussian(key, log_density=gaussian, settings=None, step=hmc.step):
    start = stats.multivariate_normal(MEAN, COVARIANCE).rvs(CHAINS, random_state=1)
    x, info = run(key, log_density, start, settings or tuning(), step)
    centred = x - MEAN
    assert_mean(centred.mean(axis=1), 0.0)
    assert_mean(np.einsum("csi,csj->cij", centred, centred) / STEPS, COVARIANCE)
    return info


def test_gaussian(key):
    info = assert_gaussian(key)
    assert 0.7 < info.acceptance.mean() < 0.99
    assert not info.divergent.any()
    assert set(np.unique(info.steps)) == {1, 2, 3}


def test_gaussian_with_coordinates_that_vary_together(key):
    assert_gaussian(key, settings=together())


@pytest.mark.parametrize(
    "wrong",
    [lambda x: gaussian(x) / 1.05**2, lambda x: gaussian(x) + 0.05 * x[0]],
    ids=["5 % wider", "tilted"],
)
def test_another_target_is_found(key, wrong):
    with pytest.raises(AssertionError, match="standard errors"):
        assert_gaussian(key, wrong)


def assert_time_runs_backwards(key, step, most=7, settings=None):
    """From the proposal, with its momentum turned round, leapfrog leads back to the start.

    Beside a longer one, as among many problems, a trajectory waits for it.
    """
    start, settings = jnp.array([0.3, -1.0]), settings or tuning()
    most = most and jnp.array(most)
    _, info = jax.jit(step, static_argnums=2)(
        key, start, gaussian, settings, jnp.array(4), most
    )
    x, size = np.asarray(info.proposal), float(settings.step_size)
    metric = np.diag(settings.variance)
    velocity = -metric @ np.asarray(info.speed)
    if settings.factor is not None:
        metric = np.asarray(settings.factor @ settings.factor.T)
    p = np.linalg.solve(metric, velocity)
    for _ in range(4):
        p = p - 0.5 * size * PRECISION @ (x - MEAN)
        x = x + size * metric @ p
        p = p - 0.5 * size * PRECISION @ (x - MEAN)
    np.testing.assert_allclose(x, start, rtol=1e-9)


@pytest.mark.parametrize("settings", [tuning, together])
def test_proposal_and_speed_retrace_the_trajectory(key, settings):
    assert_time_runs_backwards(key, hmc.step, settings=settings())


def test_a_trajectory_alone_that_is_a_step_short_is_found(key):
    assert_time_runs_backwards(key, hmc.step, most=None)
    with pytest.raises(AssertionError):
        assert_time_runs_backwards(key, planted(hmc.step, ") + 1", ")"), most=None)


def test_waiting_for_a_longer_trajectory_changes_nothing(key):
    start, steps = jnp.array([0.3, -1.0]), jnp.array(4)
    step = jax.jit(hmc.step, static_argnums=2)
    alone = step(key, start, gaussian, tuning(), steps)
    beside = step(key, start, gaussian, tuning(), steps, jnp.array(9))
    jax.tree.map(np.testing.assert_array_equal, beside, alone)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("_spread(tuning, last)", "_spread(tuning, -last)"),
        ("(turn == 0) | (turn == steps)", "turn == 0"),
        ("turn > 0", "turn >= 0"),
        (" & (turn <= steps)", ""),
        ("jnp.where(turn < steps, 1.0, 0.0)", "1.0"),
    ],
    ids=[
        "flipped momentum",
        "no half kick at the end",
        "drift at the start",
        "drift while waiting",
        "kick while waiting",
    ],
)
def test_a_wrong_trajectory_is_found(key, right, wrong):
    with pytest.raises(AssertionError):
        assert_time_runs_backwards(key, planted(hmc.step, right, wrong))


def test_a_block_that_is_not_transposed_is_found(key):
    same = "(turn == 0) |"
    wrong = planted(hmc._gathered, "factor.T", "factor")
    step = planted(hmc.step, same, same, _gathered=wrong)
    with pytest.raises(AssertionError):
        assert_time_runs_backwards(key, step, settings=together())


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("end - kinetic(last)", "end"), ("(start - ", "(0.5 * start - ")],
    ids=["no energy at the end", "density at the start"],
)
def test_a_wrong_acceptance_is_found(key, right, wrong):
    start = stats.multivariate_normal(MEAN, COVARIANCE).rvs(CHAINS, random_state=1)
    x, _ = run(key, gaussian, start, tuning(), planted(hmc.step, right, wrong))
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean(np.einsum("csi,csj->cij", x - MEAN, x - MEAN) / STEPS, COVARIANCE)


def test_nan_is_rejected(key):
    """Half of a normal: outside its density is NaN, and no chain goes there."""

    def half(x):
        return jnp.where(x[0] > 0, -0.5 * x[0] ** 2, jnp.nan)

    start = np.abs(stats.norm().rvs((CHAINS, 1), random_state=1))
    x, info = run(key, half, start, tuning(variance=(1.0,)))
    assert (x > 0).all()
    assert_mean(x.mean(axis=(1, 2)), np.sqrt(2 / np.pi))
    assert_mean((x**2).mean(axis=(1, 2)), 1.0)
    assert 0 < info.acceptance.mean() < 0.9


@pytest.mark.parametrize(
    ("jitter", "length", "steps"),
    [(0.5, 2.0, 10), (1.0, 0.01, 1), (0.0, 2.0, 1), (1.0, 1e9, hmc.MOST_STEPS), (0.51, 1.0, 6)],
)
def test_leapfrog_steps_cover_the_length(jitter, length, steps):
    assert hmc.leapfrog_steps(tuning(step_size=0.1, length=length), jnp.array(jitter)) == steps
