"""Hamiltonian Monte Carlo with one trajectory length for all chains of a step."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from blackjax.mcmc import hmc
from jaxtyping import Array, Bool, Float, Int, Key

MOST_STEPS = 256  # leapfrog steps in one trajectory


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


def init(
    position: Float[Array, " dim"], log_density: Callable[[Float[Array, " dim"]], Array]
) -> hmc.HMCState:
    """The state of a chain at `position`."""
    return hmc.init(position, log_density)


def leapfrog_steps(tuning: Tuning, jitter: Float[Array, ""]) -> Int[Array, ""]:
    """How many steps a trajectory of `jitter` times the tuned length takes."""
    steps = jnp.ceil(jitter * tuning.length / tuning.step_size)
    return jnp.clip(steps, 1, MOST_STEPS).astype(int)


def step(
    key: Key[Array, ""],
    state: hmc.HMCState,
    log_density: Callable[[Float[Array, " dim"]], Array],
    tuning: Tuning,
    steps: Int[Array, ""],
) -> tuple[hmc.HMCState, Info]:
    """One transition; a NaN anywhere on the way is a rejection."""
    kernel = hmc.build_kernel()
    state, info = kernel(key, state, log_density, tuning.step_size, tuning.variance, steps)
    return state, Info(
        info.acceptance_rate,
        info.is_divergent,
        steps,
        info.proposal.position,
        -info.proposal.momentum,  # the kernel flips it at the end
    )
