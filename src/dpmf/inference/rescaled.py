"""What noisy copies tell of coefficients, where white is only scaled (`copied`)."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference.copied import Told


@dataclasses.dataclass(frozen=True)
class Rescaled(Told):
    """Of copies of coefficients that are white times a scale."""

    scale: Float[Array, " functions"]
    root: Float[Array, " functions"]  # of white's precision
    known: Float[Array, "members functions"]  # its mean, times that

    @staticmethod
    def by(
        scale: Float[Array, " functions"],
        copy: Float[Array, "members functions"],
        spread: Float[Array, ""],
    ) -> "Rescaled":
        """From the scales, the copies and their variance."""
        root = jnp.sqrt(1 + scale**2 / spread)
        return Rescaled(scale, root, scale / root * copy / spread)

    @property
    def log_density(self) -> Float[Array, ""]:
        volume = len(self.known) * jnp.sum(jnp.log(self.root))
        return 0.5 * jnp.sum(self.known**2) - volume

    def held(
        self,
        white: Float[Array, "members functions"],
        values: Float[Array, "members functions"],
    ) -> Float[Array, "members functions"]:
        return self.root * white - self.known

    def restored(
        self, held: Float[Array, "members functions"]
    ) -> tuple[Float[Array, "members functions"], Float[Array, "members functions"]]:
        white = (self.known + held) / self.root
        return white, self.scale * white
