"""From functions to y: the matrix entry at every cell."""

import math
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.model.colouring import Over
from dpmf.model.features import features, scaled
from dpmf.model.gather import take
from dpmf.model.layout import Layout, SideLayout
from dpmf.model.spec import SideSpec, Spec
from dpmf.model.state import Fixed, Parameters, Side, White


class Coloured(NamedTuple):
    """What turns white of one side into functions, and that of its pooled mean."""

    functions: Over
    pooled: Over | None  # None where the mean is constant


def side_factors(spec: SideSpec, shared: Side, cells: SideLayout) -> Coloured:
    """The factors at the side's hyperparameters."""
    if cells.factors is not None:
        return cells.factors
    pooled = None
    if spec.pooled is not None and cells.pooled is not None:
        pooled = cells.pooled.factors(spec.pooled, shared.pooled_theta or {})
    return Coloured(cells.functions.factors(spec.kernel, shared.theta or {}), pooled)


def deviations(
    white: Float[Array, "rank *shape"],
    over: Coloured,
    shared: Side,
    cells: SideLayout,
) -> Float[Array, "rank cells"]:
    """What each cell's member adds to the mean; linear in `white`."""
    across_rank = shared.sd[:, None] * shared.corr
    functions = cells.functions.coloured(white, over.functions)
    return cells.functions.at_cells(features(functions, across_rank))


def means(
    pooled_white: Float[Array, "rank *pooled_shape"] | None,
    over: Coloured,
    shared: Side,
    cells: SideLayout,
) -> Float[Array, "rank cells"]:
    """The mean of the side at each cell (one column if it is constant)."""
    constant = shared.mean[:, None]
    if pooled_white is None or over.pooled is None or cells.pooled is None:
        return constant
    functions = cells.pooled.coloured(pooled_white, over.pooled)
    return constant + cells.pooled.at_cells(scaled(shared.pooled_sd, functions))


def side_features(
    white: Float[Array, "rank *shape"],
    pooled_white: Float[Array, "rank *pooled_shape"] | None,
    over: Coloured,
    shared: Side,
    cells: SideLayout,
) -> Float[Array, "rank cells"]:
    """The features of one side at every cell: u, or v before softplus."""
    mean = means(pooled_white, over, shared, cells)
    return mean + deviations(white, over, shared, cells)


def product(
    u: Float[Array, "rank cells"], unit: Float[Array, "rank cells"]
) -> Float[Array, " cells"]:
    """The matrix entry, from row features and softplus of the column features."""
    return jnp.sum(u * unit, axis=0)


def intercepts(white: White, values: Parameters, arrays: Layout) -> Float[Array, " #cells"]:
    """What the row and the column of each cell add to y, whatever they meet."""
    sides = (
        (white.rows_intercept, values.rows, arrays.rows),
        (white.cols_intercept, values.cols, arrays.cols),
    )
    parts = (side_intercepts(*side) for side in sides)
    return sum((one for one in parts if one is not None), jnp.zeros(1))


def side_intercepts(
    white: Float[Array, " members"] | None, shared: Side, cells: SideLayout
) -> Float[Array, " cells"] | None:
    """What each cell's member adds to y; None where it adds nothing."""
    return None if white is None else take(shared.intercept_sd * white, cells.member)


class Factored(NamedTuple):
    """The factors of both sides: all that depends on kernel hyperparameters."""

    rows: Coloured
    cols: Coloured


def all_factors(spec: Spec, values: Parameters, arrays: Layout) -> Factored:
    """The factors at the hyperparameters of both sides."""
    return Factored(
        side_factors(spec.rows, values.rows, arrays.rows),
        side_factors(spec.cols, values.cols, arrays.cols),
    )


def with_factors(spec: Spec, fixed: Fixed, arrays: Layout) -> Layout:
    """The arrays with the factors of each side whose hyperparameters are all fixed."""

    def side(own: SideSpec, held: Side, cells: SideLayout) -> SideLayout:
        free = (own.theta() and held.theta is None) or (
            own.pooled_theta() and held.pooled_theta is None
        )
        return cells if free else replace(cells, factors=side_factors(own, held, cells))

    return replace(
        arrays,
        rows=side(spec.rows, fixed.rows, arrays.rows),
        cols=side(spec.cols, fixed.cols, arrays.cols),
    )


def cell_features(
    spec: Spec, white: White, values: Parameters, arrays: Layout, over: Factored | None = None
) -> tuple[Float[Array, "rank cells"], Float[Array, "rank cells"]]:
    """u and softplus(v) at every cell; softplus removes the sign flips.

    Args:
        spec: The model.
        white: All functions.
        values: What members share.
        arrays: The events.
        over: The factors at `values`, where they are known already.
    """
    over = over or all_factors(spec, values, arrays)
    u = side_features(white.rows, white.rows_pooled, over.rows, values.rows, arrays.rows)
    return u, unit_features(white, over.cols, values.cols, arrays.cols)


def unit_features(
    white: White, over: Coloured, shared: Side, cells: SideLayout
) -> Float[Array, "rank cells"]:
    """softplus(v) at every cell; where there are fewer values than cells, of the values."""
    own = cells.functions
    fewer = own.picked and math.prod(own.shape) <= cells.member.entry.size
    if over.pooled is not None or not fewer:
        v = side_features(white.cols, white.cols_pooled, over, shared, cells)
        return jax.nn.softplus(v)
    functions = own.coloured(white.cols, over.functions)
    values = features(functions, shared.sd[:, None] * shared.corr)
    mean = shared.mean.reshape(-1, *[1] * len(own.shape))
    return own.at_cells(jax.nn.softplus(mean + values))


def predictor(
    spec: Spec, white: White, values: Parameters, arrays: Layout
) -> Float[Array, "events pair"]:
    """y at every cell of every event."""
    y = product(*cell_features(spec, white, values, arrays)) + intercepts(white, values, arrays)
    return y.reshape(arrays.values.shape)


def product_features(
    spec: Spec, white: White, values: Parameters, arrays: Layout
) -> tuple[Float[Array, "features cells"], Float[Array, "features cells"]]:
    """u and softplus(v) at every cell, and intercepts as two more features that face a 1.

    Their product is y, whatever the model.
    """
    u, unit = cell_features(spec, white, values, arrays)
    rows = side_intercepts(white.rows_intercept, values.rows, arrays.rows)
    cols = side_intercepts(white.cols_intercept, values.cols, arrays.cols)
    if rows is None or cols is None:
        return u, unit
    one = jnp.ones_like(rows)
    return jnp.vstack([u, rows, one]), jnp.vstack([unit, one, cols])
