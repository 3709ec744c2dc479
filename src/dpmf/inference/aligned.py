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
* The contrasts between the $m_k$ are measured by what they do to $r$. With all else held,
  $r^2 = d^2 + |L^\top (q - q^*)|^2$; the coordinates are $w$ with
  $L^\top (q - q^*) = d\, \sinh(|w|)\, w / |w|$, hence $r = d \cosh |w|$.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import level
from dpmf.inference.problem import Problem
from dpmf.kernels.cholesky import cholesky, triangular_inverse
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


class _Valley(NamedTuple):
    """The spread due to columns as a function of the contrasts q, at some scale."""

    bottom: Float[Array, " contrasts"]  # q*
    depth: Float[Array, ""]  # d, in units of the row mean
    factor: Float[Array, "contrasts contrasts"]  # L
    inverse: Float[Array, "contrasts contrasts"]


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
    valley = _valley(problem, state)
    apart = _compressed(valley.factor.T @ (_levels(problem, state)[1:] - valley.bottom), valley)
    log_rows, log_cols = _log_row_spread(problem, state), _log_col_spread(valley, apart)
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
    valley = _valley(problem, there)
    distance, volume = _stretched(apart, valley)
    contrasts = valley.bottom + valley.inverse.T @ distance
    shift = _levels(problem, _with_contrasts(there, jnp.zeros_like(apart)))[1:]
    there = _with_contrasts(there, contrasts - shift)
    lacking = _get_spread(state, "cols") - _log_col_spread(valley, apart)
    there = _with_sd(there, "cols", lambda sd: sd + lacking)
    rows, cols = _turns(problem, there, known)
    white = state.white
    back = white._replace(
        rows=_back(white.rows, rows, known.rows), cols=_back(white.cols, cols, known.cols)
    )
    volume -= jnp.sum(jnp.log(rows.stretch)) + jnp.sum(jnp.log(cols.stretch))
    return there._replace(white=back), volume


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
    values = problem.parameters(state)
    rows = jnp.sum(_row_effects(values), axis=0)
    levels = problem.spec.rows.mean.sd * (
        sum_first(problem.spec.rank) @ _levels(problem, state)
    )
    cols = levels @ _col_effects(values)
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
    return _Turn(_rotation(first[:, 0], moved / jnp.linalg.norm(moved)) @ first, stretch)


def _rotation(
    start: Float[Array, " rank"], end: Float[Array, " rank"]
) -> Float[Array, "rank rank"]:
    """The rotation in the plane of two unit vectors that takes one to the other."""
    both = start + end
    plane = jnp.outer(both, both) / (1 + start @ end)
    return jnp.eye(len(start)) - plane + 2 * jnp.outer(end, start)


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


def _valley(problem: Problem, state: State) -> _Valley:
    values, first = problem.parameters(state), sum_first(problem.spec.rank)
    rows, cols = _row_effects(values), _col_effects(values)
    through = first.T @ cols
    gram = through @ through.T
    # A single feature has no contrasts, and the empty matrix no factor to compute.
    factor = cholesky(gram[1:, 1:]) if len(gram) > 1 else gram[1:, 1:]
    inverse = triangular_inverse(factor) if len(gram) > 1 else factor
    side = inverse @ gram[1:, 0]
    sum_ = _levels(problem, state)[0]
    # What columns add on the deviations of rows keeps this from 0 where the level of y is.
    both = jnp.sum((rows @ rows.T) * (cols @ cols.T)) / problem.spec.rows.mean.sd**2
    depth = jnp.sqrt(sum_**2 * (gram[0, 0] - jnp.sum(side**2)) + both)
    return _Valley(-sum_ * (inverse.T @ side), depth, factor, inverse)


def _log_row_spread(problem: Problem, state: State) -> Float[Array, ""]:
    """Log of the spread of y due to rows."""
    return 0.5 * jnp.log(jnp.sum(jnp.sum(_row_effects(problem.parameters(state)), axis=0) ** 2))


def _log_col_spread(valley: _Valley, apart: Float[Array, " contrasts"]) -> Float[Array, ""]:
    """Log of the spread of y due to columns."""
    return jnp.log(valley.depth) + jnp.log(jnp.cosh(_length(apart)))


def _compressed(
    distance: Float[Array, " contrasts"], valley: _Valley
) -> Float[Array, " contrasts"]:
    """Distances from the bottom of the valley as coordinates."""
    length = _length(distance / valley.depth)
    return distance / valley.depth * jnp.arcsinh(length) / length


def _stretched(
    apart: Float[Array, " contrasts"], valley: _Valley
) -> tuple[Float[Array, " contrasts"], Float[Array, ""]]:
    """The inverse of `_compressed`, and the log volume of contrasts as its function."""
    length, count = _length(apart), len(apart)
    ratio = jnp.sinh(length) / length
    volume = (count - 1) * jnp.log(ratio) + jnp.log(jnp.cosh(length))
    volume += count * jnp.log(valley.depth) - jnp.sum(jnp.log(jnp.diagonal(valley.factor)))
    return valley.depth * ratio * apart, volume


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
    return (sum_first(len(sd)).T @ sd).at[0].set(log_spread)


def _contrasts(sd: Float[Array, " rank"]) -> Float[Array, " rank"]:
    """Scales with these contrasts that multiply to 1."""
    return sum_first(len(sd)) @ sd.at[0].set(0.0)
