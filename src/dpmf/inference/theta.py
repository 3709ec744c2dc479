"""Kernel hyperparameters apart from the rest of a state, and the problem given them.

A move of a hyperparameter needs a new Cholesky factor, and its gradient several products of
that size; all other moves need matrix products alone. So `hmc` holds the hyperparameters
during a trajectory and slices them in between (`theta_slices`).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dpmf.inference import position
from dpmf.inference.problem import Problem
from dpmf.model.predictor import Factored, all_factors
from dpmf.model.state import Fixed, Parameters, State, Theta

PARTS = ("theta", "pooled_theta")
WIDTH = 1.0  # in prior widths


def without(state: State) -> State:
    """A state without its hyperparameters."""
    rows, cols = (
        one._replace(theta=None, pooled_theta=None)
        for one in (state.free.rows, state.free.cols)
    )
    return state._replace(free=state.free._replace(rows=rows, cols=cols))


def restored(rest: State, state: State) -> State:
    """The rest of a state, with the hyperparameters of `state`."""
    pairs = zip(rest.free[:2], state.free[:2], strict=True)  # rows, cols
    rows, cols = (
        one._replace(theta=own.theta, pooled_theta=own.pooled_theta) for one, own in pairs
    )
    return rest._replace(free=rest.free._replace(rows=rows, cols=cols))


def held(
    problem: Problem, state: State, over: Factored | None = None
) -> tuple[Problem, State, position.Held]:
    """The problem given the hyperparameters of a state, the rest, and what they determine.

    Args:
        problem: What is sampled.
        state: Whose hyperparameters are held.
        over: Its factors, where they are known already.
    """
    values = problem.parameters(state)
    over = over or all_factors(problem.spec, values, problem.arrays)
    pairs = zip(problem.fixed, values[:2], strict=True)
    fixed = Fixed(
        *(one._replace(theta=own.theta, pooled_theta=own.pooled_theta) for one, own in pairs)
    )
    given = dataclasses.replace(problem, fixed=fixed)
    return given, without(state), position.held(problem, values, over)


def free_values(free: Parameters) -> dict[str, Theta]:
    """All hyperparameters among free coordinates, by side and part."""
    return {
        f"{side} {part}": getattr(getattr(free, side), part)
        for side in ("rows", "cols")
        for part in PARTS
        if getattr(getattr(free, side), part)
    }


def flat(chains: State) -> Float[Array, "chains theta"]:
    """The free hyperparameters of every chain, as `widths` orders them."""
    return jax.vmap(lambda free: ravel_pytree(free_values(free))[0])(chains.free)


def widths(problem: Problem) -> Float[Array, " theta"]:
    """Widths of the first brackets before anything is known."""
    shapes = free_values(problem.template().free)
    return WIDTH * ravel_pytree(jax.tree.map(lambda x: jnp.ones(x.shape), shapes))[0]
