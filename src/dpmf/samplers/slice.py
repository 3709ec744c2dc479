"""Slice sampling of one number at a time, stepping out and shrinking (Neal 2003)."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

BUDGET = 16  # widths that the bracket may grow to
LIMIT = 100  # shrinks before staying put

_LEFT, _RIGHT, _SHRINK, _DONE = range(4)


class Info(NamedTuple):
    """What happened in one step."""

    evaluations: Int[Array, ""]
    stayed: Bool[Array, ""]


class _Bracket(NamedTuple):
    phase: Int[Array, ""]
    trial: Float[Array, ""]  # where the density is needed next
    low: Float[Array, ""]
    high: Float[Array, ""]
    left: Int[Array, ""]  # steps that may still be made
    right: Int[Array, ""]
    shrinks: Int[Array, ""]
    evaluations: Int[Array, ""]
    point: Float[Array, ""]
    log_density: Float[Array, ""]


def step(
    key: Key[Array, ""],
    point: Float[Array, ""],
    log_density: Float[Array, ""],
    log_density_at: Callable[[Float[Array, ""]], Float[Array, ""]],
    width: Float[Array, ""],
    budget: int = BUDGET,
) -> tuple[Float[Array, ""], Float[Array, ""], Info]:
    """One transition that leaves the density invariant.

    The loop is one machine with three phases and a single evaluation in its body, so
    that vectorised chains need not wait for each other between phases.

    Args:
        key: Random key.
        point: Where the chain is.
        log_density: The log density there, already paid for.
        log_density_at: Log density, up to a constant; NaN counts as outside the slice.
        width: Size of one step out; frozen after warm-up.
        budget: Widths that the bracket may grow to, split at random between the sides:
            a cap on each side would be biased.

    Returns:
        The new point, its log density, and what happened.
    """
    key_level, key_place, key_budget, key_shrink = jr.split(key, 4)
    level = log_density + jnp.log(jr.uniform(key_level))
    low = point - width * jr.uniform(key_place)
    left = jnp.floor(budget * jr.uniform(key_budget)).astype(int)

    def drawn(bracket: _Bracket) -> Float[Array, ""]:
        key = jr.fold_in(key_shrink, bracket.shrinks)
        return jr.uniform(key, minval=bracket.low, maxval=bracket.high)

    def advance(bracket: _Bracket) -> _Bracket:
        value = log_density_at(bracket.trial)
        inside = value > level  # False for NaN
        phase = bracket.phase
        grow_left = (phase == _LEFT) & inside & (bracket.left > 0)
        grow_right = (phase == _RIGHT) & inside & (bracket.right > 0)
        accept = (phase == _SHRINK) & inside
        reject = (phase == _SHRINK) & ~inside
        give_up = reject & (bracket.shrinks >= LIMIT)
        below = bracket.trial < point
        moved = bracket._replace(
            low=jnp.where(reject & below, bracket.trial, bracket.low - width * grow_left),
            high=jnp.where(reject & ~below, bracket.trial, bracket.high + width * grow_right),
            left=bracket.left - grow_left,
            right=bracket.right - grow_right,
            shrinks=bracket.shrinks + reject,
            evaluations=bracket.evaluations + 1,
            point=jnp.where(accept, bracket.trial, bracket.point),
            log_density=jnp.where(accept, value, bracket.log_density),
            phase=jnp.select(
                [grow_left | grow_right | (reject & ~give_up), accept | give_up],
                [phase, jnp.full_like(phase, _DONE)],
                phase + 1,
            ),
        )
        trial = jnp.select(
            [moved.phase == _LEFT, moved.phase == _RIGHT], [moved.low, moved.high], drawn(moved)
        )
        return moved._replace(trial=trial)

    zero = jnp.zeros((), int)
    first = _Bracket(
        zero, low, low, low + width, left, budget - 1 - left, zero, zero, point, log_density
    )
    last = jax.lax.while_loop(lambda bracket: bracket.phase != _DONE, advance, first)
    stayed = last.shrinks > LIMIT
    return last.point, last.log_density, Info(last.evaluations, stayed)


def sweep(
    key: Key[Array, ""],
    position: Float[Array, " coordinates"],
    log_density_at: Callable[[Float[Array, " coordinates"]], Float[Array, ""]],
    widths: Float[Array, " coordinates"],
) -> tuple[Float[Array, " coordinates"], Info]:
    """Move every coordinate once, in order.

    Returns:
        The new position; per coordinate, evaluations and whether it stayed.
    """

    def one(carry, index):
        position, log_density = carry

        def along(x):
            return log_density_at(position.at[index].set(x))

        key_one = jr.fold_in(key, index)
        x, log_density, info = step(key_one, position[index], log_density, along, widths[index])
        return (position.at[index].set(x), log_density), info

    start = (position, log_density_at(position))
    (position, _), info = jax.lax.scan(one, start, jnp.arange(position.shape[0]))
    return position, info
