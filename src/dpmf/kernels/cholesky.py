"""Cholesky factors that never deadlock a small machine.

On a CPU, jaxlib hands a *batch* of factorizations to the thread pool and blocks the
calling worker until it is done. Two such calls in one program occupy both workers of a
two-core machine and wait for each other for ever (seen with jaxlib 0.10.2). One matrix at
a time is computed by the caller itself, so on a CPU batches become loops.
"""

import jax
import jax.numpy as jnp
from jax.custom_batching import sequential_vmap
from jaxtyping import Array, Float


@jax.custom_vjp
def cholesky(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Lower Cholesky factor; NaN where the matrix is not positive definite."""
    return jax.lax.platform_dependent(matrix, cpu=sequential_vmap(_factor), default=_factor)


def _factor(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    return jax.lax.linalg.cholesky(matrix, symmetrize_input=False)


def _pullback(
    factor: Float[Array, "n n"], cotangent: Float[Array, "n n"]
) -> Float[Array, "n n"]:
    """Gradient with respect to the matrix (Murray 2016, equation 10)."""
    product = jnp.tril(factor.T @ cotangent)
    half = product - 0.5 * jnp.diag(jnp.diag(product))

    def divided(right: Float[Array, "n n"]) -> Float[Array, "n n"]:  # L^-T right
        return jax.lax.linalg.triangular_solve(
            factor, right, left_side=True, lower=True, transpose_a=True
        )

    gradient = divided(divided(half.T).T)
    return 0.5 * (gradient + gradient.T)


def _forward(
    matrix: Float[Array, "n n"],
) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
    factor = cholesky(matrix)
    return factor, factor


def _backward(
    factor: Float[Array, "n n"], cotangent: Float[Array, "n n"]
) -> tuple[Float[Array, "n n"]]:
    gradient = jax.lax.platform_dependent(
        factor, cotangent, cpu=sequential_vmap(_pullback), default=_pullback
    )
    return (gradient,)


cholesky.defvjp(_forward, _backward)
