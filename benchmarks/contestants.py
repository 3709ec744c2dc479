"""Samplers as the benchmark runs them: in chunks of draws, each with its own warm-up.

All take the density in the same free coordinates. Our engines and their starts are those of
a fit. What the others are given is said where they are made.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from block import Block
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dpmf.inference import chains as runs
from dpmf.inference.problem import Problem
from dpmf.inference.start import starts
from dpmf.inference.sweep import members
from dpmf.model.state import State, White

CALM = 0.3  # white starts with this spread, as in a fit
NUTS_WARMUP = 50  # for its step size alone


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
    chains = runs.ENGINES[name](one, states, max(course.chunk, runs.WARM_CHUNK))
    chains.warm(key_warm[None], course.warmup, lambda stage, done, total: None)
    yield None
    number = 0
    while True:
        kept, _ = chains.sample(key_sample[None], number, course.chunk, 1)
        number += course.chunk
        yield jax.tree.map(lambda x: jnp.swapaxes(x[0, : course.chunk], 0, 1), kept)


def nuts(block: Block, course: Course, known: Known) -> Chunks:
    """NumPyro's, all chains in one program.

    From a cold start it does not end its warm-up within the time of this benchmark. So it is
    given draws of the posterior to start from and the variance of every coordinate, and only
    looks for its step size.
    """
    from numpyro.infer import MCMC, NUTS

    problem = block.problem
    kernel = NUTS(
        potential_fn=lambda position: -problem.log_density(problem.unflat(position)),
        inverse_mass_matrix=jnp.asarray(known.variance),
        adapt_mass_matrix=False,
        target_accept_prob=0.8,
    )

    def sampler(warmup: int, draws: int) -> MCMC:
        return MCMC(
            kernel, num_warmup=warmup, num_samples=draws, num_chains=course.chains,
            chain_method="vectorized", progress_bar=False,
        )  # fmt: skip

    first = sampler(course.warmup, 1)
    first.run(jr.key(course.seed), init_params=jax.vmap(flat)(known.states))
    jax.block_until_ready(first.last_state.z)
    yield None
    going, state = sampler(0, course.chunk), first.last_state
    unflat = jax.jit(jax.vmap(jax.vmap(problem.unflat)))
    while True:
        going.post_warmup_state = state
        going.run(state.rng_key)
        state = going.last_state
        yield unflat(going.get_samples(group_by_chain=True))


def member_slices(block: Block, course: Course, state: State) -> Chunks:
    """Elliptical slices of our `slice`, with all but white held as in a state."""

    def step(key, white: White) -> White:
        return members(key, block.problem, State(white, state.free))[0]

    return _of_white(step, course, state)


def one_ellipse(block: Block, course: Course, state: State) -> Chunks:
    """BlackJAX's elliptical slice of all functions at once, with all but white held."""
    from blackjax import elliptical_slice

    mean, unflat = ravel_pytree(state.white)

    def log_likelihood(position):
        there = State(unflat(position), state.free)
        return block.problem.log_density(there) + 0.5 * jnp.sum(position**2)

    sampler = elliptical_slice(
        log_likelihood, mean=jnp.zeros_like(mean), cov=jnp.ones(len(mean))
    )

    def step(key, white: White) -> White:
        here = sampler.init(ravel_pytree(white)[0])
        return unflat(sampler.step(key, here)[0].position)

    return _of_white(step, course, state)


def _of_white(step: Callable[[Any, White], White], course: Course, state: State) -> Chunks:
    key_start, key_run = jr.split(jr.key(course.seed))

    def begin(key) -> White:
        position, unflat = ravel_pytree(state.white)
        return unflat(CALM * jr.normal(key, position.shape))

    @partial(jax.jit, static_argnames="count")
    def advance(white: White, first: Array, count: int):
        def one(white, number):
            keys = jr.split(jr.fold_in(key_run, number), course.chains)
            moved = jax.vmap(step)(keys, white)
            return moved, moved

        return jax.lax.scan(one, white, first + jnp.arange(count))

    shape = (course.chains, course.chunk)
    everywhere = jax.tree.map(
        lambda x: jnp.broadcast_to(x, (*shape, *jnp.shape(x))), state.free
    )
    white, number = jax.vmap(begin)(jr.split(key_start, course.chains)), 0
    draws: Any = None
    while number < course.warmup:
        white, draws = advance(white, jnp.asarray(number), course.chunk)
        number += course.chunk
    jax.block_until_ready(white)
    yield None
    while True:
        white, draws = advance(white, jnp.asarray(number), course.chunk)
        number += course.chunk
        yield State(jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), draws), everywhere)


def flat(state: State) -> Float[Array, " dim"]:
    """A state as `Problem.unflat` takes it."""
    return ravel_pytree(state)[0]


def held(problem: Problem, state: State) -> Problem:
    """The problem with the kernel hyperparameters of a state."""
    from dataclasses import replace

    from dpmf.inference.hyperparameters import Hyperparameters

    values = jax.tree.map(np.asarray, problem.parameters(state))
    fixed = Hyperparameters.of(values, sigma=False).fixed(problem.spec)
    return replace(problem, fixed=fixed).prepared()
