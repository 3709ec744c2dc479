"""The space that Hamiltonian trajectories move in: levels first, then all that follows them."""

from typing import NamedTuple

from jaxtyping import Array, Float

from dpmf.inference import aligned, level
from dpmf.inference.problem import Problem
from dpmf.model.state import Parameters, State


class Held(NamedTuple):
    """What depends on kernel hyperparameters alone, which trajectories hold."""

    levels: level.Held
    axes: aligned.Aligned


def held(problem: Problem, values: Parameters) -> Held:
    """What given hyperparameters determine."""
    levels = level.held(problem, values)
    return Held(levels, aligned.axes(problem, levels.over))


def position(problem: Problem, state: State, known: Held | None = None) -> Float[Array, " dim"]:
    """Where a state is."""
    known = known or held(problem, problem.parameters(state))
    levelled = level.levelled(problem, state, known.levels)
    return problem.flat(aligned.aligned(problem, levelled, known.axes))


def state_at(problem: Problem, position: Float[Array, " dim"], known: Held) -> State:
    """The inverse of `position`."""
    levelled, _ = aligned.straight(problem, problem.unflat(position), known.axes)
    return level.free_state(problem, levelled, known.levels)


def log_density(
    problem: Problem, position: Float[Array, " dim"], known: Held
) -> Float[Array, ""]:
    """Log posterior density of a position, up to a constant."""
    levelled, volume = aligned.straight(problem, problem.unflat(position), known.axes)
    return level.log_density(problem, levelled, known.levels) + volume
