r"""Parameters of the noise that shift with y, measured from its level.

Adding the same number to y and to all cuts between ordered levels changes no probability. The
data know how far the cuts are from the level of y, and the prior alone where both are: a ridge
a hundred times longer than wide on thousands of ratings. So the coordinate of such a parameter
is its distance from the level. That is a shear: its volume is 1.
"""

from jaxtyping import Array, Float

from dpmf.inference import effects
from dpmf.inference.problem import Problem
from dpmf.model.state import State
from dpmf.priors import Normal


def anchored(problem: Problem, state: State) -> State:
    """A levelled state with the parameter measured from the level of y."""
    return _shifted(problem, state, -1.0)


def loose(problem: Problem, state: State) -> State:
    """The inverse of `anchored`."""
    return _shifted(problem, state, 1.0)


def _shifted(problem: Problem, state: State, sign: float) -> State:
    name = problem.spec.likelihood.shifts
    if name is None:
        return state
    prior = problem.spec.noise()[name]
    assert isinstance(prior, Normal)  # whose free coordinates are linear in the value
    level: Float[Array, ""] = problem.spec.scale * effects.levels(problem, state)[0]
    noise = state.free.noise
    moved = noise | {name: noise[name] + sign * level / prior.sd}
    return state._replace(free=state.free._replace(noise=moved))
