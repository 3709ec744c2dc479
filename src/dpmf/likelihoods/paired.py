"""Two correlated values per event, such as both scores of a game."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, Key

from dpmf.likelihoods.base import CellLogProb, Likelihood, Noise
from dpmf.likelihoods.gaussian import data_scales, normal_log_density
from dpmf.priors import HalfNormal, Prior, Uniform
from dpmf.types import pytree_dataclass


@pytree_dataclass
class PairedGaussianNoise(Noise):
    """A fast game lifts both scores, so the two residuals share the correlation `rho`."""

    sigma: Float[Array, ""]  # standard deviation of one value, in its own units
    rho: Float[Array, ""]  # within a pair, in (-1, 1)

    def log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, " events"]:
        """Log density of each pair."""
        residual = (values - y) / self.sigma
        a, b = residual[:, 0], residual[:, 1]
        free = 1 - self.rho**2  # variance of b left once a is known
        quadratic = (a**2 - 2 * self.rho * a * b + b**2) / free
        return -0.5 * (quadratic + jnp.log(free)) - jnp.log(2 * jnp.pi * self.sigma**2)

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Pairs around `y`."""
        white = jr.normal(key, y.shape)
        second = self.rho * white[:, 0] + jnp.sqrt(1 - self.rho**2) * white[:, 1]
        return y + self.sigma * jnp.stack([white[:, 0], second], axis=1)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected values: `y` itself."""
        return y

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """sigma^2 [[1, rho], [rho, 1]]."""
        one = jnp.ones(())
        matrix = jnp.stack([jnp.stack([one, self.rho]), jnp.stack([self.rho, one])])
        return jnp.broadcast_to(self.sigma**2 * matrix, (*y.shape, 2))

    def first_exceeds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"]:
        """Normal probability of a positive margin."""
        return norm.cdf((y[:, 0] - y[:, 1]) / (self.sigma * jnp.sqrt(2 * (1 - self.rho))))

    def split(
        self,
        key: Key[Array, ""],
        y: Float[Array, "events pair"],
        values: Float[Array, "events pair"],
    ) -> CellLogProb:
        """Draw the game effect g that both values share; given g they are independent.

        z1 = y1 + g + e1 and z2 = y2 + sign(rho) g + e2 with g ~ N(0, |rho| sigma^2) and
        e ~ N(0, (1 - |rho|) sigma^2) have the covariance of the pair.
        """
        share = jnp.abs(self.rho)
        signs = jnp.stack([jnp.ones(()), jnp.sign(self.rho)])
        own_sd = self.sigma * jnp.sqrt(1 - share)
        # Gaussian conditional of g given both residuals; at rho = 0 it is exactly 0.
        total = (values - y) @ signs
        mean = share / (1 + share) * total
        sd = self.sigma * jnp.sqrt(share * (1 - share) / (1 + share))
        effect = mean + sd * jr.normal(key, mean.shape)
        left = values - effect[:, None] * signs[None]
        return lambda moved: normal_log_density(left - moved, own_sd)


@dataclasses.dataclass(frozen=True)
class PairedGaussian(Likelihood):
    """Both scores of a game; standard deviation `sigma` and correlation `rho` are learned."""

    pair: ClassVar[int | None] = 2

    def priors(self, spread: float) -> dict[str, Prior]:
        """sigma ~ half-normal(spread), rho ~ uniform(-1, 1)."""
        return {"sigma": HalfNormal(spread), "rho": Uniform(-1.0, 1.0)}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> PairedGaussianNoise:
        """The noise at a known sigma and rho."""
        return PairedGaussianNoise(parameters["sigma"], parameters["rho"])

    def scales(self, values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
        """Taken from the values."""
        return data_scales(values)

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """The average value."""
        return float(np.mean(values))
