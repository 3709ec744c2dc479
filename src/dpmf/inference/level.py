r"""The coordinates that Hamiltonian trajectories move in: the level of y made explicit.

The average of y over all training cells is known far better than any of the parts it is
made of: the mean of the rows, the members' averages, the pooled functions. In the free
coordinates those parts form a ridge, about ten times longer than wide on three basketball
seasons, and the step size would follow its width. So the first free coordinate of the
row mean gives way to the level itself. y is linear in that coordinate, $y = y_0 + z\,b$,
hence $z = (\bar y - \bar y_0)/\bar b$ and $\mathrm{d}z/\mathrm{d}\bar y = 1/\bar b$.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference.problem import Problem
from dpmf.model.coordinates import log_prior, parameters, sum_first
from dpmf.model.density import log_white
from dpmf.model.predictor import cell_features, product
from dpmf.model.state import State


class _Line(NamedTuple):
    """y as a function of the first coordinate of the row mean."""

    origin: Float[Array, " cells"]  # y where the coordinate is 0
    slope: Float[Array, " cells"]
    weight: Float[Array, " cells"]

    def average(self, per_cell: Float[Array, " cells"]) -> Float[Array, ""]:
        return jnp.sum(self.weight * per_cell) / jnp.sum(self.weight)


def levelled(problem: Problem, state: State) -> State:
    """The same state with the level of y, over its scale, in place of the coordinate."""
    line = _line(problem, _with_first(state, jnp.zeros(())))
    first = state.free.rows.mean[0]
    level = line.average(line.origin) + first * line.average(line.slope)
    return _with_first(state, level / problem.spec.scale)


def free_state(problem: Problem, state: State) -> State:
    """The inverse of `levelled`."""
    return _with_first(state, _first(problem, state, _line(problem, state)))


def log_density(problem: Problem, state: State) -> Float[Array, ""]:
    """Log posterior density of a levelled state, up to a constant."""
    line = _line(problem, state)
    first = _first(problem, state, line)
    free = _with_first(state, first).free
    y = (line.origin + first * line.slope).reshape(problem.arrays.values.shape)
    noise = problem.spec.likelihood.at(parameters(problem.spec, free, problem.fixed).noise)
    each = noise.log_prob(y, problem.arrays.values)
    jacobian = -jnp.log(line.average(line.slope))
    prior = log_prior(problem.spec, free, problem.fixed) + log_white(state)
    return prior + jacobian + jnp.sum(problem.arrays.weight * each)


def _line(problem: Problem, state: State) -> _Line:
    spec, arrays = problem.spec, problem.arrays
    values = problem.parameters(_with_first(state, jnp.zeros(())))
    u, unit = cell_features(spec, state.white, values, arrays)
    per_rank = sum_first(spec.rank)[:, 0] / jax.nn.softplus(values.cols.mean)
    slope = jnp.sum(spec.rows.mean.sd * per_rank[:, None] * unit, axis=0)
    weight = jnp.repeat(arrays.weight, arrays.values.shape[1])
    return _Line(product(u, unit), slope, weight)


def _first(problem: Problem, state: State, line: _Line) -> Float[Array, ""]:
    level = state.free.rows.mean[0] * problem.spec.scale
    return (level - line.average(line.origin)) / line.average(line.slope)


def _with_first(state: State, first: Float[Array, ""]) -> State:
    rows = state.free.rows
    moved = rows._replace(mean=rows.mean.at[0].set(first))
    return state._replace(free=state.free._replace(rows=moved))
