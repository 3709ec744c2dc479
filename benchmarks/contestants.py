"""Samplers as the benchmark runs them: in chunks of draws, each with its own warm-up.

All sample the same density. Our engines and their starts are those of a fit, in their own
coordinates; the others move in the free coordinates of the model. What they are given is said
where they are made.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from blackjax.optimizers.dual_averaging import dual_averaging
from block import Block
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dpmf.inference import engines
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.inference.problem import Problem
from dpmf.inference.start import CALM, starts
from dpmf.inference.sweep import members
from dpmf.model.state import State, White
from dpmf.samplers import hmc

SHORT = 10  # leapfrog steps of the trajectories that a step size is sought with
ACCEPTED = 0.8  # of them: NumPyro's own target


class Course(NamedTuple):
    """How a sampler is run."""

    chains: int
    warmup: int
    chunk: int  # kept draws between two looks at the clock
    seed: int


# Yields None after the warm-up, then states with axes (chains, draws).
Chunks = Iterator[State | None]


class Known(NamedTuple):
    """What a converged run knows of the posterior, in free coordinates."""

    states: State  # one of each chain
    variance: Float[np.ndarray, " dim"]  # within chains


def engine(name: str, block: Block, course: Course) -> Chunks:
    """Ours, from the starts of a fit."""
    key_start, key_warm, key_sample = jr.split(jr.key(course.seed), 3)
    keys = jr.split(key_start, course.chains)
    begun = starts(block.problem, jnp.asarray(block.centre), keys)
    one, states = (jax.tree.map(lambda x: x[None], part) for part in (block.problem, begun))
    chains = engines.ENGINES[name](one, states, max(course.chunk, engines.WARM_CHUNK))
    chains.warm(key_warm[None], course.warmup, lambda stage, done, total: None)
    yield None
    number = 0
    while True:
        kept, _ = chains.sample(key_sample[None], number, course.chunk, 1)
        number += course.chunk
        yield jax.tree.map(lambda x: jnp.swapaxes(x[0, : course.chunk], 0, 1), kept)


def nuts(block: Block, course: Course, known: Known) -> Chunks:
    """NumPyro's, all chains in one program.

    From a cold start it would spend the time of this benchmark on its warm-up: its step can
    take twenty seconds. So it is given draws of the posterior to start from, the variance of
    every coordinate, and a step size that was sought with short trajectories.
    """
    from numpyro.infer import NUTS

    problem = block.problem
    key_warm, key_run = jr.split(jr.key(course.seed))

    def log_density(position):
        return problem.log_density(problem.unflat(position))

    positions, step_size = _warmed(log_density, known, problem, key_warm, course.warmup)
    kernel = NUTS(
        potential_fn=lambda position: -log_density(position),
        inverse_mass_matrix=jnp.asarray(known.variance),
        step_size=float(step_size),
        adapt_mass_matrix=False,
        adapt_step_size=False,
    )
    state = kernel.init(jr.split(key_run, course.chains), 0, init_params=positions)
    state = jax.block_until_ready(state)
    yield None

    @jax.jit
    def advance(state):
        def one(state, _):
            state = kernel.sample(state, (), {})
            return state, state.z

        state, positions = jax.lax.scan(one, state, length=course.chunk)
        return state, jax.vmap(jax.vmap(problem.unflat))(jnp.swapaxes(positions, 0, 1))

    while True:
        state, states = advance(state)
        yield states


def _warmed(log_density, known: Known, problem: Problem, key, steps: int):
    """Where chains are after a search for their step size, and the step size."""
    variance = jnp.asarray(known.variance)
    begin, update, final = dual_averaging()

    def one(carry, key):
        positions, averaging = carry
        tuning = hmc.Tuning(jnp.exp(averaging.log_x), variance, jnp.ones(()))
        keys = jr.split(key, len(positions))
        positions, info = jax.vmap(
            lambda key, x: hmc.step(key, x, log_density, tuning, jnp.asarray(SHORT))
        )(keys, positions)
        return (positions, update(averaging, ACCEPTED - jnp.mean(info.acceptance))), None

    @jax.jit
    def search(positions):
        averaging = jax.tree.map(lambda x: jnp.asarray(x, float), begin(0.1))
        (positions, last), _ = jax.lax.scan(one, (positions, averaging), jr.split(key, steps))
        return positions, final(last)

    return search(jax.vmap(problem.flat)(known.states))


def member_slices(block: Block, course: Course, state: State) -> Chunks:
    """Elliptical slices of our `slice`, with all but members' white held as in a state."""

    def step(key, own: Members) -> Members:
        return _own(members(key, block.problem, _with(state, own))[0])

    return _of_white(step, course, state)


def one_ellipse(block: Block, course: Course, state: State) -> Chunks:
    """BlackJAX's elliptical slice of all members at once, with all else held."""
    from blackjax import elliptical_slice

    here, unflat = ravel_pytree(_own(state.white))

    def log_likelihood(position):
        there = _with(state, unflat(position))
        return block.problem.log_density(there) + 0.5 * jnp.sum(position**2)

    sampler = elliptical_slice(
        log_likelihood, mean=jnp.zeros_like(here), cov=jnp.ones(len(here))
    )

    def step(key, own: Members) -> Members:
        begun = sampler.init(ravel_pytree(own)[0])
        return unflat(sampler.step(key, begun)[0].position)

    return _of_white(step, course, state)


Members = tuple[Float[Array, "rank rows inputs"], Float[Array, "rank cols inputs"]]


def _own(white: White) -> Members:
    return white.rows, white.cols


def _with(state: State, own: Members) -> State:
    rows, cols = own
    return state._replace(white=state.white._replace(rows=rows, cols=cols))


def _of_white(step: Callable[[Any, Members], Members], course: Course, state: State) -> Chunks:
    key_start, key_run = jr.split(jr.key(course.seed))

    def begin(key) -> Members:
        position, unflat = ravel_pytree(_own(state.white))
        return unflat(CALM * jr.normal(key, position.shape))

    @jax.jit
    def advance(own: Members, first: Array):
        def one(own, number):
            keys = jr.split(jr.fold_in(key_run, number), course.chains)
            moved = jax.vmap(step)(keys, own)
            return moved, moved

        own, draws = jax.lax.scan(one, own, first + jnp.arange(course.chunk))
        by_chain = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), draws)
        return own, jax.vmap(jax.vmap(partial(_with, state)))(by_chain)

    own, number = jax.vmap(begin)(jr.split(key_start, course.chains)), 0
    while number < course.warmup:
        own, _ = advance(own, jnp.asarray(number))
        number += course.chunk
    jax.block_until_ready(own)
    yield None
    while True:
        own, states = advance(own, jnp.asarray(number))
        number += course.chunk
        yield states


def held(problem: Problem, state: State) -> Problem:
    """The problem with the kernel hyperparameters of a state."""
    values = jax.tree.map(np.asarray, problem.parameters(state))
    fixed = Hyperparameters.of(values, sigma=False).fixed(problem.spec)
    return replace(problem, fixed=fixed).prepared()
