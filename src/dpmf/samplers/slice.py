"""Slice sampling of one number at a time, stepping out and shrinking (Neal 2003)."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

from dpmf.samplers.turns import beside, turns

BUDGET = 16  # widths that the bracket may grow to
LIMIT = 100  # shrinks before staying put

_START, _LEFT, _RIGHT, _SHRINK, _DONE = range(5)


class Info(NamedTuple):
    """What happened in one step."""

    evaluations: Int[Array, ""]
    stayed: Bool[Array, ""]


class Point(NamedTuple):
    """Where a chain is."""

    x: Float[Array, ""]
    log_density: Float[Array, ""]  # NaN where it is not known yet
    kept: Any  # whatever else was computed on the way to the density


class _Bracket(NamedTuple):
    phase: Int[Array, ""]
    trial: Float[Array, ""]  # where the density is needed next
    low: Float[Array, ""]
    high: Float[Array, ""]
    left: Int[Array, ""]  # steps that may still be made
    right: Int[Array, ""]
    shrinks: Int[Array, ""]
    evaluations: Int[Array, ""]
    here: Point


def step(
    key: Key[Array, ""],
    here: Point,
    at: Callable[[Float[Array, ""]], tuple[Float[Array, ""], Any]],
    width: Float[Array, ""],
    budget: int = BUDGET,
    limit: int = LIMIT,
) -> tuple[Point, Info]:
    """One transition that leaves the density invariant.

    The loop is one machine with a single evaluation in its body, so that vectorised chains
    need not wait for each other between phases, and the density is compiled once.

    Args:
        key: Random key.
        here: Where the chain is. A log density that is not known yet is computed first.
        at: Log density, up to a constant, and what else is to be kept of a point. A log
            density of NaN counts as outside the slice.
        width: Size of one step out; frozen after warm-up.
        budget: Widths that the bracket may grow to, split at random between the sides:
            a cap on each side would be biased. With 1 it is not grown, and no density is
            spent on its ends.
        limit: Shrinks before staying put.

    Returns:
        The new point, and what happened.
    """
    key_once, key_shrink = jr.split(key)
    height, place, share = jr.uniform(key_once, (3,), here.x.dtype)
    # Drawn beforehand: the loop would otherwise hash at every turn.
    places = jr.uniform(key_shrink, (limit + 1,), here.x.dtype)
    low = here.x - width * place
    left = jnp.floor(budget * share).astype(int)
    opening = _LEFT if budget > 1 else _SHRINK

    def drawn(bracket: _Bracket) -> Float[Array, ""]:
        within = places[jnp.minimum(bracket.shrinks, limit)]
        return bracket.low + within * (bracket.high - bracket.low)

    def advance(bracket: _Bracket) -> _Bracket:
        value, kept = at(bracket.trial)
        level = bracket.here.log_density + jnp.log(height)
        inside = value > level  # False for NaN
        phase = bracket.phase
        grow_left = (phase == _LEFT) & inside & (bracket.left > 0)
        grow_right = (phase == _RIGHT) & inside & (bracket.right > 0)
        accept = (phase == _SHRINK) & inside
        reject = (phase == _SHRINK) & ~inside
        give_up = reject & (bracket.shrinks >= limit)
        below = bracket.trial < here.x
        take = accept | (phase == _START)
        trial = Point(bracket.trial, value, kept)
        moved = bracket._replace(
            low=jnp.where(reject & below, bracket.trial, bracket.low - width * grow_left),
            high=jnp.where(reject & ~below, bracket.trial, bracket.high + width * grow_right),
            left=bracket.left - grow_left,
            right=bracket.right - grow_right,
            shrinks=bracket.shrinks + reject,
            evaluations=bracket.evaluations + 1,
            here=jax.tree.map(lambda new, old: jnp.where(take, new, old), trial, bracket.here),
            phase=jnp.select(
                [grow_left | grow_right | (reject & ~give_up), accept | give_up],
                [phase, jnp.full_like(phase, _DONE)],
                jnp.where(phase == _START, opening, phase + 1),
            ),
        )
        following = jnp.select(
            [moved.phase == _LEFT, moved.phase == _RIGHT], [moved.low, moved.high], drawn(moved)
        )
        return moved._replace(trial=following)

    zero, unknown = beside(here.x, 0), jnp.isnan(here.log_density)
    first = _Bracket(
        jnp.where(unknown, _START, opening), here.x,
        low, low + width, left, budget - 1 - left, zero, zero, here,
    )  # fmt: skip
    begin = low if opening == _LEFT else drawn(first)
    first = first._replace(trial=jnp.where(unknown, here.x, begin))
    last = jax.lax.while_loop(lambda bracket: bracket.phase != _DONE, advance, first)
    return last.here, Info(last.evaluations, last.shrinks > limit)


def sweep(
    key: Key[Array, ""],
    position: Float[Array, " coordinates"],
    at: Callable[[Float[Array, " coordinates"]], tuple[Float[Array, ""], Any]],
    widths: Float[Array, " coordinates"],
    start: tuple[Float[Array, ""], Any] | None = None,
    budget: int = BUDGET,
    limit: int = LIMIT,
) -> tuple[Float[Array, " coordinates"], Any, Info]:
    """Move every coordinate once, in order.

    Args:
        key: Random key.
        position: Where the chain is.
        at: As for `step`, of all coordinates.
        widths: Of each.
        start: What `at` gives at `position`, where that is known.
        budget: As for `step`.
        limit: As for `step`.

    Returns:
        The new position; what is kept of it; per coordinate, evaluations and whether it
        stayed.
    """

    def one(carry, index):
        position, log_density, kept = carry
        here = Point(position[index], log_density, kept)
        key_one = jr.fold_in(key, index)
        there = partial(_along, at, position, index)
        here, info = step(key_one, here, there, widths[index], budget, limit)
        return (position.at[index].set(here.x), here.log_density, here.kept), info

    begin = (position, *(start or _nothing(at, position)))
    (position, _, kept), info = turns(one, begin, position.shape[0])
    return position, kept, info


def _along(at, position, index, x):
    return at(position.at[index].set(x))


def _nothing(at, position):
    """A density that is not known yet, and room for what is kept."""
    density, kept = jax.eval_shape(at, position)
    room = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), kept)
    return jnp.full((), jnp.nan, density.dtype), room
