"""Correlations that ask only whether two inputs are equal, or nothing at all."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.kernels.correlation import Correlation
from dpmf.types import pytree_dataclass


@pytree_dataclass
class CategoricalCorrelation(Correlation):
    """1 within a level, `between` from one level to any other: a shared part and an own one."""

    between: Float[Array, ""]  # in [0, 1]

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return jnp.where(jnp.all(x == z), 1.0, self.between)


@pytree_dataclass
class ConstantCorrelation(Correlation):
    """1 everywhere: the function has a single value."""

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return jnp.ones((), x.dtype)
