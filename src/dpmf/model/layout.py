"""Encoded events laid out as the density needs them: grids, lookups, values."""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from dpmf.data import Dyads
from dpmf.model.colouring import Colouring
from dpmf.model.gather import Lookup, lookup
from dpmf.model.grid import grid
from dpmf.model.points import Points
from dpmf.model.spec import SideSpec, Spec
from dpmf.types import pytree_dataclass


class Grids(NamedTuple):
    """The four sets of points that functions live on; None where the mean is constant."""

    rows: Points
    cols: Points
    rows_pooled: Points | None
    cols_pooled: Points | None


@pytree_dataclass
class SideLayout:
    """Where the cells find the functions of one side."""

    functions: Colouring  # of the members
    pooled: Colouring | None  # of the mean that they share; None where it is constant
    member: Lookup  # entry = member
    members: int = dataclasses.field(metadata={"static": True})
    # Factors (`predictor.Coloured`) where the hyperparameters are held for a whole run: a
    # loop would compute them again at every step.
    factors: Any = None


@pytree_dataclass
class Layout:
    """A training problem as arrays."""

    rows: SideLayout
    cols: SideLayout
    values: Float[Array, "events pair"]
    weight: Float[Array, " events"]  # 1, or 0 for an event that only fills a shape


def grids(spec: Spec, data: Dyads, *, dense: bool | None = None) -> Grids:
    """The points of all functions over the inputs of `data`.

    Args:
        spec: The model, which says what kind of points each family of functions has.
        data: Training events.
        dense: True or False puts all of them on grids, with one factor or with many.
    """

    def own(side: SideSpec, member: Int[np.ndarray, "events pair"]) -> Points:
        if dense is not None:
            return grid(side.kernel, data, dense=dense)
        return side.inputs.points(side.kernel, data, member.reshape(-1))

    def pooled(side: SideSpec) -> Points | None:
        if side.pooled is None:
            return None
        if dense is not None:
            return grid(side.pooled, data, dense=dense, by_use=True)
        return side.pooled_inputs.points(side.pooled, data, np.zeros(data.cells, int))

    rows, cols = spec.rows, spec.cols
    return Grids(own(rows, data.rows), own(cols, data.cols), pooled(rows), pooled(cols))


def layout(points: Grids, data: Dyads) -> tuple[Grids, Layout]:
    """Lay `data` out on the grids, appending whatever levels are new.

    Returns:
        The grids with new levels appended, and the arrays.
    """
    rows_grid, rows = _side(points.rows, points.rows_pooled, data, data.rows, data.row_names)
    cols_grid, cols = _side(points.cols, points.cols_pooled, data, data.cols, data.col_names)
    values, weight = jax.device_put((data.values, np.ones(data.events)))
    arrays = Layout(rows, cols, values, weight)
    return Grids(rows_grid[0], cols_grid[0], rows_grid[1], cols_grid[1]), arrays


def _side(
    points: Points,
    pooled: Points | None,
    data: Dyads,
    member: Int[np.ndarray, "events pair"],
    names: tuple,
) -> tuple[tuple[Points, Points | None], SideLayout]:
    member, members = member.reshape(-1), len(names)
    points, functions = points.laid(data, member, members)
    mean = None
    if pooled is not None:
        pooled, mean = pooled.laid(data, np.zeros_like(member), 1)
    side = SideLayout(functions, mean, lookup(member, members), members)
    return (points, pooled), side
