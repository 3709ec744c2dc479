"""Cholesky factors that never deadlock a small machine.

On a CPU, jaxlib hands a *batch* of factorizations to the thread pool and blocks the
calling worker until it is done. Two such calls in one program occupy both workers of a
two-core machine and wait for each other for ever (seen with jaxlib 0.10.2). One matrix at
a time is computed by the caller itself, so on a CPU a batch becomes one loop.
"""

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

UNROLLED = 4  # up to this size the factor is written out: no call, no loop
SMALL = 4  # up to this size an inverse is written out

Batch = Float[Array, "*batch n n"]


def cholesky(matrix: Float[Array, "*batch n n"]) -> Float[Array, "*batch n n"]:
    """Lower Cholesky factor; NaN where the matrix is not positive definite."""
    return _written_out(matrix) if matrix.shape[-1] <= UNROLLED else _cholesky(matrix)


@jax.custom_vjp
def _cholesky(matrix: Batch) -> Batch:
    return jax.lax.platform_dependent(matrix, cpu=_looped_factor, default=_factor)


def _forward(matrix: Batch) -> tuple[Batch, Batch]:
    factor = _cholesky(matrix)
    return factor, factor


def _backward(factor: Batch, cotangent: Batch) -> tuple[Batch]:
    """Gradient with respect to the matrix (Murray 2016, equation 10)."""
    inverse = triangular_inverse(factor)
    product = jnp.tril(_transposed(factor) @ cotangent)
    half = product * (1 - 0.5 * jnp.eye(factor.shape[-1]))
    gradient = _transposed(inverse) @ half @ inverse
    return (0.5 * (gradient + _transposed(gradient)),)


_cholesky.defvjp(_forward, _backward)


def _factor(matrix: Batch) -> Batch:
    return jax.lax.linalg.cholesky(matrix, symmetrize_input=False)


def triangular_inverse(lower: Float[Array, "*batch n n"]) -> Float[Array, "*batch n n"]:
    """Inverse of a lower triangular matrix, half by half, from matrix products alone.

    The library's triangular solve splits small matrices among threads that wait
    actively: on a busy machine that is sixty times slower.
    """
    size = lower.shape[-1]
    doublings = max(0, -(-size // SMALL) - 1).bit_length()
    pad = -size % 2**doublings
    spare = jnp.diag(jnp.concatenate([jnp.zeros(size), jnp.ones(pad)]))
    widths = [(0, 0)] * (lower.ndim - 2) + [(0, pad), (0, pad)]
    return _inverse(jnp.pad(lower, widths) + spare)[..., :size, :size]


def _inverse(lower: Batch) -> Batch:
    """Both halves are one batch, so that few programs are compiled."""
    size = lower.shape[-1]
    if size <= SMALL:
        return _small_inverse(lower)
    half = size // 2
    first, second = _inverse(jnp.stack([lower[..., :half, :half], lower[..., half:, half:]]))
    below = -second @ (lower[..., half:, :half] @ first)
    top = jnp.concatenate([first, jnp.zeros_like(first)], axis=-1)
    return jnp.concatenate([top, jnp.concatenate([below, second], axis=-1)], axis=-2)


def _small_inverse(lower: Batch) -> Batch:
    """Row by row, for matrices of a few rows."""
    size = lower.shape[-1]
    unit = jnp.broadcast_to(jnp.eye(size), lower.shape)
    rows: list[Array] = []
    for i in range(size):
        known = sum(lower[..., i, j, None] * rows[j] for j in range(i))
        rows.append((unit[..., i, :] - known) / lower[..., i, i, None])
    return jnp.stack(rows, axis=-2)


def _transposed(matrix: Batch) -> Batch:
    return jnp.swapaxes(matrix, -1, -2)


def _written_out(matrix: Batch) -> Batch:
    """Row by row, for matrices of a few rows."""
    size = matrix.shape[-1]
    entry: dict[tuple[int, int], Array] = {}
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[..., i, j] - sum(entry[i, k] * entry[j, k] for k in range(j))
            entry[i, j] = jnp.sqrt(rest) if i == j else rest / entry[j, j]
    zero = jnp.zeros_like(matrix[..., 0, 0])
    rows = [jnp.stack([entry.get((i, j), zero) for j in range(size)], -1) for i in range(size)]
    return jnp.stack(rows, -2)


@custom_vmap
def _looped_factor(matrix: Batch) -> Batch:
    """One matrix after another, however many batch axes `vmap` adds."""
    flat = matrix.reshape(-1, *matrix.shape[-2:])
    return jax.lax.map(_factor, flat).reshape(matrix.shape)


@_looped_factor.def_vmap
def _looped_rule(size: int, batched: list[bool], matrix: Batch) -> tuple[Batch, bool]:
    return _looped_factor(matrix), True
