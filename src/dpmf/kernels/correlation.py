"""What every correlation function is: a number for one pair of inputs, mapped over rows."""

import abc

import jax
from jaxtyping import Array, Float


class Correlation(abc.ABC):
    """A correlation function, written for one pair of inputs; 1 where they are equal."""

    @abc.abstractmethod
    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        """Correlation between the function's values at `x` and `z`."""

    def gram(
        self, xs: Float[Array, "levels columns"], zs: Float[Array, "others columns"]
    ) -> Float[Array, "levels others"]:
        """Correlations between all pairs of rows."""
        return jax.vmap(lambda x: jax.vmap(lambda z: self.pair(x, z))(zs))(xs)
