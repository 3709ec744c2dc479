"""Counts whose expectation is the exponential of `y`, cells independent."""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import jax.random as jr
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key

from dpmf.likelihoods import skellam
from dpmf.likelihoods.base import IndependentNoise
from dpmf.likelihoods.counts import CountLikelihood, log_rate, rate
from dpmf.priors import Prior
from dpmf.types import pytree_dataclass


def poisson_log_prob(
    y: Float[Array, "*shape"], values: Float[Array, "*shape"]
) -> Float[Array, "*shape"]:
    """Log probability of counts at the rates of `y`."""
    return values * log_rate(y) - rate(y) - gammaln(values + 1)


@pytree_dataclass
class PoissonNoise(IndependentNoise):
    """Independent counts; nothing to learn."""

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log probability of each count."""
        return poisson_log_prob(y, values)

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Counts."""
        return jr.poisson(key, rate(y)).astype(y.dtype)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected counts: the rates."""
        return rate(y)

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """The rates on the diagonal."""
        return rate(y)[:, :, None] * jnp.eye(y.shape[1])[None]

    def first_exceeds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Probability that the difference of two Poisson counts is positive."""
        return skellam.positive(rate(y[:, 0]), rate(y[:, 1]))

    def equal(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Probability that the difference of two Poisson counts is 0."""
        return skellam.zero(rate(y[:, 0]), rate(y[:, 1]))


@dataclasses.dataclass(frozen=True)
class Poisson(CountLikelihood):
    """Counts 0, 1, 2, ...: goals, visits, messages; their variance is their mean."""

    def priors(self, spread: float) -> dict[str, Prior]:
        """It has no parameters."""
        return {}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> PoissonNoise:
        """The counts."""
        return PoissonNoise()
