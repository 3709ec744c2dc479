"""The space that Hamiltonian trajectories move in: coordinates of what the data know.

Four maps in turn: the levels of y, white turned towards what the data see, the spreads of y
with what is left of scales and contrasts, and parameters of the noise measured from the level.
"""

from typing import NamedTuple

from jaxtyping import Array, Float

from dpmf.inference import aligned, anchored, level, spreads
from dpmf.inference.problem import Problem
from dpmf.model.predictor import Factored
from dpmf.model.state import Parameters, State


class Held(NamedTuple):
    """What depends on kernel hyperparameters alone, which trajectories hold."""

    levels: level.Held
    axes: aligned.Aligned


def held(problem: Problem, values: Parameters, over: Factored | None = None) -> Held:
    """What given hyperparameters determine, besides their factors where those are known."""
    levels = level.held(problem, values, over)
    return Held(levels, aligned.axes(problem, levels.over))


def position(problem: Problem, state: State, known: Held | None = None) -> Float[Array, " dim"]:
    """Where a state is."""
    known = known or held(problem, problem.parameters(state))
    state = level.levelled(problem, state, known.levels)
    state = aligned.aligned(problem, state, known.axes)
    return problem.flat(anchored.anchored(problem, spreads.spread(problem, state)))


def state_at(problem: Problem, position: Float[Array, " dim"], known: Held) -> State:
    """The inverse of `position`."""
    levelled, _ = _levelled(problem, position, known)
    return level.free_state(problem, levelled, known.levels)


def log_density(
    problem: Problem, position: Float[Array, " dim"], known: Held
) -> Float[Array, ""]:
    """Log posterior density of a position, up to a constant."""
    levelled, volume = _levelled(problem, position, known)
    return level.log_density(problem, levelled, known.levels) + volume


def _levelled(
    problem: Problem, position: Float[Array, " dim"], known: Held
) -> tuple[State, Float[Array, ""]]:
    """The levelled state at a position, and the log volume of that map up to a constant."""
    state = anchored.loose(problem, problem.unflat(position))
    state, volume = spreads.scaled(problem, state)
    state, more = aligned.straight(problem, state, known.axes)
    return state, volume + more
