"""Values scattered around `y` with heavy tails: a few of them may lie far out."""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key

from dpmf.likelihoods.base import IndependentNoise, Likelihood
from dpmf.likelihoods.gaussian import data_scales
from dpmf.priors import Gamma, HalfNormal, Prior
from dpmf.types import pytree_dataclass

LEAST = 2.0  # degrees of freedom; with fewer a value has no variance


@pytree_dataclass
class StudentTNoise(IndependentNoise):
    """Independent noise of Student's t; the fewer degrees of freedom, the more outliers."""

    sigma: Float[Array, ""]  # scale; the standard deviation is larger
    nu: Float[Array, ""]  # degrees of freedom, above 2

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log density of each value."""
        residual = (values - y) / self.sigma
        half = (self.nu + 1) / 2
        constant = gammaln(half) - gammaln(self.nu / 2) - 0.5 * jnp.log(jnp.pi * self.nu)
        return constant - jnp.log(self.sigma) - half * jnp.log1p(residual**2 / self.nu)

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Values around `y`."""
        return y + self.sigma * jr.t(key, self.nu, y.shape, y.dtype)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected values: `y` itself."""
        return y

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """sigma^2 nu / (nu - 2) on the diagonal."""
        variance = self.sigma**2 * self.nu / (self.nu - 2)
        return jnp.broadcast_to(variance * jnp.eye(y.shape[1]), (*y.shape, y.shape[1]))


@dataclasses.dataclass(frozen=True)
class StudentT(Likelihood):
    """Real values with outliers; scale `sigma` and degrees of freedom `nu` are learned.

    `nu` is above 2, so that every draw, and their mixture, has a variance. Below about 5
    outliers are common; from about 30 on the noise is all but Gaussian.
    """

    def priors(self, spread: float) -> dict[str, Prior]:
        """sigma ~ half-normal(spread), nu ~ 2 + gamma(2, 0.1), whose mean is 22."""
        return {"sigma": HalfNormal(spread), "nu": Gamma(2.0, 0.1, LEAST)}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> StudentTNoise:
        """The noise at known parameters."""
        return StudentTNoise(parameters["sigma"], parameters["nu"])

    def scales(self, values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
        """Taken from the values."""
        return data_scales(values)

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """The middle value, which outliers do not move."""
        return float(np.median(values))
