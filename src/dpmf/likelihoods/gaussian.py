"""Values scattered around `y` with one standard deviation, cells independent."""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, Key

from dpmf.errors import DataError
from dpmf.likelihoods.base import IndependentNoise, Likelihood
from dpmf.priors import HalfNormal, Prior
from dpmf.types import pytree_dataclass


def normal_log_density(
    residual: Float[Array, "..."], sd: Float[Array, "..."]
) -> Float[Array, "..."]:
    """Log density of N(0, sd^2)."""
    return -0.5 * (residual / sd) ** 2 - jnp.log(sd) - 0.5 * jnp.log(2 * jnp.pi)


def data_scales(values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
    """Root mean square and standard deviation of the values, never zero.

    Raises:
        DataError: There are none, or some are missing.
    """
    if not (values.size and np.isfinite(values).all()):
        raise DataError(
            "values are missing, expected finite numbers to take the scales from; give scale= "
            "and spread= instead."
        )
    rms = float(np.sqrt(np.mean(values**2)))
    spread = float(np.std(values))
    rms = rms if rms > 0 else 1.0
    # Constant values leave only rounding behind: 1 % of their size is then the scale.
    return rms, spread if spread > 1e-9 * rms else 0.01 * rms


@pytree_dataclass
class GaussianNoise(IndependentNoise):
    """Independent normal noise."""

    sigma: Float[Array, ""]

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log density of each value."""
        return normal_log_density(values - y, self.sigma)

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Values around `y`."""
        return y + self.sigma * jr.normal(key, y.shape)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected values: `y` itself."""
        return y

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """sigma^2 on the diagonal."""
        shape = (*y.shape, y.shape[1])
        return jnp.broadcast_to(self.sigma**2 * jnp.eye(y.shape[1]), shape)

    def first_exceeds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Normal probability of a positive margin."""
        return norm.cdf((y[:, 0] - y[:, 1]) / (jnp.sqrt(2.0) * self.sigma))


@dataclasses.dataclass(frozen=True)
class Gaussian(Likelihood):
    """Real values; the noise has standard deviation `sigma`, which is learned."""

    def priors(self, spread: float) -> dict[str, Prior]:
        """sigma ~ half-normal(spread)."""
        return {"sigma": HalfNormal(spread)}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> GaussianNoise:
        """The noise at a known sigma."""
        return GaussianNoise(parameters["sigma"])

    def scales(self, values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
        """Taken from the values."""
        return data_scales(values)

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """The average value."""
        return float(np.mean(values))
