r"""Scales and contrasts between features in coordinates of the spreads of y (`effects`).

How much rows and columns spread y is known far better than the K scales, correlations and
contrasts that make it so. So the spread $r = |b|$ takes the place of the common scale of its
side. For columns $b$ also depends on the contrasts between what features add to the level. With
all else held it lies on a plane, $g \cdot b = \ell$; contrasts are measured on that plane, by
$w$ where the distance from its point nearest to 0 is $d \sinh |w|$, with $d$ that of the plane:
$r = d \cosh |w|$.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import effects
from dpmf.inference.effects import length_of, through
from dpmf.inference.problem import Problem
from dpmf.model.coordinates import sum_first
from dpmf.model.state import State


class _Plane(NamedTuple):
    """Where b of the columns may lie, whatever the contrasts; in units of the row mean."""

    effects: Float[Array, "rank rank"]  # of a column's white on each feature
    normal: Float[Array, " rank"]  # of length 1
    offset: Float[Array, ""]  # of the plane, along its normal
    depth: Float[Array, ""]  # d: the offset, and what keeps it from 0
    volume: Float[Array, ""]  # log of contrasts per area of the plane


def spread(problem: Problem, state: State) -> State:
    """A levelled state with the spreads, and contrasts by what they do to them."""
    plane = _plane(problem, state)
    apart = _apart(effects.col_direction(problem, state), plane)
    log_rows, log_cols = _log_row_spread(problem, state), _log_col_spread(plane, apart)
    state = _with_contrasts(state, apart)
    state = _with_sd(state, "rows", lambda sd: _spread_first(sd, log_rows))
    return _with_sd(state, "cols", lambda sd: _spread_first(sd, log_cols))


def scaled(problem: Problem, state: State) -> tuple[State, Float[Array, ""]]:
    """The inverse of `spread`, and the log of its volume up to a constant."""
    there, apart = state, state.free.rows.mean[1:]
    for side in ("rows", "cols"):
        there = _with_sd(there, side, _contrasts)
    missing = _get_spread(state, "rows") - _log_row_spread(problem, there)
    there = _with_sd(there, "rows", lambda sd: sd + missing)
    plane = _plane(problem, there)
    direction, volume = _on_plane(apart, plane)
    shift = effects.levels(problem, _with_contrasts(there, jnp.zeros_like(apart)))[1:]
    there = _with_contrasts(there, _contrasts_of(direction, plane) - shift)
    lacking = _get_spread(state, "cols") - _log_col_spread(plane, apart)
    return _with_sd(there, "cols", lambda sd: sd + lacking), volume


def spread_to(problem: Problem, state: State, share: Float[Array, "sides rank"]) -> State:
    """The state with other scales, so that every feature by itself spreads y by this much.

    Not all of them together: where two features cancel, each could spread y by far more.

    Args:
        problem: What is sampled.
        state: Whose means are kept.
        share: Of the standard deviation of the values: what each feature of a side adds.
    """
    spec, values = problem.spec, problem.parameters(state)
    rows = jnp.log(spec.spread * share[0]) - jnp.log(_own(effects.on_rows(values)))
    state = _with_sd(state, "rows", lambda sd: sd + rows)
    cols = jnp.log(spec.spread / spec.scale * share[1]) - jnp.log(_own(effects.on_cols(values)))
    return _with_sd(state, "cols", lambda sd: sd + cols)


def _own(matrix: Float[Array, "rank rank"]) -> Float[Array, " rank"]:
    """What each feature adds by itself."""
    return jnp.sqrt(jnp.sum(matrix**2, axis=1))


def _plane(problem: Problem, state: State) -> _Plane:
    values, rank = problem.parameters(state), problem.spec.rank
    rows, cols = effects.on_rows(values), effects.on_cols(values)
    normal = jnp.stack(_solved(cols, jnp.full(rank, rank**-0.5)))
    length = length_of(normal)
    offset = effects.levels(problem, state)[0] / length
    # What columns add on the deviations of rows keeps this from 0 where the level of y is.
    both = jnp.sum(jnp.sum(rows[:, :, None] * cols[:, None, :], axis=0) ** 2)
    depth = jnp.sqrt(offset**2 + both / problem.spec.rows.mean.sd**2)
    # The diagonal as a sum: the gradient of a lookup would be a scatter.
    diagonal = jnp.sum(cols * jnp.eye(rank), axis=1)
    volume = -jnp.sum(jnp.log(diagonal)) - jnp.log(length)
    return _Plane(cols, normal / length, offset, depth, volume)


def _contrasts_of(
    direction: Float[Array, " rank"], plane: _Plane
) -> Float[Array, " contrasts"]:
    """The contrasts between features that lead to a direction on the plane."""
    flipped = plane.effects[::-1, ::-1].T
    each = jnp.stack(_solved(flipped, direction[::-1])[::-1])
    return through(each, sum_first(len(direction)))[1:]


def _solved(lower: Float[Array, "rank rank"], right: Float[Array, " rank"]) -> list[Array]:
    """Forward substitution, written out for matrices of a few rows."""
    found: list[Array] = []
    for i in range(len(right)):
        rest = right[i] - sum((lower[i, j] * found[j] for j in range(i)), jnp.zeros(()))
        found.append(rest / lower[i, i])
    return found


def _log_row_spread(problem: Problem, state: State) -> Float[Array, ""]:
    """Log of the spread of y due to rows."""
    return 0.5 * jnp.log(jnp.sum(effects.row_direction(problem, state) ** 2))


def _log_col_spread(plane: _Plane, apart: Float[Array, " contrasts"]) -> Float[Array, ""]:
    """Log of the spread of y due to columns, in units of the row mean."""
    return jnp.log(plane.depth) + jnp.log(jnp.cosh(length_of(apart)))


def _apart(direction: Float[Array, " rank"], plane: _Plane) -> Float[Array, " contrasts"]:
    """Where on the plane a direction is."""
    first = sum_first(len(direction))
    away = (direction - plane.offset * plane.normal) / plane.depth
    level = effects.turned(away[:, None], plane.normal, first[:, 0])[:, 0]
    place = through(level, first)[1:]
    length = length_of(place)
    return place * jnp.arcsinh(length) / length


def _on_plane(
    apart: Float[Array, " contrasts"], plane: _Plane
) -> tuple[Float[Array, " rank"], Float[Array, ""]]:
    """The inverse of `_apart`, and the log volume of contrasts as a function of it."""
    count, length = len(apart), length_of(apart)
    ratio = jnp.sinh(length) / length
    first = sum_first(count + 1)
    place = through(ratio * apart, first[:, 1:].T)
    away = effects.turned(place[:, None], first[:, 0], plane.normal)[:, 0]
    volume = (count - 1) * jnp.log(ratio) + jnp.log(jnp.cosh(length))
    volume += count * jnp.log(plane.depth) + plane.volume
    return plane.offset * plane.normal + plane.depth * away, volume


def _with_contrasts(state: State, contrasts: Float[Array, " contrasts"]) -> State:
    rows = state.free.rows
    rows = rows._replace(mean=rows.mean.at[1:].set(contrasts))
    return state._replace(free=state.free._replace(rows=rows))


def _get_spread(state: State, side: str) -> Float[Array, ""]:
    own = getattr(state.free, side)
    return jnp.zeros(()) if own.sd is None else own.sd[0]


def _with_sd(
    state: State, side: str, change: Callable[[Float[Array, " rank"]], Float[Array, " rank"]]
) -> State:
    """The state with other coordinates of a side's scales, where those are sampled."""
    own: Any = getattr(state.free, side)
    if own.sd is None:
        return state
    own = own._replace(sd=change(own.sd))
    return state._replace(free=state.free._replace(**{side: own}))


def _spread_first(
    sd: Float[Array, " rank"], log_spread: Float[Array, ""]
) -> Float[Array, " rank"]:
    """Scales as the spread they make together, and contrasts between them."""
    return through(sd, sum_first(len(sd))).at[0].set(log_spread)


def _contrasts(sd: Float[Array, " rank"]) -> Float[Array, " rank"]:
    """Scales with these contrasts that multiply to 1."""
    return through(sd.at[0].set(0.0), sum_first(len(sd)).T)
