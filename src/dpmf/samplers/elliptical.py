"""Elliptical slice sampling of many independent blocks at once (Murray, Adams, MacKay 2010)."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

from dpmf.samplers.turns import beside

LIMIT = 100  # shrinks before a block stays where it is; its bracket is then below 1e-12

OnEllipse = Callable[[Float[Array, " blocks"]], Float[Array, " blocks"]]


class Info(NamedTuple):
    """What happened in one step."""

    shrinks: Int[Array, " blocks"]  # rejected angles before acceptance
    stayed: Bool[Array, " blocks"]  # bracket cut off: the block did not move


class _Trial(NamedTuple):
    angle: Float[Array, " blocks"]
    low: Float[Array, " blocks"]
    high: Float[Array, " blocks"]
    shrinks: Int[Array, " blocks"]
    accepted: Bool[Array, " blocks"]


def turned(
    white: Float[Array, "..."],
    other: Float[Array, "..."],
    angle: Float[Array, " blocks"],
    axis: int = 0,
) -> Float[Array, "..."]:
    """The point at `angle` on the ellipse of each block; blocks lie along `axis`."""
    shape = [1] * white.ndim
    shape[axis] = -1
    return white * jnp.cos(angle).reshape(shape) + other * jnp.sin(angle).reshape(shape)


def step(
    key: Key[Array, ""],
    white: Float[Array, "..."],
    on_ellipse: Callable[[Float[Array, "..."]], OnEllipse],
    axis: int = 0,
    owner: Int[Array, " entries"] | None = None,
    blocks: int | None = None,
) -> tuple[Float[Array, "..."], Info]:
    """Move every block along its own random ellipse; there is nothing to tune.

    Args:
        key: Random key.
        white: Standard normal under the prior; blocks lie along `axis` and are
            independent given everything else.
        on_ellipse: Given the other axis of the ellipses, a function from the angle of
            each block to its log likelihood.
        axis: Axis of the blocks.
        owner: The block of each entry along `axis`; None: every entry is a block.
        blocks: How many there are, where they have owners.
    """
    key_other, key_angle = jr.split(key)
    other = jr.normal(key_other, white.shape, white.dtype)
    count = white.shape[axis] if blocks is None else blocks
    angle, info = angle_step(key_angle, on_ellipse(other), count)
    return turned(white, other, angle if owner is None else angle[owner], axis), info


def angle_step(
    key: Key[Array, ""], log_likelihood: OnEllipse, blocks: int
) -> tuple[Float[Array, " blocks"], Info]:
    """The angle by which each block turns on its ellipse; 0 stays put."""
    key_level, key_angle, key_shrink = jr.split(key, 3)
    level = log_likelihood(jnp.zeros(blocks)) + jnp.log(jr.uniform(key_level, (blocks,)))

    def unfinished(trial: _Trial) -> Bool[Array, ""]:
        return jnp.any(~trial.accepted & (trial.shrinks < LIMIT))

    def shrink(trial: _Trial) -> _Trial:
        open_ = ~trial.accepted & (trial.shrinks < LIMIT)
        low = jnp.where(open_ & (trial.angle < 0), trial.angle, trial.low)
        high = jnp.where(open_ & (trial.angle >= 0), trial.angle, trial.high)
        key = jr.fold_in(key_shrink, jnp.max(trial.shrinks))
        angle = jr.uniform(key, (blocks,), minval=low, maxval=high)
        angle = jnp.where(open_, angle, trial.angle)
        loglik = log_likelihood(angle)
        accepted = trial.accepted | (open_ & (loglik >= level))  # so that NaN is rejected
        return _Trial(angle, low, high, trial.shrinks + open_, accepted)

    turn = 2 * jnp.pi
    angle = jr.uniform(key_angle, (blocks,), maxval=turn)
    accepted = log_likelihood(angle) >= level
    first = _Trial(angle, angle - turn, angle, beside(angle, 0), accepted)
    last = jax.lax.while_loop(unfinished, shrink, first)
    # A bracket that was cut off may only stay: taking its last trial would be biased.
    return jnp.where(last.accepted, last.angle, 0.0), Info(last.shrinks, ~last.accepted)
