"""Chains of either engine on many problems: how they warm up, and how they go on.

Every problem has its own tuning; one problem alone has no axis of its own.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from dpmf.inference import hmc_engine, slice_engine
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report
from dpmf.inference.schedule import Window, windows
from dpmf.model.state import State

WARM_CHUNK = 25  # steps of warm-up per call
PROBLEMS = "problems"  # their axis, where there are many


class _Call(NamedTuple):
    """One call of a warm-up."""

    number: int  # of the window
    window: Window
    first: int
    steps: int
    last: bool  # of the window


def _calls(warmup: int, resumed: bool, after: int) -> Iterator[_Call]:
    """The calls from step `after` on, which is the end of one."""
    done = 0
    for number, window in enumerate(windows(warmup, resumed)):
        end = done + window.steps
        while done < end:
            count = min(WARM_CHUNK, end - done)
            if done >= after:
                yield _Call(number, window, done, count, done + count == end)
            done += count


class Hmc:
    """Chains of `hmc` on many problems, each with its own adaptation."""

    stats = hmc_engine.Stats

    def __init__(self, problems: Problem, states: State, size: int, tuned: Any = None) -> None:
        self.problems, self.states, self.size = problems, states, size
        self.resumed = tuned is not None
        known = _resumed(problems, tuned) if self.resumed else _blank(problems, states)
        self.adaptation = known
        self.tuned = _frozen(self.adaptation)
        self.moves = 0  # of the hyperparameters, since widths were set

    @property
    def state(self) -> tuple[Any, ...]:
        """All that changes from call to call."""
        return self.states, self.adaptation, self.tuned, self.moves

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.states, self.adaptation, self.tuned, moves = state
        self.moves = int(moves)

    def warm(
        self, keys, warmup: int, report: Report, most: int = hmc_engine.MOST, after: int = 0
    ) -> None:
        """Learn, then freeze; `report` is told when all that a call changes has changed."""
        for number, window, first, count, last in _calls(warmup, self.resumed, after):
            limit = min(window.most, most)
            self._advance(keys, first, count, 1, limit, window.learn_length)
            self.moves += count
            if self.moves >= WARM_CHUNK:  # fewer would say little of how wide a slice is
                self.adaptation = _brackets(self.adaptation, float(self.moves))
                self.moves = 0
            if last and number == 0 and first + count < warmup:
                known = self.adaptation.widths, self.adaptation.distance
                fresh = _blank(self.problems, self.states)
                self.adaptation = fresh._replace(widths=known[0], distance=known[1])
            elif last and window.close:
                self.adaptation = _closed(self.adaptation)
            jax.block_until_ready(self.states)  # or progress would run ahead of the work
            report("warm-up", first + count, warmup)
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

    stats = slice_engine.Stats

    def __init__(self, problems: Problem, states: State, size: int, tuned: Any = None) -> None:
        self.problems, self.states, self.size = problems, states, size
        self.resumed = tuned is not None
        self.tuned = tuned if self.resumed else jax.vmap(slice_engine.blank)(problems)

    @property
    def state(self) -> tuple[Any, ...]:
        """All that changes from call to call."""
        return self.states, self.tuned

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.states, self.tuned = state

    def warm(self, keys, warmup: int, report: Report, after: int = 0) -> None:
        """Learn, then freeze."""
        for call in _calls(warmup, self.resumed, after):
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
