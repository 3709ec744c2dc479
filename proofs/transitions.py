"""One transition of either engine on one problem, its tuning fixed beforehand."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array

from dpmf.inference import hmc_engine, slice_engine, sweep, theta
from dpmf.inference.adaptation import Tuning
from dpmf.inference.problem import Problem
from dpmf.model.simulate import simulate_state, simulate_values
from dpmf.model.state import State
from dpmf.samplers import hmc
from proofs.league import with_values

Transition = Callable[[Any, Any, Problem, State], State]  # shared key, own key, problem, state

WIDTH = 2.0  # of the first bracket, in prior widths
STEPS = 12  # leapfrog steps of a trajectory
LARGEST, SMALLEST = 0.35, 0.01  # step size, drawn anew for each trajectory


def by_slice(width: float = WIDTH) -> Transition:
    """One sweep."""

    def transition(shared, key, problem: Problem, state: State) -> State:
        return sweep.sweep(key, problem, state, _widths(problem, width))[0]

    return transition


def members_only(shared, key, problem: Problem, state: State) -> State:
    """The part of a sweep that moves functions; it leaves the posterior invariant too."""
    return state._replace(white=sweep.members(key, problem, state)[0])


def free_only(width: float = WIDTH) -> Transition:
    """The part of a sweep that moves free coordinates."""

    def transition(shared, key, problem: Problem, state: State) -> State:
        return sweep._free(key, problem, state, _widths(problem, width))[0]

    return transition


def _widths(problem: Problem, width: float) -> Array:
    return jnp.full_like(slice_engine.blank(problem), width)


def by_hmc(steps: int = STEPS) -> Transition:
    """One step; the size of its leapfrog steps is drawn from a wide range.

    Small steps serve problems with little noise, large ones all the others.
    """

    def transition(shared, key, problem: Problem, state: State) -> State:
        size = LARGEST * (SMALLEST / LARGEST) ** jr.uniform(shared)
        variance = jnp.ones_like(hmc_engine._white(problem))
        trajectory = hmc.Tuning(size, variance, jnp.ones(()))
        tuning = Tuning(trajectory, WIDTH * theta.widths(problem))
        return hmc_engine.step(key, problem, state, tuning, jnp.asarray(steps))[0]

    return transition


ENGINES = {"slice": by_slice, "hmc": by_hmc}


@partial(jax.jit, static_argnames=("chains",))
def drawn(key, problem: Problem, chains: int) -> tuple[State, Array]:
    """States and values of `chains` problems, from their joint prior."""

    def one(key):
        key_state, key_values = jr.split(key)
        state = simulate_state(problem.spec, problem.arrays, key_state)
        return state, simulate_values(problem.spec, state, problem.arrays, key_values)

    return jax.vmap(one)(jr.split(key, chains))


@jax.jit
def redrawn(key, problem: Problem, states: State) -> Array:
    """New values given each state."""
    keys = jr.split(key, jax.tree.leaves(states)[0].shape[0])
    return jax.vmap(lambda k, s: simulate_values(problem.spec, s, problem.arrays, k))(
        keys, states
    )


@partial(jax.jit, static_argnames=("transition",))
def advanced(
    key, problem: Problem, values: Array, states: State, count: Array, transition: Transition
) -> State:
    """Every chain moved `count` times given its own values, each with its own key."""
    chains = jax.tree.leaves(states)[0].shape[0]

    def one(i, states):
        shared, key_i = jr.split(jr.fold_in(key, i))

        def each(key, values, state):
            return transition(shared, key, with_values(problem, values), state)

        return jax.vmap(each)(jr.split(key_i, chains), values, states)

    return jax.lax.fori_loop(0, count, one, states)
