"""Two counts per event that share some of their events, such as the goals of both teams."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Key

from dpmf.checks import positive_number
from dpmf.likelihoods import shared_count, skellam
from dpmf.likelihoods.base import CellLogProb, Noise
from dpmf.likelihoods.counts import CountLikelihood, log_rate, rate
from dpmf.likelihoods.poisson import poisson_log_prob
from dpmf.priors import HalfNormal, Prior
from dpmf.types import pytree_dataclass

LEAST = 1e-300  # shared rate whose logarithm is taken


@pytree_dataclass
class PairedPoissonNoise(Noise):
    """Counts A + C and B + C: rates of A and B come from `y`, that of C is `shared`."""

    shared: Float[Array, ""]  # expected count that both have in common

    def log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, " events"]:
        """Log probability of each pair: the sum over all shared counts."""
        logs = log_rate(y)
        summed, _ = shared_count.log_sum(self._odds(y), values[:, 0], values[:, 1])
        return summed + jnp.sum(values * logs - rate(y), axis=1) - self.shared

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Pairs of counts."""
        key_own, key_shared = jr.split(key)
        own = jr.poisson(key_own, rate(y))
        shared = jr.poisson(key_shared, self.shared, y.shape[:1])
        return (own + shared[:, None]).astype(y.dtype)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected counts: both rates of each, its own and the shared one."""
        return rate(y) + self.shared

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """The shared rate everywhere, the own rates besides on the diagonal."""
        return rate(y)[:, :, None] * jnp.eye(2)[None] + self.shared

    def first_exceeds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Probability of a positive difference, in which the shared count cancels."""
        return skellam.positive(rate(y[:, 0]), rate(y[:, 1]))

    def equal(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Probability of a difference of 0."""
        return skellam.zero(rate(y[:, 0]), rate(y[:, 1]))

    def split(
        self,
        key: Key[Array, ""],
        y: Float[Array, "events pair"],
        values: Float[Array, "events pair"],
    ) -> CellLogProb:
        """Draw the shared count; what is left of both values is independent given it."""
        share = jr.uniform(key, y.shape[:1], y.dtype)
        shared = shared_count.inverse(share, self._odds(y), values[:, 0], values[:, 1])
        left = values - shared[:, None]
        return lambda moved: poisson_log_prob(moved, left)

    def _odds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Log of the shared rate less the logs of both own rates."""
        return jnp.log(jnp.maximum(self.shared, LEAST)) - jnp.sum(log_rate(y), axis=1)


@dataclasses.dataclass(frozen=True)
class PairedPoisson(CountLikelihood):
    """Goals of both teams: Poisson counts with a part that both share, which is learned.

    The covariance of the counts is the rate `shared`, which is never negative; its prior is
    half-normal(`shared_scale`), in counts.
    """

    pair: ClassVar[int | None] = 2

    shared_scale: float = 0.5

    def __post_init__(self) -> None:
        """Refuse a prior without a width."""
        given = positive_number("PairedPoisson: shared_scale", self.shared_scale)
        object.__setattr__(self, "shared_scale", given)

    def priors(self, spread: float) -> dict[str, Prior]:
        """shared ~ half-normal(shared_scale)."""
        return {"shared": HalfNormal(self.shared_scale)}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> PairedPoissonNoise:
        """The counts at a known shared rate."""
        return PairedPoissonNoise(parameters["shared"])
