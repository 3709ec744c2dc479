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

from dpmf.inference import hmc_engine, slice_engine
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report
from dpmf.inference.schedule import windows
from dpmf.inference.start import log_densities, require_finite
from dpmf.model.state import State

CHUNK = 50  # kept draws per call: progress is shown, and memory is bounded, by chunk
WARM_CHUNK = 25  # steps of warm-up per call

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
    require_finite(log_densities(problem, starts))
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
    """
    key_warm, key_sample = jnp.swapaxes(jax.vmap(jr.split)(keys), 0, 1)
    warmed = _warm_hmc if engine == "hmc" else _warm_slice
    states, tuned = warmed(problems, states, sizes.warmup, key_warm, report)
    module: Any = hmc_engine if engine == "hmc" else slice_engine
    size = min(CHUNK, sizes.draws)
    sample = _sampler(module, keep, size)
    room = None
    done = 0
    while done < sizes.draws:
        count = min(size, sizes.draws - done)
        states, *chunk = sample(
            problems, key_sample, states, tuned, done * sizes.thin, count, sizes.thin
        )
        if room is None:
            room = jax.tree.map(lambda x: _room(x, sizes.draws), chunk)
        jax.tree.map(lambda all_, x, d=done, c=count: _put(all_, x, d, c), room, chunk)
        done += count
        report("sampling", done, sizes.draws)
    assert room is not None
    values, stats = room
    learned = jax.tree.map(np.asarray, module.named(tuned))
    return Kept(values, stats._asdict(), learned, jax.tree.map(np.asarray, states))


def whole_state(problem: Problem, state: State) -> State:
    """Keep everything."""
    return state


@lru_cache(maxsize=8)  # the same choice again is not compiled again
def _sampler(module: Any, keep: Keep, size: int):
    def each(problem, key, states, tuned, first, count, thin):
        states, kept, stats = module.sample(
            problem, key, states, tuned, first, count, thin, size
        )
        return states, jax.lax.map(jax.vmap(partial(keep, problem)), kept), stats

    return jax.jit(jax.vmap(each, in_axes=(0, 0, 0, 0, None, None, None)))


_blank = jax.jit(jax.vmap(hmc_engine.blank))
_steps = jax.jit(jax.vmap(hmc_engine.warm, in_axes=(0, 0, 0, 0, None, None, None, None)))
_brackets = jax.jit(jax.vmap(hmc_engine.adapt.brackets_set, in_axes=(0, None)))
_closed = jax.jit(jax.vmap(hmc_engine.adapt.window_closed))
_frozen = jax.jit(jax.vmap(hmc_engine.adapt.frozen))


def _warm_hmc(problems, states, warmup, keys, report, most: int = hmc_engine.MOST):
    adaptation = _blank(problems, states)
    done = 0
    for number, window in enumerate(windows(warmup)):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            states, adaptation = _steps(
                problems,
                keys,
                states,
                adaptation,
                done,
                count,
                min(window.most, most),
                float(window.learn_length),
            )
            adaptation = _brackets(adaptation, float(count))
            done += count
            jax.block_until_ready(states)  # or progress would run ahead of the work
            report("warm-up", done, warmup)
        if number == 0 and done < warmup:
            adaptation = _blank(problems, states)._replace(widths=adaptation.widths)
        elif window.close:
            adaptation = _closed(adaptation)
    return states, _frozen(adaptation)


_sweeps = jax.jit(jax.vmap(slice_engine.warm, in_axes=(0, 0, 0, 0, None, None)))


def _warm_slice(problems, states, warmup, keys, report):
    widths = jax.vmap(slice_engine.blank)(problems)
    done = 0
    for window in windows(warmup):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            states, widths = _sweeps(problems, keys, states, widths, done, count)
            done += count
            jax.block_until_ready(states)
            report("warm-up", done, warmup)
    return states, widths


def _room(chunk: Array, draws: int) -> np.ndarray:
    """Space for all draws of an array that comes as (problems, draws, chains, ...)."""
    problems, _, chains, *rest = chunk.shape
    return np.empty((problems, chains, draws, *rest), np.float64)


def _put(all_: np.ndarray, chunk: Array, done: int, count: int) -> None:
    all_[:, :, done : done + count] = np.moveaxis(np.asarray(chunk[:, :count]), 1, 2)
