"""The points where functions live: distinct inputs, factor by factor, in a lasting order."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from dpmf.data import Dyads
from dpmf.data.distinct import distinct, extended
from dpmf.errors import DataError
from dpmf.kernels import Kernel
from dpmf.model.gather import lookup
from dpmf.model.points import Points
from dpmf.model.shared_inputs import SharedInputs
from dpmf.model.state import Theta
from dpmf.model.widening import GridWidening

MOST_LEVELS = 4096  # a Cholesky factor of these takes 134 MB and seconds
SPARSE = 4  # a product grid may hold this many points per distinct input


@dataclasses.dataclass(frozen=True)
class Grid(Points):
    """A product of factors; each holds the distinct inputs of the columns it reads.

    Once a grid is made nothing is ever sorted: new levels are appended to their factor, so
    that white coordinates of old levels keep their meaning.
    """

    columns: tuple[tuple[str, ...], ...]  # read by each factor
    levels: tuple[Float[np.ndarray, "_ _"], ...]  # levels x columns, of each factor

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(one) for one in self.levels)

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    def extended(self, data: Dyads) -> "tuple[Grid, Int[np.ndarray, ' cells']]":
        """This grid with the new levels of `data` appended, and the point of each cell."""
        pairs = [
            extended(levels, points(data, columns))
            for levels, columns in zip(self.levels, self.columns, strict=True)
        ]
        grid = Grid(self.columns, tuple(levels for levels, _ in pairs))
        return grid, np.ravel_multi_index([index for _, index in pairs], grid.shape)

    def laid(
        self, data: Dyads, member: Int[np.ndarray, " cells"], members: int
    ) -> "tuple[Grid, SharedInputs]":
        grid, at = self.extended(data)
        cells = lookup(member * grid.size + at, members * grid.size)
        return grid, SharedInputs(tuple(map(jax.device_put, grid.levels)), cells, members)

    def over(self, data: Dyads, member: Int[np.ndarray, " cells"]) -> "Grid":
        by_use = not member.any()  # those of pooled means, where there is one member
        found = tuple(levels(data, one, by_use=by_use) for one in self.columns)
        return Grid(self.columns, found)

    def only(self, members: Int[np.ndarray, " some"]) -> "Grid":
        return self  # all members have the same points

    def widening(self, wider: "Grid", members: int) -> GridWidening:
        return GridWidening(self.shape, wider.shape, members)

    def carried(
        self,
        white: Float[np.ndarray, "rank members inputs"],
        kernel: Kernel,
        theta: Theta,
        new: "Grid",
        members: Int[np.ndarray, " new_members"],
        generator: np.random.Generator,
    ) -> Float[np.ndarray, "rank new_members new_inputs"]:
        from dpmf.model.carry import carried  # which reads grids

        return carried(white, kernel, theta, self, new, members, generator)

    def recoded(self, numbers: Mapping[str, np.ndarray]) -> "Grid":
        pairs = zip(self.columns, self.levels, strict=True)
        return Grid(self.columns, tuple(renumbered(*pair, numbers) for pair in pairs))

    def plain(self) -> tuple[Any, tuple[np.ndarray, ...]]:
        return [list(columns) for columns in self.columns], self.levels


def renumbered(
    columns: Sequence[str],
    rows: Float[np.ndarray, "levels columns"],
    numbers: Mapping[str, np.ndarray],
) -> Float[np.ndarray, "levels columns"]:
    """Rows of inputs with the levels of text columns numbered otherwise."""
    each = [
        numbers[name][rows[:, place].astype(int)] if name in numbers else rows[:, place]
        for place, name in enumerate(columns)
    ]
    return np.stack(each, axis=1) if each else rows


def points(data: Dyads, columns: Sequence[str]) -> Float[np.ndarray, "cells columns"]:
    """The inputs of all cells, in the given columns."""
    if not columns:
        return np.zeros((data.cells, 0))
    return np.stack([data.column(name).reshape(-1) for name in columns], axis=1)


def levels(
    data: Dyads, columns: Sequence[str], *, by_use: bool = False
) -> Float[np.ndarray, "levels columns"]:
    """The distinct inputs of some columns, in first-seen order.

    Args:
        data: Training events.
        columns: Read together.
        by_use: Those that most cells have come first instead.
    """
    found, index = distinct(points(data, columns))
    order = np.argsort(-np.bincount(index), kind="stable") if by_use else slice(None)
    return found[order]


def grid(
    kernel: Kernel, data: Dyads, *, dense: bool | None = None, by_use: bool = False
) -> Grid:
    """The grid of a kernel's factors over the inputs of `data`.

    Args:
        kernel: Kernel whose factors read disjoint columns.
        data: Training events.
        dense: True puts all columns into one factor; None decides: a product grid is
            used unless most of its points would be empty.
        by_use: Levels that most cells have come first.

    Raises:
        DataError: The distinct inputs are too many to factor.
    """
    chosen = grid_of(kernel, data, dense=dense, by_use=by_use)
    if max(chosen.shape) > MOST_LEVELS:
        raise DataError(
            f"kernel {kernel}: {max(chosen.shape):,} distinct inputs, expected at most "
            f"{MOST_LEVELS:,} in one factor of the grid. Round the inputs, such as dates to "
            "weeks, or let inputs='auto' find a faster form."
        )
    return chosen


def grid_of(
    kernel: Kernel, data: Dyads, *, dense: bool | None = None, by_use: bool = False
) -> Grid:
    """The same, however large."""
    columns = tuple(factor.columns for factor in kernel.factors())
    together = tuple(name for one in columns for name in one)
    joint = levels(data, together, by_use=by_use)
    separate = tuple(levels(data, one, by_use=by_use) for one in columns)
    if dense is None:
        dense = math.prod(len(one) for one in separate) > SPARSE * len(joint)
    return Grid((together,), (joint,)) if dense else Grid(columns, separate)


def training_columns(data: Dyads) -> Mapping[str, Float[np.ndarray, " cells"]]:
    """Every input column over all cells, from which kernels take default bounds."""
    return {name: data.column(name).reshape(-1) for name in data.input_names}
