"""Correlations that depend on the inputs only through their difference."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.kernels.correlation import Correlation
from dpmf.types import pytree_dataclass


def norm(difference: Float[Array, " columns"]) -> Float[Array, ""]:
    """Euclidean length, with gradient 0 at the origin where the true one does not exist."""
    squared = jnp.sum(difference**2)
    apart = squared > 0
    return jnp.where(apart, jnp.sqrt(jnp.where(apart, squared, 1.0)), 0.0)


@pytree_dataclass
class SquaredExponentialCorrelation(Correlation):
    r"""Infinitely smooth paths, the paper's choice.

    $k(x, z) = e^{-s^2/2}$, where $s = \|(x - z)/\ell\|$.
    """

    length: Float[Array, "#columns"]  # ell: one per input column, or one shared

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return jnp.exp(-0.5 * jnp.sum(((x - z) / self.length) ** 2))


@pytree_dataclass
class Matern12Correlation(Correlation):
    r"""Continuous but rough paths: form that moves by small independent shocks.

    $k(x, z) = e^{-s}$, where $s = \|(x - z)/\ell\|$.
    """

    length: Float[Array, "#columns"]

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return jnp.exp(-norm((x - z) / self.length))


@pytree_dataclass
class Matern32Correlation(Correlation):
    r"""Once-differentiable paths.

    $k(x, z) = (1 + s)\, e^{-s}$, where $s = \sqrt3\,\|(x - z)/\ell\|$.
    """

    length: Float[Array, "#columns"]

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        s = jnp.sqrt(3.0) * norm((x - z) / self.length)
        return (1 + s) * jnp.exp(-s)


@pytree_dataclass
class Matern52Correlation(Correlation):
    r"""Twice-differentiable paths: form that drifts smoothly over a season.

    $k(x, z) = (1 + s + s^2/3)\, e^{-s}$, where $s = \sqrt5\,\|(x - z)/\ell\|$.
    """

    length: Float[Array, "#columns"]

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        s = jnp.sqrt(5.0) * norm((x - z) / self.length)
        return (1 + s + s**2 / 3) * jnp.exp(-s)


@pytree_dataclass
class RationalQuadraticCorrelation(Correlation):
    r"""A blend of squared exponentials of many lengths; few long ones when alpha is large.

    $k(x, z) = (1 + s^2/(2\alpha))^{-\alpha}$, where $s = \|(x - z)/\ell\|$.
    """

    length: Float[Array, "#columns"]
    alpha: Float[Array, ""]

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        squared = jnp.sum(((x - z) / self.length) ** 2)
        return jnp.exp(-self.alpha * jnp.log1p(squared / (2 * self.alpha)))


@pytree_dataclass
class PeriodicCorrelation(Correlation):
    r"""Paths that repeat exactly after each period.

    $k(x, z) = e^{-2 \sin^2(\pi (x - z)/p)/\ell^2}$; the paper has $p = 2\pi$.
    """

    length: Float[Array, " 1"]  # ell, in units of the chord of a circle of radius 1/2
    period: float = dataclasses.field(metadata={"static": True})  # p, in the column's unit

    def pair(self, x: Float[Array, " 1"], z: Float[Array, " 1"]) -> Float[Array, ""]:
        chord = jnp.sin(jnp.pi * (x - z) / self.period) / self.length
        return jnp.exp(-2 * jnp.sum(chord**2))
