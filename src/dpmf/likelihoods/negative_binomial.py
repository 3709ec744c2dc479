"""Counts that vary more than Poisson's, with the same expectation, cells independent."""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import jax.random as jr
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key

from dpmf.likelihoods.base import IndependentNoise
from dpmf.likelihoods.counts import CountLikelihood, log_rate, rate
from dpmf.priors import HalfNormal, Prior
from dpmf.types import pytree_dataclass

LEAST = 1e-30  # overdispersion, below which counts are Poisson's to the last digit
LARGE = 1e4  # size from which on Stirling's series is exact to rounding


@pytree_dataclass
class NegativeBinomialNoise(IndependentNoise):
    r"""Independent counts with variance $m + \alpha m^2$ around the mean $m$."""

    overdispersion: Float[Array, ""]  # alpha; at 0 the counts are Poisson's

    @property
    def _alpha(self) -> Float[Array, ""]:
        return jnp.maximum(self.overdispersion, LEAST)

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log probability of each count."""
        alpha = self._alpha
        excess = (values + 1 / alpha) * jnp.log1p(alpha * rate(y))
        rising = log_rising(values, 1 / alpha)
        return rising + values * log_rate(y) - excess - gammaln(values + 1)

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Counts, each Poisson's at a rate of its own."""
        key_rate, key_count = jr.split(key)
        size = 1 / self._alpha
        factor = jnp.exp(jr.loggamma(key_rate, size, y.shape, y.dtype) - jnp.log(size))
        return jr.poisson(key_count, factor * rate(y)).astype(y.dtype)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected counts."""
        return rate(y)

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """m + overdispersion m^2 on the diagonal, for the mean m."""
        mean = rate(y)
        variance = mean + self.overdispersion * mean**2
        return variance[:, :, None] * jnp.eye(y.shape[1])[None]


@dataclasses.dataclass(frozen=True)
class NegativeBinomial(CountLikelihood):
    """Counts with a variance of m + `overdispersion` m^2, which is learned; m is the mean."""

    def priors(self, spread: float) -> dict[str, Prior]:
        """overdispersion ~ half-normal(1)."""
        return {"overdispersion": HalfNormal(1.0)}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> NegativeBinomialNoise:
        """The counts at a known overdispersion."""
        return NegativeBinomialNoise(parameters["overdispersion"])


def log_rising(
    count: Float[Array, "events pair"], size: Float[Array, ""]
) -> Float[Array, "events pair"]:
    r"""$\log\Gamma(\mathrm{size} + \mathrm{count}) - \log\Gamma(\mathrm{size})$ less
    $\mathrm{count} \log \mathrm{size}$, which is small where the size is large.

    There the two log gammas agree in nearly all digits; the difference of their Stirling
    series does not lose any.
    """
    small = jnp.minimum(size, LARGE)
    exact = gammaln(small + count) - gammaln(small) - count * jnp.log(small)
    large = jnp.maximum(size, LARGE)
    series = (large + count - 0.5) * jnp.log1p(count / large) - count
    series += (1 / (large + count) - 1 / large) / 12
    return jnp.where(size < LARGE, exact, series)
