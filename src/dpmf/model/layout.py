"""Encoded events laid out as the density needs them: grids, lookups, values."""

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dpmf.data import Dyads
from dpmf.model.gather import Lookup, lookup
from dpmf.model.grid import Grid, grid
from dpmf.model.spec import SideSpec, Spec
from dpmf.types import pytree_dataclass


class Grids(NamedTuple):
    """The four sets of points that functions live on; None where the mean is constant."""

    rows: Grid
    cols: Grid
    rows_pooled: Grid | None
    cols_pooled: Grid | None


@pytree_dataclass
class SideLayout:
    """Where the cells find the functions of one side."""

    levels: tuple[Float[Array, "_ _"], ...]  # levels x columns, of each factor of the grid
    pooled_levels: tuple[Float[Array, "_ _"], ...] | None
    function: Lookup  # entry = member * points + point
    pooled: Lookup | None  # entry = point of the pooled grid
    member: Lookup  # entry = member
    members: int = dataclasses.field(metadata={"static": True})
    # Cholesky factors (`predictor.Coloured`) where the hyperparameters are held for a whole
    # run: a loop would compute them again at every step.
    factors: Any = None


@pytree_dataclass
class Layout:
    """A training problem as arrays."""

    rows: SideLayout
    cols: SideLayout
    values: Float[Array, "events pair"]
    weight: Float[Array, " events"]  # 1, or 0 for an event that only fills a shape


def grids(spec: Spec, data: Dyads, *, dense: bool | None = None) -> Grids:
    """The points of all functions over the inputs of `data`."""

    def pooled(side: SideSpec) -> Grid | None:
        return grid(side.pooled, data, dense=dense, by_use=True) if side.pooled else None

    return Grids(
        grid(spec.rows.kernel, data, dense=dense),
        grid(spec.cols.kernel, data, dense=dense),
        pooled(spec.rows),
        pooled(spec.cols),
    )


def layout(points: Grids, data: Dyads) -> tuple[Grids, Layout]:
    """Lay `data` out on the grids, appending whatever levels are new.

    Returns:
        The grids with new levels appended, and the arrays.
    """
    rows_grid, rows = _side(points.rows, points.rows_pooled, data, data.rows, data.row_names)
    cols_grid, cols = _side(points.cols, points.cols_pooled, data, data.cols, data.col_names)
    arrays = Layout(rows, cols, jnp.asarray(data.values), jnp.ones(data.events))
    return Grids(rows_grid[0], cols_grid[0], rows_grid[1], cols_grid[1]), arrays


def _side(
    points: Grid,
    pooled: Grid | None,
    data: Dyads,
    member: Int[np.ndarray, "events pair"],
    names: tuple,
) -> tuple[tuple[Grid, Grid | None], SideLayout]:
    member, members = member.reshape(-1), len(names)
    points, at = points.extended(data)
    pooled_lookup, pooled_levels = None, None
    if pooled is not None:
        pooled, pooled_at = pooled.extended(data)
        pooled_lookup = lookup(pooled_at, pooled.size)
        pooled_levels = tuple(jnp.asarray(one) for one in pooled.levels)
    side = SideLayout(
        tuple(jnp.asarray(one) for one in points.levels),
        pooled_levels,
        lookup(member * points.size + at, members * points.size),
        pooled_lookup,
        lookup(member, members),
        members,
    )
    return (points, pooled), side
