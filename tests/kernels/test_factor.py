"""Jitter in one place: the dense form and the Kronecker form are the same prior."""

import itertools

import jax.numpy as jnp
import numpy as np

from dpmf.kernels import Constant, Matern12, Matern52, SquaredExponential
from dpmf.kernels.factor import JITTER, cholesky_factor, dense_gram, factored, jittered_gram

TIME, HOME = [0.0, 1.0, 2.0, 5.0, 5.001], [-0.5, 0.5, 0.0]
THETA = {
    "time.length": jnp.array([40.0]),
    "home.length": jnp.array([2.0]),
    "time.length.2": jnp.array([9.0]),
}


def assert_dense_is_kronecker(kernel, levels, rows):
    factors = factored(kernel, THETA)
    parts = [
        cholesky_factor(jittered_gram(correlation, jnp.array(levels[positions])[:, None]))
        for correlation, positions in factors
    ]
    expected = parts[0]
    for part in parts[1:]:
        expected = jnp.kron(expected, part)
    dense = cholesky_factor(dense_gram(factors, jnp.array(rows)))
    assert jnp.isfinite(dense).all()
    assert jnp.linalg.norm(dense - expected) < 1e-8 * jnp.linalg.norm(expected)


def test_dense_equals_kronecker_on_a_grid():
    kernel = Matern12("time", length=(1, 99)) * SquaredExponential("home", length=(1, 99))
    assert_dense_is_kronecker(
        kernel, {(0,): TIME, (1,): HOME}, list(itertools.product(TIME, HOME))
    )


def test_dense_equals_kronecker_where_terms_share_a_column():
    kernel = (
        Matern12("time", length=(1, 99))
        * SquaredExponential("home", length=(1, 99))
        * Matern52("time", length=(1, 99))
        * Constant()
    )
    assert_dense_is_kronecker(
        kernel, {(0,): TIME, (1,): HOME}, list(itertools.product(TIME, HOME))
    )


def test_jitter_by_hand():
    correlation = Matern12("time").at({"time.length": jnp.array([2.0])})
    gram = jittered_gram(correlation, jnp.array([[0.0], [1.0]]))
    off = np.exp(-0.5) / (1 + JITTER)
    np.testing.assert_allclose(gram, [[1, off], [off, 1]], rtol=1e-14)


def test_constant_has_one_level():
    ((correlation, positions),) = factored(Constant(), {})
    assert positions == ()
    np.testing.assert_array_equal(jittered_gram(correlation, jnp.zeros((1, 0))), [[1.0]])
    np.testing.assert_array_equal(
        dense_gram([(correlation, positions)], jnp.zeros((2, 1))), np.ones((2, 2))
    )


def test_a_matrix_that_is_not_positive_definite_gives_nan():
    assert jnp.isnan(cholesky_factor(jnp.array([[1.0, 2.0], [2.0, 1.0]]))).any()
