"""The game effect that makes the two values of a pair independent."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from chance import assert_mean
from dpmf.likelihoods.paired import PairedGaussianNoise
from planted import planted

SIGMA = 1.3
RHOS = [-0.7, 0.0, 0.5]
EVENTS = 40_000
anywhere = pytest.mark.parametrize("rho", RHOS)


def noise(rho, kind=PairedGaussianNoise):
    return kind(jnp.array(SIGMA), jnp.array(rho))


def pieces(noise, key, events=EVENTS):
    """Residuals of a pair, and what `split` says of them: own residuals, own variance."""
    key_y, key_values, key_split = jr.split(key, 3)
    y = 5 * jr.normal(key_y, (events, 2))
    values = noise.sample(key_values, y)
    per_cell = noise.split(key_split, y, values)
    # Per cell log N(own; 0, variance), which its first two derivatives give away.
    slope = jax.grad(lambda moved: per_cell(moved).sum())
    first, second = jax.jit(lambda y: jax.jvp(slope, (y,), (jnp.ones_like(y),)))(y)
    np.testing.assert_allclose(second, second[0, 0], rtol=1e-12)
    variance = -1 / second[0, 0]
    own = first * variance
    expected = stats.norm.logpdf(own, scale=np.sqrt(variance))
    np.testing.assert_allclose(per_cell(y), expected, rtol=1e-9)
    return np.asarray(values - y), np.asarray(own), float(variance)


@anywhere
def test_parts_add_up_to_the_covariance_of_the_pair(rho, key):
    _, _, own = pieces(noise(rho), key, events=3)
    signs = np.array([1, np.sign(rho)])
    total = abs(rho) * SIGMA**2 * np.outer(signs, signs) + own * np.eye(2)
    if rho == 0:
        total = own * np.eye(2)
    np.testing.assert_allclose(total, noise(rho).covariance(jnp.zeros((1, 2)))[0], rtol=1e-12)


@anywhere
def test_both_values_contain_the_same_effect(rho, key):
    residual, own, _ = pieces(noise(rho), key, events=100)
    effect = residual - own
    np.testing.assert_allclose(effect[:, 1], np.sign(rho) * effect[:, 0], atol=1e-12)


def test_without_correlation_the_effect_is_exactly_zero(key):
    y, values = jnp.ones((100, 2)), jr.normal(key, (100, 2))
    per_cell = noise(0.0).split(key, y, values)
    np.testing.assert_array_equal(per_cell(values), per_cell(values)[0, 0])  # residual 0
    np.testing.assert_allclose(
        per_cell(y).sum(axis=1), noise(0.0).log_prob(y, values), rtol=1e-12
    )


def assert_a_gibbs_step(noise, rho, key):
    """Values from the pair, then g from its conditional: g, e1 and e2 are independent."""
    residual, own, _ = pieces(noise, key)
    parts = np.column_stack([residual[:, 0] - own[:, 0], own])
    share = abs(rho)
    expected = SIGMA**2 * np.diag([share, 1 - share, 1 - share])
    assert_mean(parts, 0.0)
    products = parts[:, :, None] * parts[:, None, :]
    lower = np.tril_indices(3) if rho else (np.array([1, 2, 2]), np.array([1, 1, 2]))
    assert_mean(products[:, *lower], expected[lower])  # at rho = 0 the effect does not vary


@anywhere
def test_drawing_values_then_the_effect_gives_their_joint_distribution(rho, key):
    assert_a_gibbs_step(noise(rho), rho, key)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mean = share / (1 + share)", "mean = share"),
        ("effect = mean + sd", "effect = mean + 1.2 * sd"),
        ("(1 - share) / (1 + share))", "(1 - share))"),
        ("jnp.sign(self.rho)", "jnp.ones(())"),
        ("effect = mean + sd *", "effect = -mean + sd *"),
    ],
    ids=["mean", "20 % wider", "variance", "sign of rho", "sign of the mean"],
)
def test_a_wrong_conditional_is_found(old, new, key):
    wrong = planted(PairedGaussianNoise, old, new)
    with pytest.raises(AssertionError):
        assert_a_gibbs_step(noise(-0.7, wrong), -0.7, key)
