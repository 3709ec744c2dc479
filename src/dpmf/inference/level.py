r"""The coordinates that Hamiltonian trajectories move in: the levels of y made explicit.

The average of y over all training cells is known far better than any of the parts it is
made of: the mean of the rows, the members' averages, the columns. In the free coordinates
those parts form a ridge, about ten times longer than wide on three basketball seasons, and
the step size would follow its width. So the first free coordinate of the row mean gives
way to the level itself. y is linear in that coordinate, $y = y_0 + z\,b$, hence
$z = (\bar y - \bar y_0)/\bar b$ and $\mathrm{d}z/\mathrm{d}\bar y = 1/\bar b$.

Where the mean of the rows is pooled, the same holds at every point of its grid: how much
better all teams do at home is known far better than whether attack or defence makes it so.
Then the pooled functions, in the units of the row mean, take the place of their white, and
their first coordinate at each point gives way to the level of y there. A point that few cells
see keeps its white: two games on neutral ground say little, and where the pooled mean is
smooth its value there is all but settled by the others, within a width that depends on the
length scale; as a coordinate it would halve all steps.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dpmf.inference.problem import Problem
from dpmf.kernels.cholesky import triangular_inverse
from dpmf.model.coordinates import log_prior, sum_first
from dpmf.model.density import log_white
from dpmf.model.features import Factors, coloured, mixed
from dpmf.model.gather import Lookup, sums, take
from dpmf.model.noise import noise_at
from dpmf.model.predictor import (
    Factored,
    all_factors,
    cell_features,
    intercepts,
    product,
)
from dpmf.model.state import Parameters, State

SHARE = 0.1  # of the cells of the best-known point: fewer do not make a level


class Held(NamedTuple):
    """What depends on kernel hyperparameters alone, which trajectories hold."""

    over: Factored
    whitening: Factors | None  # inverse factors of the pooled mean of the rows


class _Line(NamedTuple):
    """y as a function of the first coordinate of the row mean at each level."""

    origin: Float[Array, " cells"]  # y where the coordinates are 0
    slope: Float[Array, " cells"]
    unit: Float[Array, "rank cells"]  # softplus of the columns' features
    pooled: Float[Array, "rank inputs"] | None  # pooled mean where the coordinates are 0


def held(problem: Problem, values: Parameters, over: Factored | None = None) -> Held:
    """The factors at given hyperparameters, computed unless known, and what undoes them."""
    over = over or all_factors(problem.spec, values, problem.arrays)
    pooled = None if by_point(problem) is None else over.rows.pooled
    return Held(over, pooled and tuple(triangular_inverse(factor) for factor in pooled))


def by_point(problem: Problem) -> Lookup | None:
    """The point of the pooled mean of the rows that each cell reads; None: one level for all.

    A mean on points that are as many as the cells has none that are known well: its white
    stays what it is.
    """
    pooled = problem.arrays.rows.pooled
    return None if pooled is None else pooled.points


def levelled(problem: Problem, state: State, known: Held | None = None) -> State:
    """The same state with the levels of y, over its scale, in place of coordinates."""
    values = problem.parameters(state)
    known = known or held(problem, values)
    state, first = _in_row_units(problem, state, values, known)
    line = _line(problem, state, known)
    level = _average(problem, line.origin) + first * _average(problem, line.slope)
    return _with_first(problem, state, level / problem.spec.scale)


def free_state(problem: Problem, state: State, known: Held | None = None) -> State:
    """The inverse of `levelled`."""
    known = known or held(problem, problem.parameters(state))
    line = _line(problem, _with_first(problem, state, jnp.zeros(())), known)
    first = _first(problem, _get_first(problem, state), line)
    return _in_white(problem, _with_first(problem, state, first), known)


def log_density(problem: Problem, state: State, known: Held | None = None) -> Float[Array, ""]:
    """Log posterior density of a levelled state, up to a constant.

    Args:
        problem: What is sampled.
        state: With the levels in place of coordinates.
        known: What its hyperparameters determine, where that is known already.
    """
    values = problem.parameters(state)
    known = known or held(problem, values)
    line = _line(problem, _with_first(problem, state, jnp.zeros(())), known)
    first = _first(problem, _get_first(problem, state), line)
    free = _in_white(problem, _with_first(problem, state, first), known)
    y = _entries(problem, line, first, free, values, known).reshape(problem.arrays.values.shape)
    noise = noise_at(problem.spec, free.white, values, problem.arrays)
    each = noise.log_prob(y, problem.arrays.values)
    slopes = jnp.where(settled(problem), _average(problem, line.slope), 1.0)
    jacobian = -jnp.sum(jnp.log(slopes))
    if first.ndim:
        jacobian += _log_volume(problem, values, known)
    prior = log_prior(problem.spec, free.free, problem.fixed) + log_white(free)
    return prior + jacobian + jnp.sum(problem.arrays.weight * each)


def settled(problem: Problem) -> Bool[Array, "..."]:
    """Which points have a level of their own: as many of the first as cells know well.

    Never one behind a point that has none: what white means at a point depends on the
    points before it alone. Grids of pooled means begin with the points that most cells see.
    """
    cells = count(problem)
    if not cells.ndim:
        return cells > 0
    return jnp.cumprod((cells > 0) & (cells >= SHARE * jnp.max(cells))) > 0


def _entries(
    problem: Problem, line: _Line, first, free: State, values: Parameters, known: Held
) -> Float[Array, " cells"]:
    """y at every cell; a point without a level follows those that have one."""
    index = by_point(problem)
    if index is None or line.pooled is None:
        return line.origin + first * line.slope
    moved = _pooled(free, values, known) - line.pooled
    return line.origin + jnp.sum(take(moved, index) * line.unit, axis=0)


def _pooled(state: State, values: Parameters, known: Held) -> Float[Array, "rank inputs"]:
    """The pooled mean of the rows, from its white."""
    functions = coloured(state.white.rows_pooled, known.over.rows.pooled or ())
    return values.rows.pooled_sd[:, None] * functions[:, 0]


def _in_row_units(
    problem: Problem, state: State, values: Parameters, known: Held
) -> tuple[State, Float[Array, "..."]]:
    """The state with its first coordinates at 0, and what they were."""
    if known.whitening is None:
        return _with_first(problem, state, jnp.zeros(())), _get_first(problem, state)
    spec, white = problem.spec, state.white.rows_pooled
    scaled = _pooled(state, values, known) * jax.nn.softplus(values.cols.mean)[:, None]
    rotated = mixed(sum_first(spec.rank).T, scaled[:, None]) / spec.rows.mean.sd
    both = jnp.where(settled(problem), rotated, white)
    state = state._replace(white=state.white._replace(rows_pooled=both))
    return _with_first(problem, state, jnp.zeros(())), rotated[0, 0]


def _in_white(problem: Problem, state: State, known: Held) -> State:
    """The inverse of `_in_row_units`, with the first coordinates in place."""
    if known.whitening is None:
        return state
    spec, values, known_well = problem.spec, problem.parameters(state), settled(problem)
    both = state.white.rows_pooled
    rotated = jnp.where(known_well, mixed(sum_first(spec.rank), both), 0.0)
    unit = jax.nn.softplus(values.cols.mean) * values.rows.pooled_sd
    functions = spec.rows.mean.sd * rotated / unit[:, None, None]
    # Rows of a triangular matrix see what comes before alone: the zeros behind do no harm.
    white = jnp.where(known_well, coloured(functions, known.whitening), both)
    return state._replace(white=state.white._replace(rows_pooled=white))


def _log_volume(problem: Problem, values: Parameters, known: Held) -> Float[Array, ""]:
    """Log determinant of white as a function of the pooled rows in row units."""
    assert known.whitening is not None
    unit = jax.nn.softplus(values.cols.mean) * values.rows.pooled_sd
    logs = jnp.zeros((1, 1))
    for one in known.whitening:
        diagonal = jnp.log(jnp.diagonal(one, axis1=-2, axis2=-1))
        logs = (logs[:, :, None] + diagonal[:, None, :]).reshape(len(diagonal), -1)
    return jnp.sum(jnp.where(settled(problem), logs - jnp.log(unit)[:, None], 0.0))


def _line(problem: Problem, state: State, known: Held) -> _Line:
    """The line through a state whose first coordinates are 0."""
    spec, arrays = problem.spec, problem.arrays
    values = problem.parameters(state)
    free = _in_white(problem, state, known)
    u, unit = cell_features(spec, free.white, values, arrays, known.over)
    per_rank = sum_first(spec.rank)[:, 0] / jax.nn.softplus(values.cols.mean)
    slope = jnp.sum(spec.rows.mean.sd * per_rank[:, None] * unit, axis=0)
    pooled = None if known.whitening is None else _pooled(free, values, known)
    origin = product(u, unit) + intercepts(free.white, values, arrays)
    return _Line(origin, slope, unit, pooled)


def _first(problem: Problem, level: Float[Array, "..."], line: _Line) -> Float[Array, "..."]:
    moved = level * problem.spec.scale - _average(problem, line.origin)
    known_well = settled(problem)
    slope = jnp.where(known_well, _average(problem, line.slope), 1.0)
    return jnp.where(known_well, moved / slope, level)


def _average(problem: Problem, per_cell: Float[Array, " cells"]) -> Float[Array, "..."]:
    """Average at each point of the pooled mean, or over all cells."""
    return _total(problem, per_cell) / jnp.maximum(count(problem), 1e-300)


def count(problem: Problem) -> Float[Array, "..."]:
    """Cells at each point of the pooled mean, or all of them."""
    return _total(problem, jnp.ones(problem.arrays.values.size))


def _total(problem: Problem, per_cell: Float[Array, " cells"]) -> Float[Array, "..."]:
    arrays, index = problem.arrays, by_point(problem)
    weighted = jnp.repeat(arrays.weight, arrays.values.shape[1]) * per_cell
    if index is None or arrays.rows.pooled is None:
        return jnp.sum(weighted)
    return sums(index, weighted, arrays.rows.pooled.shape[1])


def _get_first(problem: Problem, state: State) -> Float[Array, "..."]:
    pooled = state.white.rows_pooled
    return state.free.rows.mean[0] if by_point(problem) is None else pooled[0, 0]


def _with_first(problem: Problem, state: State, first: Float[Array, "..."]) -> State:
    """The state with other first coordinates, where they give way to levels."""
    pooled, known_well = state.white.rows_pooled, settled(problem)
    if by_point(problem) is not None:
        moved = pooled.at[0, 0].set(jnp.where(known_well, first, pooled[0, 0]))
        return state._replace(white=state.white._replace(rows_pooled=moved))
    rows = state.free.rows
    mean = rows.mean.at[0].set(jnp.where(known_well, first, rows.mean[0]))
    return state._replace(free=state.free._replace(rows=rows._replace(mean=mean)))
