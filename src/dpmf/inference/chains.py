"""Run the chains of one fit: warm up, freeze, sample in chunks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
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


Advance = Callable[[int, int], tuple[State, Any]]


def run(
    engine: str,
    problem: Problem,
    starts: State,
    sizes: Sizes,
    key: Key[Array, ""],
    report: Report,
) -> Draws:
    """Draws from the posterior, by either engine.

    Args:
        engine: "hmc" or "slice".
        problem: What is to be sampled.
        starts: One state per chain.
        sizes: Warm-up, kept draws, steps per kept draw.
        key: Random key; steps and chains fold their numbers into it.
        report: Told of every chunk.
    """
    require_finite(log_densities(problem, starts))
    key_warm, key_sample = jr.split(key)
    if engine == "hmc":
        chains, tuned = _warm_hmc(problem, starts, sizes.warmup, key_warm, report)
    else:
        chains, tuned = _warm_slice(problem, starts, sizes.warmup, key_warm, report)
    module: Any = hmc_engine if engine == "hmc" else slice_engine
    states, stats = _sampled(module, problem, chains, tuned, sizes, key_sample, report)
    return Draws(states, stats, {n: np.asarray(x) for n, x in module.named(tuned).items()})


def _warm_hmc(problem, starts, warmup, key, report):
    chains, adaptation = starts, hmc_engine.blank(problem, starts)
    done = 0
    for number, window in enumerate(windows(warmup)):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            chains, adaptation = hmc_engine.warm(
                problem,
                key,
                chains,
                adaptation,
                done,
                count,
                window.most,
                float(window.learn_length),
            )
            adaptation = hmc_engine.set_brackets(adaptation, float(count))
            done += count
            jax.block_until_ready(chains)  # or progress would run ahead of the work
            report("warm-up", done, warmup)
        if number == 0 and done < warmup:
            adaptation = hmc_engine.blank(problem, chains)._replace(widths=adaptation.widths)
        elif window.close:
            adaptation = hmc_engine.close_window(adaptation)
    return chains, hmc_engine.adapt.frozen(adaptation)


def _warm_slice(problem, starts, warmup, key, report):
    chains, widths = starts, slice_engine.blank(problem)
    done = 0
    for window in windows(warmup):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            chains, widths = slice_engine.warm(problem, key, chains, widths, done, count)
            done += count
            report("warm-up", done, warmup)
    return chains, widths


def _sampled(module, problem, chains, tuned, sizes, key, report):
    """Kept draws, copied to the host chunk by chunk."""
    size = min(CHUNK, sizes.draws)
    states, stats = None, {}
    done = 0
    while done < sizes.draws:
        count = min(size, sizes.draws - done)
        first = done * sizes.thin
        chains, kept, info = module.sample(
            problem, key, chains, tuned, first, count, sizes.thin, size
        )
        if states is None:
            states = jax.tree.map(lambda x: _room(x, sizes.draws), kept)
            stats = {name: _room(x, sizes.draws) for name, x in info._asdict().items()}
        jax.tree.map(lambda all_, x, d=done, c=count: _put(all_, x, d, c), states, kept)
        for name, x in info._asdict().items():
            _put(stats[name], x, done, count)
        done += count
        report("sampling", done, sizes.draws)
    return states, stats


def _room(chunk: Array, draws: int) -> np.ndarray:
    """Space for all draws of an array that comes as (draws, chains, ...)."""
    return np.empty((chunk.shape[1], draws, *chunk.shape[2:]), np.float64)


def _put(all_: np.ndarray, chunk: Array, done: int, count: int) -> None:
    all_[:, done : done + count] = np.moveaxis(np.asarray(chunk[:count]), 0, 1)
