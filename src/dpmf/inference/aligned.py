r"""White coordinates turned towards what the data see (`effects`).

The direction $b$ in which the data see the K features of a member turns with every scale,
correlation and contrast. In white coordinates as they are, steps would have to be as short as
what is known is narrow. So white is turned, such that the first of the K coordinates lies along
$b$ and the others across; turning leaves a standard normal what it is. Along $b$ the average
over a member's own cells is known best. It becomes the member's first coordinate, in units of
its standard error where that is small against the spread of members.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import effects
from dpmf.inference.problem import Problem
from dpmf.model.coordinates import sum_first
from dpmf.model.features import Factors, coloured, mixed
from dpmf.model.gather import sums
from dpmf.model.layout import SideLayout
from dpmf.model.predictor import Factored
from dpmf.model.state import State


class Axes(NamedTuple):
    """The direction of each member's average, from hyperparameters that are held."""

    mirror: Float[Array, "members inputs"]  # a reflection takes it to the first point
    precision: Float[Array, " members"]  # what data know of it, per unit of the side's spread


class Aligned(NamedTuple):
    """Axes of both sides."""

    rows: Axes
    cols: Axes


class _Turn(NamedTuple):
    """How the white coordinates of one side are turned and stretched."""

    rotation: Float[Array, "rank rank"]
    stretch: Float[Array, " members"]


def axes(problem: Problem, over: Factored) -> Aligned:
    """The axes at given factors."""
    arrays = problem.arrays
    weight = jnp.repeat(arrays.weight, arrays.values.shape[1]) / problem.spec.spread**2
    return Aligned(
        _axes(arrays.rows, over.rows.functions, weight),
        _axes(arrays.cols, over.cols.functions, weight),
    )


def aligned(problem: Problem, state: State, known: Aligned) -> State:
    """A levelled state with its white turned."""
    rows, cols = _turns(problem, state, known)
    white = state.white
    turned = white._replace(
        rows=_turned(white.rows, rows, known.rows), cols=_turned(white.cols, cols, known.cols)
    )
    return state._replace(white=turned)


def straight(problem: Problem, state: State, known: Aligned) -> tuple[State, Float[Array, ""]]:
    """The inverse of `aligned`, and the log of its volume."""
    rows, cols = _turns(problem, state, known)
    white = state.white
    back = white._replace(
        rows=_back(white.rows, rows, known.rows), cols=_back(white.cols, cols, known.cols)
    )
    volume = -jnp.sum(jnp.log(rows.stretch)) - jnp.sum(jnp.log(cols.stretch))
    return state._replace(white=back), volume


def _axes(cells: SideLayout, over: Factors, weight: Float[Array, " cells"]) -> Axes:
    points = math.prod(factor.shape[-1] for factor in over)
    table = sums(cells.function, weight, cells.members * points).reshape(cells.members, points)
    total = jnp.sum(table, axis=1)
    share = table / jnp.maximum(total, 1e-300)[:, None]
    each = jnp.broadcast_to(share, (over[0].shape[0], *share.shape))
    back = tuple(jnp.swapaxes(factor, -1, -2) for factor in over)
    average = jnp.mean(coloured(each, back), axis=0)
    length = jnp.linalg.norm(average, axis=1)
    unit = average / jnp.maximum(length, 1e-300)[:, None]
    # The reflection that takes the first point to -unit or unit, whichever is farther.
    mirror = unit.at[:, 0].add(jnp.where(unit[:, 0] < 0, -1.0, 1.0))
    mirror *= jnp.sqrt(2 / jnp.sum(mirror**2, axis=1, keepdims=True))
    return Axes(mirror, total * length**2)


def _turned(white, turn: _Turn, own: Axes):
    across = mixed(turn.rotation.T, white)
    first = _reflected(across[0], own)
    return across.at[0].set(first.at[:, 0].multiply(turn.stretch))


def _back(white, turn: _Turn, own: Axes):
    first = white[0].at[:, 0].divide(turn.stretch)
    across = white.at[0].set(_reflected(first, own))
    return mixed(turn.rotation, across)


def _reflected(white: Float[Array, "members inputs"], own: Axes):
    return white - own.mirror * jnp.sum(own.mirror * white, axis=1, keepdims=True)


def _turns(problem: Problem, state: State, known: Aligned) -> tuple[_Turn, _Turn]:
    """They depend on the free coordinates and the levels alone."""
    cols = problem.spec.rows.mean.sd * effects.col_direction(problem, state)
    return _turn(effects.row_direction(problem, state), known.rows), _turn(cols, known.cols)


def _turn(direction: Float[Array, " rank"], own: Axes) -> _Turn:
    stretch = jnp.sqrt(1 + jnp.sum(direction**2) * own.precision)
    if len(direction) == 1:
        return _Turn(jnp.ones((1, 1)), stretch)
    first = sum_first(len(direction))
    # Where members can hardly be told apart, white stays as it is.
    floor = 1 / jnp.sqrt(1e-30 + jnp.max(own.precision))
    moved = direction + floor * first[:, 0]
    end = moved / effects.length_of(moved)
    return _Turn(effects.turned(first, first[:, 0], end), stretch)
