"""What noisy copies say of coefficients, where white is only scaled (`copied`)."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference.copied import Given


@dataclasses.dataclass(frozen=True)
class Scaled(Given):
    """Copies of coefficients that are white times a scale."""

    root: Float[Array, " functions"]  # of white's precision
    known: Float[Array, "members functions"]  # its mean, times that

    @staticmethod
    def of(scale: Float[Array, " functions"], copy, spread) -> "Scaled":
        """From the scales, the copies and their variance."""
        root = jnp.sqrt(1 + scale**2 / spread)
        return Scaled(root, scale / root * copy / spread)

    @property
    def log_density(self) -> Float[Array, ""]:
        volume = len(self.known) * jnp.sum(jnp.log(self.root))
        return 0.5 * jnp.sum(self.known**2) - volume

    def held(self, white):
        return self.root * white - self.known

    def white(self, held):
        return (self.known + held) / self.root
