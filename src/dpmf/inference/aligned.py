r"""White coordinates turned towards what the data see (`effects`).

The direction $b$ in which the data see the K features of a member turns with every scale,
correlation and contrast. In white coordinates as they are, steps would have to be as short as
what is known is narrow. So white is turned, such that the first of the K coordinates lies along
$b$ and the others across; turning leaves a standard normal what it is. Along $b$ the average
over a member's own cells is known best. It becomes the member's first coordinate, in units of
its standard error where that is small against the spread of members.

Where members have intercepts, what is known well is the sum: the intercept and that average are
turned too, in the plane of both.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import effects
from dpmf.inference.problem import Problem
from dpmf.model.colouring import Colouring, Over
from dpmf.model.coordinates import sum_first
from dpmf.model.features import mixed
from dpmf.model.gather import sums, take
from dpmf.model.layout import SideLayout
from dpmf.model.predictor import Factored
from dpmf.model.state import State


class Axes(NamedTuple):
    """The direction of each member's average, from hyperparameters that are held."""

    mirror: Float[Array, "*shape"]  # a reflection takes it to the first coordinate
    precision: Float[Array, " members"]  # what data know of it, per unit of the side's spread
    weight: Float[Array, " members"]  # the same of a member's intercept
    sign: Float[Array, " members"]  # of the average, seen from the first coordinate


class Aligned(NamedTuple):
    """Axes of both sides."""

    rows: Axes
    cols: Axes


class _Turn(NamedTuple):
    """How the white coordinates of one side are turned and stretched."""

    rotation: Float[Array, "rank rank"]
    stretch: Float[Array, " members"]
    cos: Float[Array, " members"]  # of the angle between the average and its sum with the
    sin: Float[Array, " members"]  # intercept; 1 and 0 where there is none


def axes(problem: Problem, over: Factored) -> Aligned:
    """The axes at given factors."""
    arrays = problem.arrays
    weight = jnp.repeat(arrays.weight, arrays.values.shape[1]) / problem.spec.spread**2
    rank = problem.spec.rank
    return Aligned(
        _axes(arrays.rows, over.rows.functions, weight, rank),
        _axes(arrays.cols, over.cols.functions, weight, rank),
    )


def aligned(problem: Problem, state: State, known: Aligned) -> State:
    """A levelled state with its white turned."""
    rows, cols = _turns(problem, state, known)
    white, arrays = state.white, problem.arrays
    new_rows, rows_intercept = _turned(
        arrays.rows.functions, white.rows, white.rows_intercept, rows, known.rows
    )
    new_cols, cols_intercept = _turned(
        arrays.cols.functions, white.cols, white.cols_intercept, cols, known.cols
    )
    turned = white._replace(
        rows=new_rows,
        cols=new_cols,
        rows_intercept=rows_intercept,
        cols_intercept=cols_intercept,
    )
    return state._replace(white=turned)


def straight(problem: Problem, state: State, known: Aligned) -> tuple[State, Float[Array, ""]]:
    """The inverse of `aligned`, and the log of its volume."""
    rows, cols = _turns(problem, state, known)
    white, arrays = state.white, problem.arrays
    old_rows, rows_intercept = _back(
        arrays.rows.functions, white.rows, white.rows_intercept, rows, known.rows
    )
    old_cols, cols_intercept = _back(
        arrays.cols.functions, white.cols, white.cols_intercept, cols, known.cols
    )
    back = white._replace(
        rows=old_rows,
        cols=old_cols,
        rows_intercept=rows_intercept,
        cols_intercept=cols_intercept,
    )
    volume = -jnp.sum(jnp.log(rows.stretch)) - jnp.sum(jnp.log(cols.stretch))
    return state._replace(white=back), volume


def _axes(cells: SideLayout, over: Over, weight: Float[Array, " cells"], rank: int) -> Axes:
    own = cells.functions
    total = sums(cells.member, weight, cells.members)
    share = weight / jnp.maximum(take(total, cells.member), 1e-300)

    def at_cells(white):
        return own.at_cells(own.coloured(white, over))

    back = jax.vjp(at_cells, jnp.zeros((rank, *own.shape)))[1]
    (each,) = back(jnp.broadcast_to(share, (rank, *share.shape)))
    average = jnp.mean(each, axis=0)
    length = jnp.sqrt(own.member_sums(average**2))
    unit = average / own.per_member(jnp.maximum(length, 1e-300))
    # The reflection that takes the first coordinate to -unit or unit, whichever is farther.
    farther = jnp.where(own.first, jnp.where(unit < 0, -1.0, 1.0), 0.0)
    mirror = unit + farther
    squared = jnp.maximum(own.member_sums(mirror**2), 1e-300)
    mirror = mirror * own.per_member(jnp.sqrt(2 / squared))
    return Axes(mirror, total * length**2, total, -own.member_sums(farther))


def _turned(own: Colouring, white, intercept, turn: _Turn, axes: Axes):
    across = mixed(turn.rotation.T, white)
    first = _reflected(own, across[0], axes)
    if intercept is not None:
        first, intercept = _joined(own, first, intercept, turn.cos, turn.sin)
    stretch = jnp.where(own.first, own.per_member(turn.stretch), 1.0)
    return across.at[0].set(stretch * first), intercept


def _back(own: Colouring, white, intercept, turn: _Turn, axes: Axes):
    stretch = jnp.where(own.first, own.per_member(turn.stretch), 1.0)
    first = white[0] / stretch
    if intercept is not None:
        first, intercept = _joined(own, first, intercept, turn.cos, -turn.sin)
    across = white.at[0].set(_reflected(own, first, axes))
    return mixed(turn.rotation, across), intercept


def _joined(own: Colouring, first, intercept, cos, sin):
    """A member's first coordinate and its intercept, turned in the plane of both."""
    average = own.member_sums(jnp.where(own.first, first, 0.0))
    turned = cos * average + sin * intercept
    moved = jnp.where(own.first, own.per_member(turned - average), 0.0)
    return first + moved, cos * intercept - sin * average


def _reflected(own: Colouring, white: Float[Array, "*shape"], axes: Axes):
    return white - axes.mirror * own.per_member(own.member_sums(axes.mirror * white))


def _turns(problem: Problem, state: State, known: Aligned) -> tuple[_Turn, _Turn]:
    """They depend on the free coordinates and the levels alone."""
    rows = effects.row_direction(problem, state)
    cols = problem.spec.rows.mean.sd * effects.col_direction(problem, state)
    values = problem.parameters(state)
    return (
        _turn(rows, known.rows, values.rows.intercept_sd),
        _turn(cols, known.cols, values.cols.intercept_sd),
    )


def _turn(
    direction: Float[Array, " rank"], own: Axes, intercept_sd: Float[Array, ""] | None = None
) -> _Turn:
    rotation = _rotation(direction, own)
    # Standard errors that a step along the average is worth, and one along the intercept.
    along = own.sign * jnp.sum(direction * rotation[:, 0]) * jnp.sqrt(own.precision)
    added = jnp.zeros(()) if intercept_sd is None else intercept_sd * jnp.sqrt(own.weight)
    both = jnp.sum(direction**2) * own.precision + added**2
    # Where neither is worth anything, both stay as they are.
    near = along + jnp.where(along < 0, -1e-10, 1e-10)
    length = jnp.sqrt(near**2 + added**2)
    return _Turn(rotation, jnp.sqrt(1 + both), near / length, added / length)


def _rotation(direction: Float[Array, " rank"], own: Axes) -> Float[Array, "rank rank"]:
    if len(direction) == 1:
        return jnp.ones((1, 1))
    first = sum_first(len(direction))
    # Where members can hardly be told apart, white stays as it is.
    floor = 1 / jnp.sqrt(1e-30 + jnp.max(own.precision))
    moved = direction + floor * first[:, 0]
    end = moved / effects.length_of(moved)
    return effects.turned(first, first[:, 0], end)
