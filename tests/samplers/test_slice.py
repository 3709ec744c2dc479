"""Slice sampling of one number, on targets whose moments are known."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from chance import assert_mean
from dpmf.samplers import slice
from planted import planted

CHAINS, STEPS = 2000, 100


def exponential(x):
    return jnp.where(x > 0, -x, -jnp.inf)


def half_normal(x):
    return jnp.where(x > 0, -0.5 * x**2, jnp.nan)


def two_humps(x):
    return jnp.logaddexp(jnp.log(0.3) - 0.5 * (x + 3) ** 2, jnp.log(0.7) - 0.5 * (x - 3) ** 2)


def run(key, step, log_density, start, width, **options):
    """Chains from `start`, which is drawn from the target: nothing to burn in."""

    def chain(key, x):
        def one(here, key):
            here, info = step(key, here, at, jnp.asarray(width), **options)
            return here, (here, info)

        unknown = jnp.full_like(x, jnp.nan)  # the first step finds it out
        start = slice.Point(x, unknown, 0.0 * x)
        return jax.lax.scan(one, start, jr.split(key, STEPS))[1]

    def at(x):
        return log_density(x), x**2

    keys = jr.split(key, CHAINS)
    (x, value, kept), info = jax.jit(jax.vmap(chain))(keys, jnp.asarray(start))
    np.testing.assert_allclose(value, jax.vmap(jax.vmap(log_density))(x), rtol=1e-12)
    np.testing.assert_allclose(kept, x**2, rtol=1e-12)
    return np.asarray(x), info


def draws(distribution):
    return distribution.rvs(CHAINS, random_state=1)


def assert_exponential(key, step, stays=False, width=1.0, **options):
    """Exp(1): mean 1, second moment 2, and P(x > 2) = e^-2."""
    x, info = run(key, step, exponential, draws(stats.expon()), width, **options)
    assert_mean(x.mean(axis=1), 1.0)
    assert_mean((x**2).mean(axis=1), 2.0)
    assert_mean((x > 2).mean(axis=1), np.exp(-2))
    assert stays or not info.stayed.any()
    assert not stays or info.stayed.mean() > 0.1
    grown = options.get("budget", slice.BUDGET) > 1
    assert info.evaluations.min() == (3 if grown else 1)  # both ends of it, a point inside


NARROW = {"width": 0.3, "budget": 3}  # the bracket never covers the slice
NOT_GROWN = {"width": 2.0, "budget": 1}
CUT = {"width": 5.0, "budget": 1, "limit": 1, "stays": True}


@pytest.mark.parametrize(
    "options",
    [{}, {"width": 20.0}, NARROW, NOT_GROWN, CUT],
    ids=["", "wide", "narrow", "not grown", "not grown and cut off"],
)
def test_exponential(key, options):
    assert_exponential(key, slice.step, **options)


def test_a_bracket_that_is_cut_off_leaves_the_target_alone(key):
    assert_exponential(key, slice.step, stays=True, width=5.0, limit=0)


@pytest.mark.parametrize(
    ("old", "new", "options"),
    [
        ("left, budget - 1 - left", "jnp.array(budget), jnp.array(budget)", NARROW),
        ("here.x - width * place", "here.x - width * height", NARROW),
        ("bracket.trial < here.x", "bracket.trial > here.x", {}),
        ("log_density + jnp.log(", "log_density + 1.05 * jnp.log(", {}),
        ("here.x - width * place", "here.x - width * 0.5", NOT_GROWN),
    ],
    ids=[
        "a cap on each side",
        "one number for level and place",
        "sign in shrink",
        "5 % lower level",
        "a bracket around the point",
    ],
)
def test_a_planted_bug_is_found(key, old, new, options):
    wrong = planted(slice.step, old, new, LIMIT=20)  # rather than wait for 100
    with pytest.raises(AssertionError):
        assert_exponential(key, wrong, **options)


def test_taking_the_last_trial_of_a_cut_bracket_is_found(key):
    wrong = planted(slice.step, "take = accept |", "take = accept | give_up |", LIMIT=0)
    with pytest.raises(AssertionError, match="standard errors"):
        assert_exponential(key, wrong, stays=True, width=5.0)


def test_two_humps(key):
    """Stepping out by widths of 1 still crosses the valley."""
    side = np.where(np.arange(CHAINS) < 0.3 * CHAINS, -3, 3)
    x, _ = run(key, slice.step, two_humps, side + draws(stats.norm()), 1.0)
    assert (np.diff(x > 0, axis=1) != 0).any(axis=1).mean() > 0.5  # chains that cross
    assert_mean(x.mean(axis=1), 0.4 * 3)
    assert_mean((x**2).mean(axis=1), 10.0)
    assert_mean((x > 0).mean(axis=1), 0.7 * stats.norm.cdf(3) + 0.3 * stats.norm.cdf(-3))


def assert_half_normal(key, step):
    """The density is NaN below 0."""
    x, _ = run(key, step, half_normal, np.abs(draws(stats.norm())), 1.0)
    assert (x > 0).all()
    assert_mean(x.mean(axis=1), np.sqrt(2 / np.pi))
    assert_mean((x**2).mean(axis=1), 1.0)


def test_nan_is_outside_the_slice(key):
    assert_half_normal(key, slice.step)


def test_taking_nan_for_inside_is_found(key):
    with pytest.raises(AssertionError):
        assert_half_normal(key, planted(slice.step, "value > level", "~(value <= level)"))


def test_a_chain_stays_where_no_other_point_is_possible(key):
    start = slice.Point(jnp.array(2.0), jnp.array(0.0), ())
    here, info = slice.step(
        key, start, lambda x: (jnp.full_like(x, jnp.nan), ()), jnp.array(1.0)
    )
    assert here.x == 2.0
    assert here.log_density == 0.0
    assert info.stayed


COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 2.0, -0.5], [0.0, -0.5, 0.5]])


def assert_sweep(key, sweep):
    """A correlated Gaussian with different widths."""
    precision = jnp.asarray(np.linalg.inv(COVARIANCE))
    mean, widths = np.array([1.0, -2.0, 0.0]), jnp.array([0.5, 2.0, 8.0])

    def at(x):
        return -0.5 * (x - mean) @ precision @ (x - mean), 2.0 * x

    def chain(key, position):
        def one(position, key):
            position, kept, info = sweep(key, position, at, widths)
            return position, (position, kept, info)

        return jax.lax.scan(one, position, jr.split(key, STEPS))[1]

    start = stats.multivariate_normal(mean, COVARIANCE).rvs(CHAINS, random_state=1)
    x, kept, info = jax.jit(jax.vmap(chain))(jr.split(key, CHAINS), jnp.asarray(start))
    np.testing.assert_allclose(kept, 2.0 * x, rtol=1e-12)
    centred = np.asarray(x) - mean
    assert_mean(centred.mean(axis=1), 0.0)
    assert_mean(np.einsum("csi,csj->cij", centred, centred) / STEPS, COVARIANCE)
    assert info.evaluations.shape == (CHAINS, STEPS, 3)
    assert not info.stayed.any()


def test_sweep_moves_every_coordinate(key):
    assert_sweep(key, slice.sweep)


def test_one_key_for_all_coordinates_is_found(key):
    with pytest.raises(AssertionError):
        assert_sweep(key, planted(slice.sweep, "jr.fold_in(key, index)", "key"))


def test_a_known_start_is_not_computed_again(key):
    """The same moves with one evaluation less."""

    def at(x):
        return -0.5 * jnp.sum(x**2), jnp.sum(x)

    position, widths = jnp.array([0.3, -1.0]), jnp.ones(2)
    x, kept, info = slice.sweep(key, position, at, widths)
    y, kept_too, fewer = slice.sweep(key, position, at, widths, at(position))
    np.testing.assert_allclose(x, y, rtol=1e-12)
    np.testing.assert_allclose(kept, kept_too, rtol=1e-12)
    np.testing.assert_array_equal(info.evaluations - fewer.evaluations, [1, 0])
