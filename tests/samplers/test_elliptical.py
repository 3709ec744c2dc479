"""Elliptical slice sampling, many blocks at once, against posteriors known in closed form."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from chance import assert_mean
from dpmf.samplers import elliptical
from planted import planted

CHAINS, STEPS = 800, 200
NOISE = 0.7
# Data far from the prior, in its midst, and next to none: three blocks with their own data.
DESIGN = np.array(
    [
        [[1.0, 0.5], [0.0, 2.0], [1.5, -1.0]],
        [[0.5, 0.5], [1.0, 0.0], [0.0, -1.0]],
        [[0.1, 0.0], [0.0, 0.1], [0.1, 0.1]],
    ]
)
DATA = np.array([[2.0, -3.0, 1.0], [0.2, 0.1, -0.3], [1.0, 1.0, 1.0]])
COVARIANCE = np.linalg.inv(np.eye(2) + np.einsum("bni,bnj->bij", DESIGN, DESIGN) / NOISE**2)
MEAN = np.einsum("bij,bnj,bn->bi", COVARIANCE, DESIGN, DATA) / NOISE**2


def log_likelihood(white):
    """Of each block: y = A f + noise."""
    residual = DATA - jnp.einsum("bni,bi->bn", DESIGN, white)
    return -0.5 * jnp.sum(residual**2, axis=1) / NOISE**2


def run(key, step, axis):
    """Chains that start at draws from the posterior, and whether any block ever stayed."""
    spread = np.linalg.cholesky(COVARIANCE)

    def chain(key):
        key_start, key_steps = jr.split(key)
        start = MEAN + jnp.einsum("bij,bj->bi", spread, jr.normal(key_start, MEAN.shape))

        def one(white, key):
            def on_ellipse(other):
                def at(angle):
                    point = elliptical.turned(white, other, angle, axis)
                    return log_likelihood(jnp.moveaxis(point, axis, 0))

                return at

            white, info = step(key, white, on_ellipse, axis)
            return white, (jnp.moveaxis(white, axis, 0), info.stayed)

        start = jnp.moveaxis(start, 0, axis)
        return jax.lax.scan(one, start, jr.split(key_steps, STEPS))[1]

    draws, stayed = jax.jit(jax.vmap(chain))(jr.split(key, CHAINS))
    return np.asarray(draws), np.asarray(stayed)


def assert_posterior(key, step, axis=0, stays=False):
    """Means and covariances of all blocks; blocks stay put only where `stays` says so."""
    draws, stayed = run(key, step, axis)
    centred = draws - MEAN
    assert_mean(draws.mean(axis=1), MEAN)
    assert_mean(np.einsum("csbi,csbj->cbij", centred, centred) / STEPS, COVARIANCE)
    assert stays or not stayed.any()
    assert not stays or stayed.mean() > 0.1


@pytest.mark.parametrize("axis", [0, 1])
def test_finds_the_posterior_of_every_block(key, axis):
    assert_posterior(key, elliptical.step, axis)


def test_a_bracket_that_is_cut_off_leaves_the_posterior_alone(key, monkeypatch):
    monkeypatch.setattr(elliptical, "LIMIT", 2)
    assert_posterior(key, elliptical.step, stays=True)


def with_bug(old, new, **names):
    """A planted step, whichever of the two functions holds the text."""
    if old.startswith("other"):
        return planted(elliptical.step, old, new, **names)
    wrong = planted(elliptical.angle_step, old, new, **names)
    return planted(elliptical.step, "angle_step(", "angle_step(", angle_step=wrong)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("other = jr.normal", "other = 1.05 * jr.normal"),
        ("jr.uniform(key_angle,", "jr.uniform(key_level,"),
        (
            "low = jnp.where(open_ & (trial.angle < 0)",
            "low = jnp.where(open_ & (trial.angle > 0)",
        ),
    ],
    ids=[
        "5 % wider",
        "one key for level and angle",
        "sign in shrink",
    ],
)
def test_a_planted_bug_is_found(key, old, new):
    with pytest.raises(AssertionError):
        assert_posterior(key, with_bug(old, new, LIMIT=20))  # rather than wait for 100


def test_taking_the_last_trial_of_a_cut_bracket_is_found(key):
    wrong = with_bug("jnp.where(last.accepted, last.angle, 0.0)", "last.angle", LIMIT=2)
    with pytest.raises(AssertionError, match="standard errors"):
        assert_posterior(key, wrong, stays=True)


def half_plane(step, key):
    """Steps under a likelihood that is NaN where the first coordinate is negative."""

    def one(white, key):
        def on_ellipse(other):
            def at(angle):
                first = elliptical.turned(white, other, angle)[:, 0]
                return jnp.where(first > 0, 0.0, jnp.nan)

            return at

        white, _ = step(key, white, on_ellipse)
        return white, white

    start = jnp.ones((50, 2))
    return jax.jit(lambda k: jax.lax.scan(one, start, jr.split(k, 40))[1])(key)


def test_nan_is_rejected(key):
    assert (half_plane(elliptical.step, key)[:, :, 0] > 0).all()


def test_accepting_nan_is_found(key):
    wrong = with_bug("(loglik >= level)", "~(loglik < level)")
    assert not (half_plane(wrong, key)[:, :, 0] > 0).all()


def test_a_block_stays_where_no_other_point_is_possible(key):
    white = jr.normal(key, (3, 4))

    def on_ellipse(other):
        def at(angle):  # the second block is pinned, the others are free
            pinned = jnp.arange(3) == 1
            return jnp.where(pinned & (angle != 0), jnp.nan, 0.0)

        return at

    moved, info = elliptical.step(key, white, on_ellipse)
    np.testing.assert_array_equal(info.stayed, [False, True, False])
    np.testing.assert_array_equal(info.shrinks, [0, elliptical.LIMIT, 0])
    np.testing.assert_array_equal(moved[1], white[1])
    assert (moved[::2] != white[::2]).all()
