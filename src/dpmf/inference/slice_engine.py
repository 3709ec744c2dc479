"""The `slice` engine: the paper's sweeps, all chains in step."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from dpmf.inference.adaptation import NARROWEST, WIDEST
from dpmf.inference.problem import Problem
from dpmf.inference.sweep import Info, sweep
from dpmf.model.state import State

WIDTH = 1.0  # of every free coordinate's first step, in prior widths
PER_MOVE = 3.0  # a width of three average moves brackets most slices at once


class Stats(NamedTuple):
    """What is kept of each sweep besides the state."""

    log_density: Float[Array, " chains"]
    shrinks: Float[Array, " chains"]
    evaluations: Float[Array, " chains"]
    stayed: Float[Array, " chains"]


def blank(problem: Problem) -> Float[Array, " coordinates"]:
    """Widths before anything is known."""
    free = jax.tree.map(lambda x: jnp.zeros(x.shape), problem.template().free)
    return jnp.full_like(ravel_pytree(free)[0], WIDTH)


def named(widths: Float[Array, "... coordinates"]) -> dict[str, Array]:
    """What was learned, to keep beside the draws."""
    return {"widths": widths}


def learned(
    moved: Float[Array, "*problems coordinates"], sweeps: int
) -> Float[Array, "*problems coordinates"]:
    """Widths from the distance that each coordinate moved in some sweeps."""
    return jnp.clip(PER_MOVE * moved / sweeps, NARROWEST, WIDEST)


def advance(
    problem: Problem,
    key: Key[Array, ""],
    chains: State,
    widths: Float[Array, " coordinates"],
    first: Int[Array, ""],
    count: Int[Array, ""],
    thin: Int[Array, ""],
    size: int,
) -> tuple[State, Float[Array, " coordinates"], State, Stats]:
    """Up to `size` kept draws, `thin` sweeps apart; entries past `count` are empty.

    Returns:
        The last states; how far each coordinate moved, from which widths may be learned
        before the next call, but never after warm-up; the kept states; and their stats.
    """
    number_of = _free(chains).shape[0]
    states = jax.tree.map(lambda x: jnp.zeros((size, *x.shape)), chains)
    stats = Stats(*(jnp.zeros((size, number_of)) for _ in Stats._fields))
    nothing = Info(*(jnp.zeros(number_of) for _ in Info._fields))

    def keep(i, carry):
        chains, moved, states, stats = carry

        def one(j, carry):
            chains, moved, total = carry
            after, info = _sweep(problem, key, chains, widths, first + i * thin + j)
            moved += jnp.mean(jnp.abs(_free(after) - _free(chains)), axis=0)
            return after, moved, jax.tree.map(jnp.add, total, info)

        chains, moved, total = jax.lax.fori_loop(0, thin, one, (chains, moved, nothing))
        density = jax.vmap(problem.log_density)(chains)
        latest = Stats(density, total.shrinks / thin, total.evaluations, total.stayed)
        put = partial(jax.tree.map, lambda all_, x: all_.at[i].set(x))
        return chains, moved, put(states, chains), put(stats, latest)

    start = (chains, jnp.zeros_like(widths), states, stats)
    return jax.lax.fori_loop(0, count, keep, start)


def _sweep(problem, key, chains, widths, number) -> tuple[State, Info]:
    """One sweep of every chain; keys are folded from the sweep's and the chain's numbers."""
    key_sweep = jr.fold_in(key, number)
    indices = jnp.arange(_free(chains).shape[0])

    def one(index, state):
        return sweep(jr.fold_in(key_sweep, index + 1), problem, state, widths)

    return jax.vmap(one)(indices, chains)


def _free(chains: State) -> Float[Array, "chains coordinates"]:
    return jax.vmap(lambda free: ravel_pytree(free)[0])(chains.free)
