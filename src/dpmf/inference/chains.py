"""Run chains: warm up, freeze, sample in chunks; of one problem, or of many of one shape.

Many problems run as one program, each with its own chains and its own tuning. Adaptation
never looks beyond one problem, so that in a backtest nothing flows from a later cutoff to
an earlier one.
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Key

from dpmf.collection import no_collection
from dpmf.inference.checkpoint import Checkpoint, Place, Reached, Unkept, restored
from dpmf.inference.engines import ENGINES, WARM_CHUNK
from dpmf.inference.free_memory import give_back
from dpmf.inference.identity import digest
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Display, Report
from dpmf.inference.room import Room
from dpmf.inference.start import log_densities, require_finite
from dpmf.model.state import State

CHUNK = 50  # kept draws per call: progress is shown, and memory is bounded, by chunk
# Bytes of the states of one call, where that is fewer. A call to a GPU has to be worth it.
CHUNK_BYTES, ON_GPU = 2**26, 2**28

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

    room: Room  # its tree: what `keep` made of every draw, and stats
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
    checkpoint: Place | None = None,
) -> Draws:
    """Draws from one posterior, by either engine.

    Args:
        engine: "hmc" or "slice".
        problem: What is to be sampled.
        starts: One state per chain.
        sizes: Warm-up, kept draws, steps per kept draw.
        key: Random key; steps and chains fold their numbers into it.
        report: Told of every chunk.
        checkpoint: As for `run_many`.
    """
    one, states = (jax.tree.map(lambda x: x[None], part) for part in (problem, starts))
    kept = run_many(
        engine, one, states, sizes, key[None], whole_state, report, checkpoint=checkpoint
    )
    values, stats = kept.room.tree
    found = (values, stats._asdict(), kept.tuning)
    return Draws(*jax.tree.map(lambda x: x[0], found))


def run_many(
    engine: str,
    problems: Problem,
    states: State,
    sizes: Sizes,
    keys: Key[Array, " problems"],
    keep: Keep,
    report: Report,
    tuned: Any = None,
    checkpoint: Place | None = None,
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
        checkpoint: Where the run is kept, and goes on from if it was stopped. Its draws stay
            there, and are read when they are looked at.
    """
    size = min(max(min(CHUNK, sizes.draws), WARM_CHUNK), _most(states))
    with ExitStack() as compiling:  # which the first call ends
        compiling.callback(give_back)  # what the compiler needs no more
        compiling.enter_context(no_collection())
        prepared = _prepared(problems)
        shapes = _shapes(engine, keep, prepared, states, size, sizes.draws)
        record: Unkept | Checkpoint
        if checkpoint is None:
            record = Unkept(shapes)
        else:
            task = _task(engine, problems, states, sizes, keys, keep, size) | checkpoint.task
            record = Checkpoint(checkpoint.folder, task, shapes, size)
        with record:
            if record.found is None:
                require_finite(jax.vmap(log_densities)(problems, states).reshape(-1))
            key_warm, key_sample = jnp.swapaxes(jax.vmap(jr.split)(keys), 0, 1)
            chains = ENGINES[engine](prepared, states, size, tuned)

            def reached(stage: str, steps: int, total: int) -> None:
                compiling.close()
                record.reached(stage, steps, chains.state)
                report(stage, steps, total)

            warmed, done = _gone_on(chains, record.found, sizes, report)
            if warmed is not None:
                chains.warm(key_warm, sizes.warmup, reached, after=warmed)
            while done < sizes.draws:
                count = min(size, sizes.draws - done)
                kept, stats = chains.sample(key_sample, done * sizes.thin, count, sizes.thin)
                record.room.put((_kept(keep)(prepared, kept), stats), done, count)
                done += count
                reached("sampling", done, sizes.draws)
                if isinstance(report, Display):  # which is drawn of one problem alone
                    report.agree(record.room.tree[1].log_density[0, :, :done])
    learned, last = jax.tree.map(np.asarray, (chains.tuning(), chains.states))
    return Kept(record.room, learned, last, chains.tuned)


def _gone_on(chains, found: Reached | None, sizes: Sizes, report) -> tuple[int | None, int]:
    """Take chains to where they were: steps of warm-up (None: all of it), and kept draws."""
    if found is None:
        return 0, 0
    chains.state = restored(chains.state, found)
    sampling = found.stage == "sampling"
    report(found.stage, found.done, sizes.draws if sampling else sizes.warmup)
    return (None, found.done) if sampling else (found.done, 0)


def _task(engine, problems: Problem, states, sizes, keys, keep, size) -> dict[str, Any]:
    """All that decides the draws, but for what a caller knows better."""
    number, chains = jax.tree.leaves(states)[0].shape[:2]
    return {
        "engine": engine,
        "spec": digest(json.dumps(problems.spec.to_dict(), sort_keys=True)),
        "data": digest(problems.arrays),
        "hyperparameters": digest(problems.fixed),
        "seed": jr.key_data(keys).tolist(),
        "chains": chains,
        **sizes._asdict(),
        "layout": [number, size, WARM_CHUNK],  # problems side by side, and lengths of chunks
        "kept": getattr(keep, "__name__", repr(keep)),
    }


def _shapes(engine: str, keep: Keep, problems, states: State, size: int, draws: int) -> Any:
    """Shapes of what is kept, with axes (problems, chains, draws, ...)."""
    chunk = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((x.shape[0], size, *x.shape[1:]), x.dtype), states
    )
    values = jax.eval_shape(_kept(keep), problems, chunk)
    first, stats = jax.tree.leaves(chunk)[0], ENGINES[engine].stats
    each = jax.ShapeDtypeStruct(first.shape[:3], np.float64)

    def longer(x: Any) -> jax.ShapeDtypeStruct:
        problem, _, chains, *rest = x.shape
        return jax.ShapeDtypeStruct((problem, chains, draws, *rest), np.float64)

    return jax.tree.map(longer, (values, stats(*(each for _ in stats._fields))))


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
    room = CHUNK_BYTES if jax.default_backend() == "cpu" else ON_GPU
    return max(room // max(each, 1), 1)
