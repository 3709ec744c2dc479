"""Run chains: warm up, freeze, sample in chunks; of one problem, or of many of one shape.

Many problems run as one program, each with its own chains and its own tuning. Adaptation
never looks beyond one problem, so that in a backtest nothing flows from a later cutoff to
an earlier one.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Key

from dpmf.inference import hmc_engine, slice_engine
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Display, Report
from dpmf.inference.schedule import Window, windows
from dpmf.inference.start import log_densities, require_finite
from dpmf.model.state import State

CHUNK = 50  # kept draws per call: progress is shown, and memory is bounded, by chunk
WARM_CHUNK = 25  # steps of warm-up per call
CHUNK_BYTES = 2**28  # of the states of one call, where that is fewer
PROBLEMS = "problems"  # their axis, where there are many

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


class _Call(NamedTuple):
    """One call of a warm-up."""

    number: int  # of the window
    window: Window
    first: int
    steps: int
    last: bool  # of the window


def _calls(warmup: int, resumed: bool) -> Iterator[_Call]:
    done = 0
    for number, window in enumerate(windows(warmup, resumed)):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            yield _Call(number, window, done, count, done + count == end)
            done += count


class Hmc:
    """Chains of `hmc` on many problems, each with its own adaptation."""

    def __init__(self, problems: Problem, states: State, size: int, tuned: Any = None) -> None:
        self.problems, self.states, self.size = problems, states, size
        self.resumed = tuned is not None
        known = _resumed(problems, tuned) if self.resumed else _blank(problems, states)
        self.adaptation = known
        self.tuned = _frozen(self.adaptation)

    def warm(self, keys, warmup: int, report: Report, most: int = hmc_engine.MOST) -> None:
        """Learn, then freeze."""
        moves = 0  # of the hyperparameters, since widths were set
        for number, window, first, count, last in _calls(warmup, self.resumed):
            limit = min(window.most, most)
            self._advance(keys, first, count, 1, limit, window.learn_length)
            moves += count
            if moves >= WARM_CHUNK:  # fewer would say little of how wide a slice is
                self.adaptation, moves = _brackets(self.adaptation, float(moves)), 0
            jax.block_until_ready(self.states)  # or progress would run ahead of the work
            report("warm-up", first + count, warmup)
            if last and number == 0 and first + count < warmup:
                known = self.adaptation.widths, self.adaptation.distance
                fresh = _blank(self.problems, self.states)
                self.adaptation = fresh._replace(widths=known[0], distance=known[1])
            elif last and window.close:
                self.adaptation = _closed(self.adaptation)
        self.tuned = _frozen(self.adaptation)

    def sample(self, keys, first: int, count: int, thin: int):
        """Kept states and stats, with axes (problems, draws, chains)."""
        return self._advance(keys, first, count, thin, hmc_engine.MOST, None)

    def tuning(self) -> dict[str, Array]:
        """What was learned."""
        return hmc_engine.named(self.tuned)

    def _advance(self, keys, first, count, thin, most, learn_length: bool | None):
        learning, lengths = learn_length is not None, float(learn_length or 0.0)
        settings = (first, count, thin, most, learning, lengths)
        course = hmc_engine.Course(keys[0], *(jnp.asarray(one) for one in settings))
        self.states, self.adaptation, *kept = _trajectories(
            self.problems, keys, self.states, self.adaptation, self.tuned, course, self.size
        )
        return kept


class Slice:
    """Chains of `slice` on many problems, each with its own widths."""

    def __init__(self, problems: Problem, states: State, size: int, tuned: Any = None) -> None:
        self.problems, self.states, self.size = problems, states, size
        self.resumed = tuned is not None
        self.tuned = tuned if self.resumed else jax.vmap(slice_engine.blank)(problems)

    def warm(self, keys, warmup: int, report: Report) -> None:
        """Learn, then freeze."""
        for call in _calls(warmup, self.resumed):
            moved, *_ = self._advance(keys, call.first, call.steps, 1)
            self.tuned = slice_engine.learned(moved, call.steps)
            jax.block_until_ready(self.states)
            report("warm-up", call.first + call.steps, warmup)

    def sample(self, keys, first: int, count: int, thin: int):
        """Kept states and stats, with axes (problems, draws, chains)."""
        return self._advance(keys, first, count, thin)[1:]

    def tuning(self) -> dict[str, Array]:
        """What was learned."""
        return slice_engine.named(self.tuned)

    def _advance(self, keys, first, count, thin):
        self.states, *rest = _sweeps(
            self.problems, keys, self.states, self.tuned, first, count, thin, self.size
        )
        return rest


ENGINES: dict[str, Any] = {"hmc": Hmc, "slice": Slice}


def _each(function: Callable[..., Any], *shared: Any) -> Callable[..., Any]:
    """A function of one problem's arrays as one of many problems' arrays.

    One problem alone is not worth an axis: loops with an axis in front are traced twice.

    Args:
        function: Of a problem, its other arrays, and what all problems share.
        *shared: The latter.
    """

    def over(*arrays: Any) -> Any:
        if jax.tree.leaves(arrays)[0].shape[0] > 1:
            every = jax.vmap(lambda *own: function(*own, *shared), axis_name=PROBLEMS)
            return every(*arrays)
        found = function(*jax.tree.map(lambda x: x[0], arrays), *shared)
        return jax.tree.map(lambda x: x[None], found)

    return over


_blank = jax.jit(_each(hmc_engine.blank))
_resumed = jax.jit(_each(hmc_engine.resumed))
_closed = jax.jit(_each(hmc_engine.adapt.window_closed))
_frozen = jax.jit(_each(hmc_engine.adapt.frozen))


@jax.jit
def _brackets(adaptation, steps):
    return _each(hmc_engine.adapt.brackets_set, steps)(adaptation)


@partial(jax.jit, static_argnames="size")
def _trajectories(problems, keys, states, adaptation, tuned, course, size):
    together = PROBLEMS if keys.shape[0] > 1 else None
    advance = _each(hmc_engine.advance, course, size, together)
    return advance(problems, keys, states, adaptation, tuned)


@partial(jax.jit, static_argnames="size")
def _sweeps(problems, keys, states, widths, first, count, thin, size):
    advance = _each(slice_engine.advance, first, count, thin, size)
    return advance(problems, keys, states, widths)


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
