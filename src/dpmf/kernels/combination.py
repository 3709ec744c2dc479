"""Correlations made of other correlations: products, convex sums, warped inputs."""

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float

from dpmf.kernels.correlation import Correlation
from dpmf.types import pytree_dataclass

Positions = tuple[int, ...]


def selected(rows: Float[Array, "... columns"], positions: Positions) -> Float[Array, "..."]:
    """The columns at `positions`, in that order."""
    return rows[..., np.array(positions, dtype=int)]


@pytree_dataclass
class ProductCorrelation(Correlation):
    """Inputs are alike only if every part finds them alike."""

    terms: tuple[Correlation, ...]
    positions: tuple[Positions, ...] = dataclasses.field(metadata={"static": True})

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return self._product(lambda term, at: term.pair(selected(x, at), selected(z, at)))

    def gram(
        self, xs: Float[Array, "levels columns"], zs: Float[Array, "others columns"]
    ) -> Float[Array, "levels others"]:
        return self._product(lambda term, at: term.gram(selected(xs, at), selected(zs, at)))

    def _product(self, value: Callable[[Correlation, Positions], Array]) -> Array:
        return functools.reduce(operator.mul, map(value, self.terms, self.positions))


@pytree_dataclass
class MixtureCorrelation(Correlation):
    """A sum of independent functions, each with its share of the variance."""

    weights: Float[Array, " terms"]  # on the simplex
    terms: tuple[Correlation, ...]
    positions: tuple[Positions, ...] = dataclasses.field(metadata={"static": True})

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return self._mixture(lambda term, at: term.pair(selected(x, at), selected(z, at)))

    def gram(
        self, xs: Float[Array, "levels columns"], zs: Float[Array, "others columns"]
    ) -> Float[Array, "levels others"]:
        return self._mixture(lambda term, at: term.gram(selected(xs, at), selected(zs, at)))

    def _mixture(self, value: Callable[[Correlation, Positions], Array]) -> Array:
        values = map(value, self.terms, self.positions)
        # Exactly 1 at equal inputs, even where the weights add up to 1 only nearly.
        return 1 - sum(w * (1 - v) for w, v in zip(self.weights, values, strict=True))


@pytree_dataclass
class WarpedCorrelation(Correlation):
    """The base correlation between inputs that have been moved first."""

    warp: Any  # a pytree: one row of input columns -> one row of warped columns
    base: Correlation

    def pair(
        self, x: Float[Array, " columns"], z: Float[Array, " columns"]
    ) -> Float[Array, ""]:
        return self.base.pair(self.warp(x), self.warp(z))

    def gram(
        self, xs: Float[Array, "levels columns"], zs: Float[Array, "others columns"]
    ) -> Float[Array, "levels others"]:
        return self.base.gram(jax.vmap(self.warp)(xs), jax.vmap(self.warp)(zs))
