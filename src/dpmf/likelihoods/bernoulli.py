"""Yes or no, with the log odds `y`."""

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.errors import DataError
from dpmf.likelihoods.base import IndependentNoise, Likelihood, first_row
from dpmf.priors import Prior
from dpmf.types import pytree_dataclass


@pytree_dataclass
class BernoulliNoise(IndependentNoise):
    """A coin for each cell, with the log odds `y`; nothing to learn."""

    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log probability of each cell."""
        return jax.nn.log_sigmoid(jnp.where(values > 0.5, y, -y))

    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Zeros and ones."""
        return jr.bernoulli(key, jax.nn.sigmoid(y)).astype(y.dtype)

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Probability of a yes."""
        return jax.nn.sigmoid(y)

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """p (1 - p) on the diagonal."""
        variance = jax.nn.sigmoid(y) * jax.nn.sigmoid(-y)
        return variance[:, :, None] * jnp.eye(y.shape[1])[None]


@dataclasses.dataclass(frozen=True)
class Bernoulli(Likelihood):
    """Values 0 or 1: a link that exists, a game that was won."""

    def priors(self, spread: float) -> dict[str, Prior]:
        """It has no parameters."""
        return {}

    def at(self, parameters: Mapping[str, Float[Array, "..."]]) -> BernoulliNoise:
        """The coin."""
        return BernoulliNoise()

    def check(self, values: Float[np.ndarray, "events pair"]) -> None:
        """Refuse anything but 0 and 1."""
        super().check(values)
        wrong = (values != 0) & (values != 1)
        if wrong.any():
            raise DataError(
                f"Bernoulli: row {first_row(wrong)} holds {values[wrong][0]:g}, "
                "expected 0 or 1. Recode the values."
            )
