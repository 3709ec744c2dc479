"""Kernels with length scales, as users write them."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
from jaxtyping import Array

from dpmf.errors import ConfigError
from dpmf.kernels import stationary
from dpmf.kernels.bounds import Bounds, BoundsArgument, checked, log_uniform
from dpmf.kernels.correlation import Correlation
from dpmf.kernels.kernel import Kernel
from dpmf.kernels.labels import label
from dpmf.kernels.registry import replaced
from dpmf.kernels.warp import Warp, source
from dpmf.priors import Prior


@dataclasses.dataclass(frozen=True, init=False)
class Scaled(Kernel):
    """A kernel with one length scale per column, or per column that its warp gives.

    A subclass names its correlation, a function of the lengths.
    """

    correlation: ClassVar[Callable[..., Correlation]]

    warp: Warp
    length: tuple[Bounds, ...] | None  # one pair per warped column; None: not known yet

    def __init__(self, *columns: str | Warp, length: BoundsArgument = None) -> None:
        """Name what it reads.

        Args:
            columns: Names of input columns, or one warp.
            length: Bounds (low, high) of the length scale in the column's unit, one pair for
                all columns or one for each; found from the training inputs if left out.
        """
        owner = type(self).__name__
        warp = source(owner, columns)
        object.__setattr__(self, "warp", warp)
        object.__setattr__(self, "length", checked(owner, "length", length, warp.width))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.warp.columns

    @property
    def measured(self) -> tuple[str, ...]:
        return self.columns

    def label(self, name: str) -> str:
        """Label of one of its hyperparameters."""
        return label(self.columns, name)

    def priors(self) -> dict[str, Prior]:
        length = log_uniform(str(self), "length", self.length)
        return {**self.warp.priors(), self.label("length"): length}

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        base = type(self).correlation(theta[self.label("length")])
        return self.warp.applied(base, theta)

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> Kernel:
        warp = self.warp.bounded(inputs)
        length = self.length if self.length is not None else warp.length_bounds(inputs)
        return replaced(self, warp=warp, length=length)


class SquaredExponential(Scaled):
    """Infinitely smooth paths, with one length scale per column."""

    correlation = stationary.SquaredExponentialCorrelation


class Matern12(Scaled):
    """Continuous, rough paths: form that moves by small independent shocks."""

    correlation = stationary.Matern12Correlation


class Matern32(Scaled):
    """Once-differentiable paths."""

    correlation = stationary.Matern32Correlation


class Matern52(Scaled):
    """Twice-differentiable paths: form that drifts smoothly."""

    correlation = stationary.Matern52Correlation


@dataclasses.dataclass(frozen=True, init=False)
class RationalQuadratic(Scaled):
    """A blend of squared exponentials of many lengths."""

    alpha: tuple[Bounds, ...]

    def __init__(
        self,
        *columns: str | Warp,
        length: BoundsArgument = None,
        alpha: BoundsArgument = (0.1, 100.0),
    ) -> None:
        """Name what it reads.

        Args:
            columns: Names of input columns, or one warp.
            length: Bounds of the length scale, as for the other kernels.
            alpha: Bounds of the shape; the larger it is, the fewer long lengths are blended.
        """
        super().__init__(*columns, length=length)
        pair = checked(
            type(self).__name__, "alpha", (0.1, 100.0) if alpha is None else alpha, 1
        )
        object.__setattr__(self, "alpha", pair)

    def priors(self) -> dict[str, Prior]:
        alpha = log_uniform(str(self), "alpha", self.alpha)
        return {**super().priors(), self.label("alpha"): alpha}

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        length, alpha = theta[self.label("length")], theta[self.label("alpha")]
        base = stationary.RationalQuadraticCorrelation(length, alpha[0])
        return self.warp.applied(base, theta)


@dataclasses.dataclass(frozen=True, init=False)
class Periodic(Scaled):
    """Paths that repeat after a known period, in one column."""

    period: float

    def __init__(
        self, *columns: str | Warp, period: float | int, length: BoundsArgument = (0.1, 10.0)
    ) -> None:
        """Name what it reads.

        Args:
            columns: The name of one input column, or a warp that gives one.
            period: In the unit of the column.
            length: Bounds of the length scale; 1 is about a third of the period.
        """
        super().__init__(*columns, length=(0.1, 10.0) if length is None else length)
        owner = type(self).__name__
        if self.warp.width != 1:
            raise ConfigError(
                f"{owner}: columns {columns!r} are {self.warp.width}; expected one. Multiply "
                "kernels to read more."
            )
        known = isinstance(period, int | float | np.number)
        if not (known and math.isfinite(period) and period > 0):
            raise ConfigError(
                f"{owner}: period is {period!r}; expected a positive finite number in the unit "
                "of the column."
            )
        object.__setattr__(self, "period", float(period))

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        base = stationary.PeriodicCorrelation(theta[self.label("length")], self.period)
        return self.warp.applied(base, theta)
