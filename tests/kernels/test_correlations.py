"""Each formula against an independent source."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tinygp
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv
from tinygp.kernels.distance import L2Distance

from dpmf.kernels import combination, discrete, stationary

LENGTH = np.array([0.7, 2.5])


def rows(count, seed, columns=2):
    return jnp.asarray(np.random.default_rng(seed).normal(size=(count, columns)))


def assert_equals_tinygp(correlation, theirs, scale):
    xs, zs = rows(6, 0, len(scale)), rows(5, 1, len(scale))
    ours = correlation.gram(xs, zs)
    np.testing.assert_allclose(ours, theirs(xs / scale, zs / scale), rtol=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (stationary.SquaredExponentialCorrelation, tinygp.kernels.ExpSquared()),
        (stationary.Matern12Correlation, tinygp.kernels.Exp(distance=L2Distance())),
        (stationary.Matern32Correlation, tinygp.kernels.Matern32(distance=L2Distance())),
        (stationary.Matern52Correlation, tinygp.kernels.Matern52(distance=L2Distance())),
    ],
)
def test_scaled_correlations_equal_tinygp(ours, theirs):
    assert_equals_tinygp(ours(jnp.asarray(LENGTH)), theirs, LENGTH)


@pytest.mark.parametrize(
    ("correlation", "nu"),
    [
        (stationary.Matern12Correlation, 0.5),
        (stationary.Matern32Correlation, 1.5),
        (stationary.Matern52Correlation, 2.5),
    ],
)
def test_matern_equals_the_bessel_form(correlation, nu):
    xs, zs = rows(6, 0), rows(5, 1)
    s = np.sqrt(2 * nu) * cdist(xs / LENGTH, zs / LENGTH)
    expected = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    np.testing.assert_allclose(
        correlation(jnp.asarray(LENGTH)).gram(xs, zs), expected, rtol=1e-10
    )


def test_rational_quadratic_equals_tinygp():
    ours = stationary.RationalQuadraticCorrelation(jnp.asarray(LENGTH), jnp.asarray(1.7))
    theirs = tinygp.kernels.RationalQuadratic(alpha=1.7, distance=L2Distance())
    assert_equals_tinygp(ours, theirs, LENGTH)


def test_periodic_equals_tinygp_and_repeats():
    ours = stationary.PeriodicCorrelation(jnp.array([0.8]), 52.0)
    theirs = tinygp.kernels.ExpSineSquared(gamma=2 / 0.8**2)
    assert_equals_tinygp(ours, theirs, np.array([52.0]))
    assert ours.pair(jnp.zeros(1), jnp.full(1, 104.0)) == pytest.approx(1, abs=1e-12)


def test_periodic_with_period_two_pi_is_the_papers():
    xs, zs = rows(6, 0, 1), rows(5, 1, 1)
    ours = stationary.PeriodicCorrelation(jnp.array([0.8]), 2 * np.pi).gram(xs, zs)
    expected = np.exp(-2 * np.sin((np.asarray(xs) - np.asarray(zs).T) / 2) ** 2 / 0.8**2)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_categorical_and_constant_by_hand():
    levels = jnp.array([[0.0], [1.0], [0.0]])
    shared = discrete.CategoricalCorrelation(jnp.asarray(0.3)).gram(levels, levels)
    np.testing.assert_array_equal(shared, [[1, 0.3, 1], [0.3, 1, 0.3], [1, 0.3, 1]])
    np.testing.assert_array_equal(
        discrete.ConstantCorrelation().gram(jnp.zeros((2, 0)), jnp.zeros((3, 0))),
        np.ones((2, 3)),
    )


def test_product_and_mixture_read_their_own_columns():
    first = stationary.Matern12Correlation(jnp.array([0.5]))
    second = stationary.SquaredExponentialCorrelation(jnp.array([1.0, 2.0]))
    xs, zs = rows(6, 0), rows(5, 1)
    one = np.exp(-cdist(xs[:, 1:], zs[:, 1:]) / 0.5)
    two = np.exp(-0.5 * cdist(xs / np.array([2.0, 1.0]), zs / np.array([2.0, 1.0])) ** 2)
    at = ((1,), (1, 0))
    product = combination.ProductCorrelation((first, second), at)
    np.testing.assert_allclose(product.gram(xs, zs), one * two, rtol=1e-12)
    mixture = combination.MixtureCorrelation(jnp.array([0.3, 0.7]), (first, second), at)
    np.testing.assert_allclose(mixture.gram(xs, zs), 0.3 * one + 0.7 * two, rtol=1e-12)
    for combined in (product, mixture):
        np.testing.assert_allclose(
            combined.pair(xs[0], zs[1]), combined.gram(xs, zs)[0, 1], rtol=1e-14
        )


def test_warped_is_the_base_of_warped_rows():
    base = stationary.Matern32Correlation(jnp.array([0.5]))
    warp = jax.tree_util.Partial(lambda row: row[:1] ** 2)
    warped = combination.WarpedCorrelation(warp, base)
    xs, zs = rows(6, 0), rows(5, 1)
    expected = base.gram(xs[:, :1] ** 2, zs[:, :1] ** 2)
    np.testing.assert_allclose(warped.gram(xs, zs), expected, rtol=1e-14)
    np.testing.assert_allclose(warped.pair(xs[0], zs[1]), expected[0, 1], rtol=1e-14)
