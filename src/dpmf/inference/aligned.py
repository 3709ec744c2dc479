r"""Coordinates turned towards what the data speak about, for any number of features.

To first order y is a level, plus what its row adds, plus what its column adds:

$$ y \approx \ell + \sum_k c_k (u_k - \mu_k) + \sum_k m_k \frac{\sigma_k}{c_k} (v_k - \mu^V_k),
   \qquad m_k = c_k \mu_k, \quad \sum_k m_k = \ell . $$

Of the K features of a member the data see one direction, and leave the others to the prior. In
white coordinates that direction is $b = M^\top c$ for rows, with $M$ the factor of Sigma: it
turns with every scale and correlation, and for columns with every contrast between the $m_k$.
In the coordinates as they are, steps would have to be as short as what is known is narrow.

So what is known gets coordinates of its own, and all else follows it:

* White is turned, so that the first of the K coordinates lies along $b$ and the others across.
  Turning leaves a standard normal what it is.
* Along $b$ the average over a member's own cells is known best. It becomes the member's first
  coordinate, in units of its standard error where that is small against the spread of members.
* The spread $r = |b|$ takes the place of the common scale of the side.
* The contrasts between the $m_k$ are measured by what they do to $b$. With all else held, $b$
  lies on a plane, $g \cdot b = \ell$; the coordinates are $w$ on that plane, where the distance
  from its point nearest to 0 is $d \sinh |w|$, with $d$ that of the plane: $r = d \cosh |w|$.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import level
from dpmf.inference.problem import Problem
from dpmf.model.coordinates import sum_first
from dpmf.model.features import Factors, coloured
from dpmf.model.gather import sums
from dpmf.model.layout import SideLayout
from dpmf.model.predictor import Factored
from dpmf.model.state import Parameters, State


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


class _Plane(NamedTuple):
    """Where b of the columns may lie, whatever the contrasts; in units of the row mean."""

    effects: Float[Array, "rank rank"]  # of a column's white on each feature
    normal: Float[Array, " rank"]  # of length 1
    offset: Float[Array, ""]  # of the plane, along its normal
    depth: Float[Array, ""]  # d: the offset, and what keeps it from 0
    volume: Float[Array, ""]  # log of contrasts per area of the plane


def axes(problem: Problem, over: Factored) -> Aligned:
    """The axes at given factors."""
    arrays = problem.arrays
    weight = jnp.repeat(arrays.weight, arrays.values.shape[1]) / problem.spec.spread**2
    return Aligned(
        _axes(arrays.rows, over.rows.functions, weight),
        _axes(arrays.cols, over.cols.functions, weight),
    )


def aligned(problem: Problem, state: State, known: Aligned) -> State:
    """A levelled state in coordinates of what is known."""
    rows, cols = _turns(problem, state, known)
    white = state.white
    turned = white._replace(
        rows=_turned(white.rows, rows, known.rows), cols=_turned(white.cols, cols, known.cols)
    )
    plane = _plane(problem, state)
    apart = _apart(_direction(problem, state, plane), plane)
    log_rows, log_cols = _log_row_spread(problem, state), _log_col_spread(plane, apart)
    state = _with_contrasts(state._replace(white=turned), apart)
    state = _with_sd(state, "rows", lambda sd: _spread_first(sd, log_rows))
    return _with_sd(state, "cols", lambda sd: _spread_first(sd, log_cols))


def straight(problem: Problem, state: State, known: Aligned) -> tuple[State, Float[Array, ""]]:
    """The inverse of `aligned`, and the log of its volume up to a constant."""
    there, apart = state, state.free.rows.mean[1:]
    for side in ("rows", "cols"):
        there = _with_sd(there, side, _contrasts)
    missing = _get_spread(state, "rows") - _log_row_spread(problem, there)
    there = _with_sd(there, "rows", lambda sd: sd + missing)
    plane = _plane(problem, there)
    direction, volume = _on_plane(apart, plane)
    shift = _levels(problem, _with_contrasts(there, jnp.zeros_like(apart)))[1:]
    there = _with_contrasts(there, _contrasts_of(direction, plane) - shift)
    lacking = _get_spread(state, "cols") - _log_col_spread(plane, apart)
    there = _with_sd(there, "cols", lambda sd: sd + lacking)
    rows, cols = _turns(problem, there, known)
    white = state.white
    back = white._replace(
        rows=_back(white.rows, rows, known.rows), cols=_back(white.cols, cols, known.cols)
    )
    volume -= jnp.sum(jnp.log(rows.stretch)) + jnp.sum(jnp.log(cols.stretch))
    return there._replace(white=back), volume


def spread_to(problem: Problem, state: State, spread: Float[Array, ""]) -> State:
    """The state with other scales, so that rows and columns spread y by this much each.

    Args:
        problem: What is sampled.
        state: Whose scales keep their proportions within each side.
        spread: Standard deviation of y due to rows, and due to columns.
    """
    missing = jnp.log(spread) - _log_row_spread(problem, state)
    state = _with_sd(state, "rows", lambda sd: sd + missing)
    plane = _plane(problem, state)
    apart = _apart(_direction(problem, state, plane), plane)
    lacking = jnp.log(spread / problem.spec.rows.mean.sd) - _log_col_spread(plane, apart)
    return _with_sd(state, "cols", lambda sd: sd + lacking)


def _axes(cells: SideLayout, over: Factors, weight: Float[Array, " cells"]) -> Axes:
    points = 1
    for factor in over:
        points *= factor.shape[-1]
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
    across = jnp.einsum("kr,kmi->rmi", turn.rotation, white)
    first = _reflected(across[0], own)
    return across.at[0].set(first.at[:, 0].multiply(turn.stretch))


def _back(white, turn: _Turn, own: Axes):
    first = white[0].at[:, 0].divide(turn.stretch)
    across = white.at[0].set(_reflected(first, own))
    return jnp.einsum("kr,rmi->kmi", turn.rotation, across)


def _reflected(white: Float[Array, "members inputs"], own: Axes):
    return white - own.mirror * jnp.sum(own.mirror * white, axis=1, keepdims=True)


def _turns(problem: Problem, state: State, known: Aligned) -> tuple[_Turn, _Turn]:
    """They depend on the free coordinates and the levels alone."""
    values, scale = problem.parameters(state), problem.spec.rows.mean.sd
    rows = jnp.sum(_row_effects(values), axis=0)
    cols = scale * _through(_feature_levels(problem, state), _col_effects(values))
    return _turn(rows, known.rows), _turn(cols, known.cols)


def _turn(direction: Float[Array, " rank"], own: Axes) -> _Turn:
    rank = len(direction)
    stretch = jnp.sqrt(1 + jnp.sum(direction**2) * own.precision)
    if rank == 1:
        return _Turn(jnp.ones((1, 1)), stretch)
    first = sum_first(rank)
    # Where members can hardly be told apart, white stays as it is.
    floor = 1 / jnp.sqrt(1e-30 + jnp.max(own.precision))
    moved = direction + floor * first[:, 0]
    end = moved / _length(moved)
    # A rotation takes the constant vector to the direction, in the plane of both.
    both = first[:, 0] + end
    across = (both[:, None] * _through(both, first)) / (1 + jnp.sum(first[:, 0] * end))
    return _Turn((first - across).at[:, 0].add(2 * end), stretch)


def _through(
    vector: Float[Array, " rank"], matrix: Float[Array, "rank other"]
) -> Float[Array, " other"]:
    """A product written as a sum, which is fused with what comes before and after."""
    return jnp.sum(vector[:, None] * matrix, axis=0)


def _row_effects(values: Parameters) -> Float[Array, "rank rank"]:
    """What white of a row adds to y through each feature."""
    unit = jax.nn.softplus(values.cols.mean)
    return (values.rows.sd * unit)[:, None] * values.rows.corr


def _col_effects(values: Parameters) -> Float[Array, "rank rank"]:
    """What white of a column adds to each feature, relative to its mean."""
    cols = values.cols
    slope = jax.nn.sigmoid(cols.mean) / jax.nn.softplus(cols.mean)
    return (cols.sd * slope)[:, None] * cols.corr


def _levels(problem: Problem, state: State) -> Float[Array, " rank"]:
    """What features add to the level, in units of the row mean: the sum, then contrasts.

    Taken from the coordinates of a levelled state, where the sum is one of them.
    """
    mean, pooled = state.free.rows.mean, state.white.rows_pooled
    if pooled is None:
        return mean
    weight = jnp.where(level.settled(problem), level.count(problem), 0.0)
    total = jnp.sum(weight)
    average = pooled[:, 0] @ weight / jnp.maximum(total, 1e-300)
    kept = jnp.where(total > 0, 0.0, mean[0])  # no level: the mean itself is a coordinate
    return mean.at[0].set(kept) + average


def _feature_levels(problem: Problem, state: State) -> Float[Array, " rank"]:
    """What each feature adds to the level, in units of the row mean."""
    return _through(_levels(problem, state), sum_first(problem.spec.rank).T)


def _plane(problem: Problem, state: State) -> _Plane:
    values, rank = problem.parameters(state), problem.spec.rank
    rows, cols = _row_effects(values), _col_effects(values)
    normal = jnp.stack(_solved(cols, jnp.full(rank, rank**-0.5)))
    length = _length(normal)
    offset = _levels(problem, state)[0] / length
    # What columns add on the deviations of rows keeps this from 0 where the level of y is.
    both = jnp.sum(jnp.sum(rows[:, :, None] * cols[:, None, :], axis=0) ** 2)
    depth = jnp.sqrt(offset**2 + both / problem.spec.rows.mean.sd**2)
    volume = -jnp.sum(jnp.log(jnp.diagonal(cols))) - jnp.log(length)
    return _Plane(cols, normal / length, offset, depth, volume)


def _direction(problem: Problem, state: State, plane: _Plane) -> Float[Array, " rank"]:
    """b of the columns, in units of the row mean."""
    return _through(_feature_levels(problem, state), plane.effects)


def _contrasts_of(
    direction: Float[Array, " rank"], plane: _Plane
) -> Float[Array, " contrasts"]:
    """The contrasts between features that lead to a direction on the plane."""
    flipped = plane.effects[::-1, ::-1].T
    each = jnp.stack(_solved(flipped, direction[::-1])[::-1])
    return _through(each, sum_first(len(direction)))[1:]


def _solved(lower: Float[Array, "rank rank"], right: Float[Array, " rank"]) -> list[Array]:
    """Forward substitution, written out for matrices of a few rows."""
    found: list[Array] = []
    for i in range(len(right)):
        rest = right[i] - sum((lower[i, j] * found[j] for j in range(i)), jnp.zeros(()))
        found.append(rest / lower[i, i])
    return found


def _log_row_spread(problem: Problem, state: State) -> Float[Array, ""]:
    """Log of the spread of y due to rows."""
    return 0.5 * jnp.log(jnp.sum(jnp.sum(_row_effects(problem.parameters(state)), axis=0) ** 2))


def _log_col_spread(plane: _Plane, apart: Float[Array, " contrasts"]) -> Float[Array, ""]:
    """Log of the spread of y due to columns, in units of the row mean."""
    return jnp.log(plane.depth) + jnp.log(jnp.cosh(_length(apart)))


def _apart(direction: Float[Array, " rank"], plane: _Plane) -> Float[Array, " contrasts"]:
    """Where on the plane a direction is."""
    first = sum_first(len(direction))
    start = first[:, 0]
    away = (direction - plane.offset * plane.normal) / plane.depth
    both = start + plane.normal
    turned = away - both * jnp.sum(start * away) / (1 + jnp.sum(start * plane.normal))
    place = _through(turned, first)[1:]
    length = _length(place)
    return place * jnp.arcsinh(length) / length


def _on_plane(
    apart: Float[Array, " contrasts"], plane: _Plane
) -> tuple[Float[Array, " rank"], Float[Array, ""]]:
    """The inverse of `_apart`, and the log volume of contrasts as a function of it."""
    count, length = len(apart), _length(apart)
    ratio = jnp.sinh(length) / length
    first = sum_first(count + 1)
    start = first[:, 0]
    place = _through(ratio * apart, first[:, 1:].T)
    both = start + plane.normal
    turned = place - both * jnp.sum(plane.normal * place) / (1 + jnp.sum(start * plane.normal))
    volume = (count - 1) * jnp.log(ratio) + jnp.log(jnp.cosh(length))
    volume += count * jnp.log(plane.depth) + plane.volume
    return plane.offset * plane.normal + plane.depth * turned, volume


def _length(vector: Float[Array, " contrasts"]) -> Float[Array, ""]:
    """Of a vector; never quite 0, where its gradient would be lost."""
    return jnp.sqrt(jnp.sum(vector**2) + 1e-20)


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
    return _through(sd, sum_first(len(sd))).at[0].set(log_spread)


def _contrasts(sd: Float[Array, " rank"]) -> Float[Array, " rank"]:
    """Scales with these contrasts that multiply to 1."""
    return _through(sd.at[0].set(0.0), sum_first(len(sd)).T)
