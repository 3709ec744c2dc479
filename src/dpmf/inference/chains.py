"""Run chains: warm up, freeze, sample in chunks; of one problem, or of many of one shape.

Many problems run as one program, each with its own chains and its own tuning. Adaptation
never looks beyond one problem, so that in a backtest nothing flows from a later cutoff to
an earlier one.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Key

from dpmf.inference.engines import ENGINES, WARM_CHUNK
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Display, Report
from dpmf.inference.start import log_densities, require_finite
from dpmf.model.state import State

CHUNK = 50  # kept draws per call: progress is shown, and memory is bounded, by chunk
CHUNK_BYTES = 2**28  # of the states of one call, where that is fewer

Keep = Callable[[Problem, State], Any]  # what is kept of a state


class Sizes(NamedTuple):
    """How long to run."""

    warmup: int
    draws: int
    thin: int


class Draws(NamedTuple):
    """What the chains left behind, on the host; leading axes (chains, draws)."""

    states: State
    stats: dict[str, np.ndarray]
    tuning: dict[str, np.ndarray]


class Kept(NamedTuple):
    """What the chains of many problems left behind; leading axes (problems, chains, draws)."""

    values: Any
    stats: dict[str, np.ndarray]
    tuning: dict[str, np.ndarray]  # of each problem
    last: State  # of each chain
    tuned: Any  # of each problem, as `run_many` takes it


def run(
    engine: str,
    problem: Problem,
    starts: State,
    sizes: Sizes,
    key: Key[Array, ""],
    report: Report,
) -> Draws:
    """Draws from one posterior, by either engine.

    Args:
        engine: "hmc" or "slice".
        problem: What is to be sampled.
        starts: One state per chain.
        sizes: Warm-up, kept draws, steps per kept draw.
        key: Random key; steps and chains fold their numbers into it.
        report: Told of every chunk.
    """
    one, states = (jax.tree.map(lambda x: x[None], part) for part in (problem, starts))
    kept = run_many(engine, one, states, sizes, key[None], whole_state, report)
    return Draws(*jax.tree.map(lambda x: x[0], kept[:3]))


def run_many(
    engine: str,
    problems: Problem,
    states: State,
    sizes: Sizes,
    keys: Key[Array, " problems"],
    keep: Keep,
    report: Report,
    tuned: Any = None,
) -> Kept:
    """Draws from the posteriors of many problems.

    Args:
        engine: "hmc" or "slice".
        problems: One problem whose arrays have an axis in front.
        states: Starting states, with axes (problems, chains).
        sizes: Warm-up, kept draws, steps per kept draw.
        keys: One for each problem.
        keep: Applied to every kept state; its result is all that stays of the draw.
        report: Told of every chunk.
        tuned: What earlier problems have learned, from which warm-up goes on: each from one
            that knew no more than it does itself.
    """
    require_finite(jax.vmap(log_densities)(problems, states).reshape(-1))
    problems = _prepared(problems)
    key_warm, key_sample = jnp.swapaxes(jax.vmap(jr.split)(keys), 0, 1)
    size = min(max(min(CHUNK, sizes.draws), WARM_CHUNK), _most(states))
    chains = ENGINES[engine](problems, states, size, tuned)
    chains.warm(key_warm, sizes.warmup, report)
    room = None
    done = 0
    while done < sizes.draws:
        count = min(size, sizes.draws - done)
        kept, stats = chains.sample(key_sample, done * sizes.thin, count, sizes.thin)
        chunk = (_kept(keep)(problems, kept), stats)
        if room is None:
            room = jax.tree.map(lambda x: _room(x, sizes.draws), chunk)
        jax.tree.map(lambda all_, x, d=done, c=count: _put(all_, x, d, c), room, chunk)
        done += count
        report("sampling", done, sizes.draws)
        if isinstance(report, Display):  # which is drawn of one problem alone
            report.agree(room[1].log_density[0, :, :done])
    assert room is not None
    values, stats = room
    learned, last = jax.tree.map(np.asarray, (chains.tuning(), chains.states))
    return Kept(values, stats._asdict(), learned, last, chains.tuned)


def learned_shapes(engine: str, problems: Problem, states: State) -> Any:
    """The shapes of what chains learn: `tuned` of their `Kept`."""
    return jax.eval_shape(lambda p, s: ENGINES[engine](p, s, 1).tuned, problems, states)


def whole_state(problem: Problem, state: State) -> State:
    """Keep everything."""
    return state


@lru_cache(maxsize=8)  # the same choice again is not compiled again
def _kept(keep: Keep):
    if keep is whole_state:
        return lambda problems, states: states

    def each(problem, states):
        return jax.lax.map(jax.vmap(partial(keep, problem)), states)

    return jax.jit(jax.vmap(each))


_prepared = jax.jit(jax.vmap(Problem.prepared))


def _most(states: State) -> int:
    """How many states of all chains one call may hold; warm-up keeps none."""
    each = sum(8 * leaf.size for leaf in jax.tree.leaves(states))
    return max(CHUNK_BYTES // max(each, 1), 1)


def _room(chunk: Array, draws: int) -> np.ndarray:
    """Space for all draws of an array that comes as (problems, draws, chains, ...)."""
    problems, _, chains, *rest = chunk.shape
    return np.empty((problems, chains, draws, *rest), np.float64)


def _put(all_: np.ndarray, chunk: Array, done: int, count: int) -> None:
    all_[:, :, done : done + count] = np.moveaxis(np.asarray(chunk[:, :count]), 1, 2)
