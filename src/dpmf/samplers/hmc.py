"""Hamiltonian Monte Carlo with one trajectory length for all chains of a step."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

from dpmf.samplers.turns import beside

MOST_STEPS = 256  # leapfrog steps in one trajectory
DIVERGENT = 1000.0  # loss of log density over a trajectory that is no mere inaccuracy


class Tuning(NamedTuple):
    """What warm-up learns and sampling leaves alone."""

    step_size: Float[Array, ""]
    variance: Float[Array, " dim"]  # of each coordinate under the posterior
    length: Float[Array, ""]  # trajectory, in units of the posterior's own scale
    # A few coordinates that vary together, and a factor of their covariance; None: there are
    # none, and variances say all.
    places: Int[Array, " few"] | None = None
    factor: Float[Array, "few few"] | None = None


class Info(NamedTuple):
    """What happened in one step."""

    acceptance: Float[Array, ""]
    divergent: Bool[Array, ""]
    steps: Int[Array, ""]
    proposal: Float[Array, " dim"]
    speed: Float[Array, " dim"]  # at the proposal, over the variance of each coordinate
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
    size = tuning.step_size
    momentum = jr.normal(key_momentum, position.shape, position.dtype)

    def leapfrog(turn, there):
        x, p, start, _, _ = there
        x = x + jnp.where((turn > 0) & (turn <= steps), size, 0.0) * _spread(tuning, p)
        value, gradient = jax.value_and_grad(log_density)(x)
        ends = (turn == 0) | (turn == steps)
        kick = jnp.where(ends, 0.5, jnp.where(turn < steps, 1.0, 0.0))
        p = p + kick * size * _gathered(tuning, gradient)
        return x, p, jnp.where(turn == 0, value, start), value, gradient

    def kinetic(p):
        return 0.5 * jnp.sum(p**2)

    nothing, nowhere = beside(position[0], 0.0), beside(position, 0.0)
    begin = (position, momentum, nothing, nothing, nowhere)
    count = (steps if most is None else most) + 1
    proposal, last, start, end, gradient = jax.lax.fori_loop(0, count, leapfrog, begin)
    gain = (end - kinetic(last)) - (start - kinetic(momentum))
    gain = jnp.where(gain < jnp.inf, gain, -jnp.inf)  # also NaN
    acceptance = jnp.exp(jnp.minimum(gain, 0.0))
    accepted = jr.uniform(key_accept) < acceptance
    speed = _spread(tuning, last) / tuning.variance
    info = Info(acceptance, gain < -DIVERGENT, steps, proposal, speed, gradient)
    return jnp.where(accepted, proposal, position), info


def _spread(tuning: Tuning, momentum: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """The velocity of a momentum whose coordinates are independent and have variance 1."""
    every = jnp.sqrt(tuning.variance) * momentum
    if tuning.factor is None:
        return every
    return _put(every, tuning.places, tuning.factor @ momentum[tuning.places])


def _gathered(tuning: Tuning, gradient: Float[Array, " dim"]) -> Float[Array, " dim"]:
    """What a gradient does to such a momentum: the transpose of `_spread`."""
    every = jnp.sqrt(tuning.variance) * gradient
    if tuning.factor is None:
        return every
    return _put(every, tuning.places, tuning.factor.T @ gradient[tuning.places])


def _put(
    every: Float[Array, " dim"], places: Int[Array, " few"] | None, few: Float[Array, " few"]
) -> Float[Array, " dim"]:
    """Some coordinates replaced. No place is named twice: it need not be known who wins."""
    assert places is not None  # they come with their factor
    return every.at[places].set(few, unique_indices=True)
