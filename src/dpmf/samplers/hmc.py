"""Hamiltonian Monte Carlo with one trajectory length for all chains of a step."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

MOST_STEPS = 256  # leapfrog steps in one trajectory
DIVERGENT = 1000.0  # loss of log density over a trajectory that is no mere inaccuracy


class Tuning(NamedTuple):
    """What warm-up learns and sampling leaves alone."""

    step_size: Float[Array, ""]
    variance: Float[Array, " dim"]  # of each coordinate under the posterior
    length: Float[Array, ""]  # trajectory, in units of the posterior's own scale


class Info(NamedTuple):
    """What happened in one step."""

    acceptance: Float[Array, ""]
    divergent: Bool[Array, ""]
    steps: Int[Array, ""]
    proposal: Float[Array, " dim"]
    momentum: Float[Array, " dim"]  # at the proposal
    gradient: Float[Array, " dim"]  # of the log density, at the proposal


def leapfrog_steps(tuning: Tuning, jitter: Float[Array, ""]) -> Int[Array, ""]:
    """How many steps a trajectory of `jitter` times the tuned length takes."""
    steps = jnp.ceil(jitter * tuning.length / tuning.step_size)
    return jnp.clip(steps, 1, MOST_STEPS).astype(int)


def step(
    key: Key[Array, ""],
    position: Float[Array, " dim"],
    log_density: Callable[[Float[Array, " dim"]], Array],
    tuning: Tuning,
    steps: Int[Array, ""],
    most: Int[Array, ""] | None = None,
) -> tuple[Float[Array, " dim"], Info]:
    """One transition; a density at the end that is no number, or infinite, is a rejection.

    All evaluations are turns of one loop, also that at the start, which drifts nowhere: the
    density is compiled once.

    Args:
        key: Random key.
        position: Where the chain is.
        log_density: Of the target, up to a constant.
        tuning: Step size and scales.
        steps: Leapfrog steps of the trajectory.
        most: Those of the longest trajectory that runs side by side, never fewer than
            `steps`; past its own a trajectory stands still. `steps` if not given.
    """
    key_momentum, key_accept = jr.split(key)
    size, variance = tuning.step_size, tuning.variance
    momentum = jr.normal(key_momentum, position.shape, position.dtype) / jnp.sqrt(variance)

    def leapfrog(turn, there):
        x, p, start, _, _ = there
        x = x + jnp.where((turn > 0) & (turn <= steps), size, 0.0) * variance * p
        value, gradient = jax.value_and_grad(log_density)(x)
        ends = (turn == 0) | (turn == steps)
        kick = jnp.where(ends, 0.5, jnp.where(turn < steps, 1.0, 0.0))
        p = p + kick * size * gradient
        return x, p, jnp.where(turn == 0, value, start), value, gradient

    def kinetic(p):
        return 0.5 * jnp.sum(variance * p**2)

    nothing = jnp.zeros((), position.dtype)
    begin = (position, momentum, nothing, nothing, jnp.zeros_like(position))
    turns = (steps if most is None else most) + 1
    proposal, last, start, end, gradient = jax.lax.fori_loop(0, turns, leapfrog, begin)
    gain = (end - kinetic(last)) - (start - kinetic(momentum))
    gain = jnp.where(gain < jnp.inf, gain, -jnp.inf)  # also NaN
    acceptance = jnp.exp(jnp.minimum(gain, 0.0))
    accepted = jr.uniform(key_accept) < acceptance
    info = Info(acceptance, gain < -DIVERGENT, steps, proposal, last, gradient)
    return jnp.where(accepted, proposal, position), info
