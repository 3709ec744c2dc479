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
their first coordinate at each point gives way to the level of y there.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference.problem import Problem
from dpmf.kernels.cholesky import triangular_inverse
from dpmf.model.coordinates import log_prior, sum_first
from dpmf.model.density import log_white
from dpmf.model.features import Factors, coloured
from dpmf.model.gather import sums
from dpmf.model.predictor import Factored, all_factors, cell_features, product
from dpmf.model.state import Parameters, State


class Held(NamedTuple):
    """What depends on kernel hyperparameters alone, which trajectories hold."""

    over: Factored
    whitening: Factors | None  # inverse factors of the pooled mean of the rows


class _Line(NamedTuple):
    """y as a function of the first coordinate of the row mean at each level."""

    origin: Float[Array, " cells"]  # y where the coordinate is 0
    slope: Float[Array, " cells"]


def held(problem: Problem, values: Parameters) -> Held:
    """The factors at given hyperparameters, and what undoes them."""
    over = all_factors(problem.spec, values, problem.arrays)
    pooled = over.rows.pooled
    return Held(over, pooled and tuple(triangular_inverse(factor) for factor in pooled))


def levelled(problem: Problem, state: State, known: Held | None = None) -> State:
    """The same state with the levels of y, over its scale, in place of coordinates."""
    values = problem.parameters(state)
    known = known or held(problem, values)
    state, first = _in_row_units(problem, state, values, known)
    line = _line(problem, state, known)
    level = _average(problem, line.origin) + first * _average(problem, line.slope)
    empty = _count(problem) == 0
    return _with_first(state, jnp.where(empty, first, level / problem.spec.scale))


def free_state(problem: Problem, state: State, known: Held | None = None) -> State:
    """The inverse of `levelled`."""
    known = known or held(problem, problem.parameters(state))
    line = _line(problem, _with_first(state, jnp.zeros(())), known)
    first = _first(problem, _get_first(state), line)
    return _in_white(problem, _with_first(state, first), known)


def log_density(problem: Problem, state: State, known: Held | None = None) -> Float[Array, ""]:
    """Log posterior density of a levelled state, up to a constant.

    Args:
        problem: What is sampled.
        state: With the levels in place of coordinates.
        known: What its hyperparameters determine, where that is known already.
    """
    values = problem.parameters(state)
    known = known or held(problem, values)
    line = _line(problem, _with_first(state, jnp.zeros(())), known)
    first = _first(problem, _get_first(state), line)
    pooled = problem.arrays.rows.pooled
    at_level = first if pooled is None else first[pooled.entry]
    y = (line.origin + at_level * line.slope).reshape(problem.arrays.values.shape)
    free = _in_white(problem, _with_first(state, first), known)
    noise = problem.spec.likelihood.at(values.noise)
    each = noise.log_prob(y, problem.arrays.values)
    slopes = jnp.where(_count(problem) == 0, 1.0, _average(problem, line.slope))
    jacobian = -jnp.sum(jnp.log(slopes))
    if first.ndim:
        jacobian += _log_volume(problem, values, known)
    prior = log_prior(problem.spec, free.free, problem.fixed) + log_white(free)
    return prior + jacobian + jnp.sum(problem.arrays.weight * each)


def _in_row_units(
    problem: Problem, state: State, values: Parameters, known: Held
) -> tuple[State, Float[Array, "..."]]:
    """The state with its first coordinates at 0, and what they were."""
    if known.over.rows.pooled is None:
        return _with_first(state, jnp.zeros(())), _get_first(state)
    functions = coloured(state.white.rows_pooled, known.over.rows.pooled)
    scaled = (
        functions * (values.rows.pooled_sd * jax.nn.softplus(values.cols.mean))[:, None, None]
    )
    spec = problem.spec
    rotated = jnp.einsum("kr,kmi->rmi", sum_first(spec.rank), scaled / spec.rows.mean.sd)
    state = state._replace(white=state.white._replace(rows_pooled=rotated))
    return _with_first(state, jnp.zeros(())), rotated[0, 0]


def _in_white(problem: Problem, state: State, known: Held) -> State:
    """The inverse of `_in_row_units`, with the first coordinates in place."""
    if known.whitening is None:
        return state
    spec, values = problem.spec, problem.parameters(state)
    rotated = jnp.einsum("kr,rmi->kmi", sum_first(spec.rank), state.white.rows_pooled)
    unit = jax.nn.softplus(values.cols.mean) * values.rows.pooled_sd
    functions = spec.rows.mean.sd * rotated / unit[:, None, None]
    white = coloured(functions, known.whitening)
    return state._replace(white=state.white._replace(rows_pooled=white))


def _log_volume(problem: Problem, values: Parameters, known: Held) -> Float[Array, ""]:
    """Log determinant of white as a function of the pooled rows in row units."""
    assert known.whitening is not None
    unit = jax.nn.softplus(values.cols.mean) * values.rows.pooled_sd
    points = math.prod([one.shape[-1] for one in known.whitening])
    total = -points * jnp.sum(jnp.log(unit))
    for one in known.whitening:
        diagonal = jnp.diagonal(one, axis1=-2, axis2=-1)
        each = jnp.sum(jnp.log(diagonal), axis=-1) * (points / one.shape[-1])
        total += jnp.sum(jnp.broadcast_to(each, (problem.spec.rank,)))
    return total


def _line(problem: Problem, state: State, known: Held) -> _Line:
    """The line through a state whose first coordinates are 0."""
    spec, arrays = problem.spec, problem.arrays
    values = problem.parameters(state)
    white = _in_white(problem, state, known).white
    u, unit = cell_features(spec, white, values, arrays, known.over)
    per_rank = sum_first(spec.rank)[:, 0] / jax.nn.softplus(values.cols.mean)
    slope = jnp.sum(spec.rows.mean.sd * per_rank[:, None] * unit, axis=0)
    return _Line(product(u, unit), slope)


def _first(problem: Problem, level: Float[Array, "..."], line: _Line) -> Float[Array, "..."]:
    moved = level * problem.spec.scale - _average(problem, line.origin)
    empty = _count(problem) == 0  # a point without cells has no level: nothing was changed
    return jnp.where(empty, level, moved / jnp.where(empty, 1.0, _average(problem, line.slope)))


def _average(problem: Problem, per_cell: Float[Array, " cells"]) -> Float[Array, "..."]:
    """Average at each point of the pooled mean, or over all cells."""
    return _total(problem, per_cell) / jnp.maximum(_count(problem), 1e-300)


def _count(problem: Problem) -> Float[Array, "..."]:
    return _total(problem, jnp.ones(problem.arrays.values.size))


def _total(problem: Problem, per_cell: Float[Array, " cells"]) -> Float[Array, "..."]:
    arrays, rows = problem.arrays, problem.arrays.rows
    weighted = jnp.repeat(arrays.weight, arrays.values.shape[1]) * per_cell
    if rows.pooled is None or rows.pooled_levels is None:
        return jnp.sum(weighted)
    return sums(rows.pooled, weighted, math.prod([len(one) for one in rows.pooled_levels]))


def _get_first(state: State) -> Float[Array, "..."]:
    pooled = state.white.rows_pooled
    return state.free.rows.mean[0] if pooled is None else pooled[0, 0]


def _with_first(state: State, first: Float[Array, "..."]) -> State:
    pooled = state.white.rows_pooled
    if pooled is not None:
        moved = pooled.at[0, 0].set(first)
        return state._replace(white=state.white._replace(rows_pooled=moved))
    rows = state.free.rows
    rows = rows._replace(mean=rows.mean.at[0].set(first))
    return state._replace(free=state.free._replace(rows=rows))
