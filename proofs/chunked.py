"""Samplers that run in chunks of draws, and can stop between any two and go on later."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree

from dpmf.inference.engines import WARM_CHUNK, Hmc, Slice
from dpmf.inference.problem import Problem
from dpmf.inference.start import start
from dpmf.model.state import State


class Course(NamedTuple):
    """How a sampler is run."""

    chains: int
    warmup: int
    chunk: int  # kept draws between two looks at the clock
    centre: float  # of y where chains start
    seed: int


# What a sampler yields: all that it needs to go on, and the latest draws, with axes
# (chains, draws); None after the warm-up.
Chunks = Iterator[tuple[Any, State | None]]


def hmc(problem: Problem, course: Course, saved: Any) -> Chunks:
    """Our default engine."""
    return _engine(Hmc, problem, course, saved)


def slices(problem: Problem, course: Course, saved: Any) -> Chunks:
    """The paper's."""
    return _engine(Slice, problem, course, saved)


def _engine(engine: Any, problem: Problem, course: Course, saved: Any) -> Chunks:
    """Warm up, freeze, then chunks of draws; `saved` has an axis for the one problem."""
    key_start, key_warm, key_sample = jr.split(jr.key(course.seed), 3)
    starts = _starts(problem, course, key_start)
    one, states = (jax.tree.map(lambda x: x[None], part) for part in (problem, starts))
    chains = engine(one, states, max(course.chunk, WARM_CHUNK))
    if saved is None:
        chains.warm(key_warm[None], course.warmup, _silent)
        saved = (0, chains.states, chains.tuned)
        yield saved, None
    number, (chains.states, chains.tuned) = int(saved[0]), jax.tree.map(jnp.asarray, saved[1:])
    while True:
        kept, _ = chains.sample(key_sample[None], number, course.chunk, 1)
        number += course.chunk
        draws = jax.tree.map(lambda x: jnp.swapaxes(x[0, : course.chunk], 0, 1), kept)
        yield (number, chains.states, chains.tuned), draws


def nuts(problem: Problem, course: Course, saved: Any) -> Chunks:
    """NumPyro's sampler on the density in free coordinates, all chains in one program."""
    from numpyro.infer import MCMC, NUTS

    kernel = NUTS(
        potential_fn=lambda position: -problem.log_density(problem.unflat(position)),
        dense_mass=False,
        target_accept_prob=0.8,
    )

    def sampler(warmup: int, draws: int) -> MCMC:
        return MCMC(
            kernel, num_warmup=warmup, num_samples=draws, num_chains=course.chains,
            chain_method="vectorized", progress_bar=False,
        )  # fmt: skip

    def positions(states: State):
        flat = jax.vmap(lambda state: ravel_pytree(state)[0])(states)
        return flat if course.chains > 1 else flat[0]  # NumPyro drops the axis of one chain

    key_start, key_run = jr.split(jr.key(course.seed))
    if saved is None:
        first = sampler(course.warmup, 1)
        first.run(key_run, init_params=positions(_starts(problem, course, key_start)))
        saved = first.last_state
        yield _plain(saved), None
    else:
        # A state of the same kind, made without work, shows which of its parts are keys.
        fresh = sampler(0, 1)
        fresh.run(key_run, init_params=jnp.zeros_like(saved.z))
        saved = _keyed(jax.tree.map(jnp.asarray, saved), fresh.last_state)
    going = sampler(0, course.chunk)
    unflat = jax.jit(jax.vmap(jax.vmap(problem.unflat)))
    while True:
        going.post_warmup_state = saved
        going.run(saved.rng_key)
        saved = going.last_state
        yield _plain(saved), unflat(going.get_samples(group_by_chain=True))


def _starts(problem: Problem, course: Course, key) -> State:
    keys, centre = jr.split(key, course.chains), jnp.asarray(course.centre)
    return jax.jit(jax.vmap(lambda k: start(problem, centre, k)))(keys)


def _silent(stage: str, done: int, total: int) -> None:
    pass


def _plain(state: Any) -> Any:
    """A sampler's state whose random keys are plain arrays."""
    plain = jax.tree.map(lambda x: jr.key_data(x) if _is_key(x) else x, state)
    return jax.tree.map(np.asarray, plain)


def _keyed(state: Any, like: Any) -> Any:
    """The keys of `like` made keys again."""
    return jax.tree.map(lambda x, y: jr.wrap_key_data(x) if _is_key(y) else x, state, like)


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
