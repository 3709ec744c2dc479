"""The factor that is a loop over batches on a CPU, against numpy and jax's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.kernels.cholesky import SMALL, UNROLLED, cholesky, triangular_inverse

SIZES = [UNROLLED, 2 * SMALL + 3]  # written out, and by the library
every_size = pytest.mark.parametrize("size", SIZES)


def matrices(size, count=3):
    random = np.random.default_rng(0)
    roots = random.normal(size=(count, size, size))
    return jnp.asarray(roots @ roots.transpose(0, 2, 1) + np.eye(size))


def weighted(function, size):
    weight = np.random.default_rng(1).normal(size=(size, size))
    return lambda matrix: (weight * function(matrix) ** 2).sum()


def gradient(function, size):
    """With respect to a symmetric matrix, whichever triangle the function reads."""

    def symmetric(matrix):
        slope = jax.grad(weighted(function, size))(matrix)
        return 0.5 * (slope + slope.T)

    return symmetric


@every_size
def test_equals_numpy_alone_or_in_a_batch(size):
    batch = matrices(size)
    expected = np.linalg.cholesky(batch)
    np.testing.assert_allclose(jax.jit(cholesky)(batch[0]), expected[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(jax.jit(cholesky)(batch), expected, rtol=1e-12, atol=1e-13)


@every_size
def test_gradient_equals_that_of_jax(size):
    own = jax.jit(jax.vmap(gradient(cholesky, size)))
    theirs = jax.jit(jax.vmap(gradient(jnp.linalg.cholesky, size)))
    np.testing.assert_allclose(
        own(matrices(size)), theirs(matrices(size)), rtol=1e-8, atol=1e-12
    )


@every_size
def test_gradient_equals_finite_differences(size):
    (matrix,), step = np.asarray(matrices(size, 1)), 1e-5
    direction = np.random.default_rng(2).normal(size=(size, size))
    direction = direction + direction.T
    total = weighted(np.linalg.cholesky, size)
    difference = (total(matrix + step * direction) - total(matrix - step * direction)) / (
        2 * step
    )
    slope = jnp.sum(jax.jit(gradient(cholesky, size))(jnp.asarray(matrix)) * direction)
    assert slope == pytest.approx(difference, rel=1e-6)


@every_size
def test_vmap_equals_a_loop(size):
    batch = matrices(size, 4)
    for function in (cholesky, gradient(cholesky, size)):
        each = np.stack([jax.jit(function)(matrix) for matrix in batch])
        once = jax.jit(jax.vmap(function))(batch)
        twice = jax.jit(jax.vmap(jax.vmap(function)))(batch.reshape(2, 2, size, size))
        np.testing.assert_allclose(once, each, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(twice.reshape(each.shape), each, rtol=1e-9, atol=1e-12)


@every_size
def test_inverse_of_a_triangle(size):
    lower = jnp.linalg.cholesky(matrices(size))
    found = jax.jit(triangular_inverse)(lower)
    np.testing.assert_allclose(found, np.linalg.inv(lower), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found, np.tril(found))


@pytest.mark.parametrize("size", [2, UNROLLED + 1])
def test_a_matrix_that_is_not_positive_definite_gives_nan_and_spares_its_neighbours(size):
    bad = jnp.eye(size).at[0, 1].set(2.0).at[1, 0].set(2.0)
    both = jax.jit(jax.vmap(cholesky))(jnp.stack([bad, jnp.eye(size)]))
    assert jnp.isnan(both[0]).any()
    np.testing.assert_array_equal(both[1], np.eye(size))
