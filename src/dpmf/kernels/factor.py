"""Gram matrices and their Cholesky factors: the one place that knows the jitter.

Every factor of a product grid is (C + eps I) / (1 + eps). The dense form of a product
multiplies these, entry by entry, so it is the same prior as the Kronecker product.
"""

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.kernels.cholesky import cholesky
from dpmf.kernels.combination import Positions, selected
from dpmf.kernels.composite import merged
from dpmf.kernels.correlation import Correlation
from dpmf.kernels.kernel import Kernel

__all__ = [
    "JITTER",
    "cholesky_factor",
    "dense_gram",
    "factored",
    "jittered_gram",
    "merged",
]

JITTER = 1e-6  # eps: the share of variance that is independent at each input


def jittered_gram(
    correlation: Correlation, levels: Float[Array, "levels columns"]
) -> Float[Array, "levels levels"]:
    """Correlations between levels, which must be distinct."""
    gram = correlation.gram(levels, levels)
    return (gram + JITTER * jnp.eye(len(levels))) / (1 + JITTER)


def cholesky_factor(gram: Float[Array, "levels levels"]) -> Float[Array, "levels levels"]:
    """Lower factor; NaN where the matrix is not positive definite, which callers reject."""
    return cholesky(gram)


def dense_gram(
    factors: Sequence[tuple[Correlation, Positions]], inputs: Float[Array, "inputs columns"]
) -> Float[Array, "inputs inputs"]:
    """Correlations between inputs under a product of factors that read disjoint columns.

    Args:
        factors: Each factor's correlation and the positions of the columns it reads, such
            as `factored` gives.
        inputs: Rows, distinct in the columns that the factors read together.
    """
    gram = jnp.ones((len(inputs), len(inputs)))
    for correlation, positions in factors:
        rows = selected(inputs, positions)
        same = jnp.all(rows[:, None] == rows[None], axis=-1)
        gram = gram * (correlation.gram(rows, rows) + JITTER * same) / (1 + JITTER)
    return gram


def factored(
    kernel: Kernel, theta: Mapping[str, Array]
) -> tuple[tuple[Correlation, Positions], ...]:
    """Correlation of each of the kernel's factors, and where its columns stand in the kernel's.

    Args:
        kernel: Any kernel; one that is no product is its own factor.
        theta: A value for each label of `kernel.priors()`.
    """
    positions = [tuple(map(kernel.columns.index, f.columns)) for f in kernel.factors()]
    return tuple(zip(kernel.factors_at(theta), positions, strict=True))
