"""One transition of either engine on one problem, its tuning fixed beforehand."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr

from dpmf.inference import level, slice_engine
from dpmf.inference.problem import Problem
from dpmf.inference.sweep import sweep
from dpmf.model.state import State
from dpmf.samplers import hmc

Transition = Callable[[Any, Any, Problem, State], State]  # shared key, own key, problem, state

WIDTH = 2.0  # of the first bracket, in prior widths
STEPS = 12  # leapfrog steps of a trajectory
LARGEST, SMALLEST = 0.35, 0.03  # step size, drawn anew for each trajectory


def by_slice(width: float = WIDTH) -> Transition:
    """One sweep."""

    def transition(shared, key, problem: Problem, state: State) -> State:
        widths = jnp.full_like(slice_engine.blank(problem), width)
        return sweep(key, problem, state, widths)[0]

    return transition


def by_hmc(steps: int = STEPS) -> Transition:
    """One trajectory; its step size is drawn from a wide range, whatever the state.

    Small steps serve problems with little noise, large ones all the others.
    """

    def transition(shared, key, problem: Problem, state: State) -> State:
        def density(position):
            return level.log_density(problem, problem.unflat(position))

        start = hmc.init(problem.flat(level.levelled(problem, state)), density)
        power = jr.uniform(shared)
        size = LARGEST * (SMALLEST / LARGEST) ** power
        tuning = hmc.Tuning(size, jnp.ones_like(start.position), jnp.ones(()))
        moved, _ = hmc.step(key, start, density, tuning, jnp.asarray(steps))
        return level.free_state(problem, problem.unflat(moved.position))

    return transition


ENGINES = {"slice": by_slice, "hmc": by_hmc}


def repeated(
    key, problems: Problem, states: State, count: int, transition: Transition, axes: Any
) -> State:
    """Every chain moved `count` times, each with its own key.

    Args:
        key: Random key.
        problems: One problem, or one per chain where `axes` says so.
        states: One per chain.
        count: Number of transitions.
        transition: Of one chain.
        axes: As `in_axes` of the problem.
    """
    number = jax.tree.leaves(states)[0].shape[0]

    def one(i, states):
        key_i = jr.fold_in(key, i)
        keys = jr.split(jr.fold_in(key_i, 1), number)
        shared = jr.fold_in(key_i, 0)
        return jax.vmap(lambda k, p, s: transition(shared, k, p, s), in_axes=(0, axes, 0))(
            keys, problems, states
        )

    return jax.lax.fori_loop(0, count, one, states)
