"""The `hmc` engine: all coordinates at once, all chains in step."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from blackjax.mcmc.hmc import HMCState
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from dpmf.inference import adaptation as adapt
from dpmf.inference import level
from dpmf.inference.problem import Problem
from dpmf.model.state import State
from dpmf.samplers import hmc

CAREFUL = 0.1  # share of trajectories with small steps
SMALL = 0.125  # their size, against the tuned one


class Stats(NamedTuple):
    """What is kept of each step besides the state."""

    log_density: Float[Array, " chains"]
    acceptance: Float[Array, " chains"]
    diverging: Float[Array, " chains"]
    steps: Float[Array, " chains"]


@jax.jit
def begin(problem: Problem, states: State) -> HMCState:
    """Chains at their starting states."""

    def one(state: State) -> HMCState:
        return hmc.init(problem.flat(level.levelled(problem, state)), _density(problem))

    return jax.vmap(one)(states)


@jax.jit
def states(problem: Problem, chains: HMCState) -> State:
    """The states that the chains are in."""
    return jax.vmap(partial(_state, problem))(chains.position)


@jax.jit
def blank(problem: Problem) -> adapt.Adaptation:
    """Adaptation before the first step; every scale is taken to be the prior's."""
    white = _white(problem)
    return adapt.begin(jnp.ones_like(white), white)


@jax.jit
def warm(
    problem: Problem,
    key: Key[Array, ""],
    chains: HMCState,
    adaptation: adapt.Adaptation,
    first: Int[Array, ""],
    count: Int[Array, ""],
    most: Int[Array, ""],
    learn_length: Float[Array, ""],
) -> tuple[HMCState, adapt.Adaptation]:
    """`count` steps of warm-up, the first of them numbered `first`."""

    def one(i, carry):
        chains, adaptation = carry
        tuning = adapt.tuning(adaptation)
        moved, info, stride = _step(problem, key, chains, tuning, first + i, most)
        adaptation = adapt.learned(
            adaptation, chains.position, moved.position, info, stride, learn_length
        )
        return moved, adaptation

    return jax.lax.fori_loop(0, count, one, (chains, adaptation))


@jax.jit
def rescaled(
    problem: Problem, chains: HMCState, adaptation: adapt.Adaptation
) -> adapt.Adaptation:
    """Begin anew with scales guessed from the curvature where the chains are."""
    return adapt.begin(_curvature_scales(problem, chains), adaptation.white)


def _curvature_scales(problem: Problem, chains: HMCState) -> Float[Array, " dim"]:
    """A first guess of every scale, from the density's curvature.

    White coordinates keep the prior's scale. The few others differ by factors of a
    thousand, and steps sized for the narrowest would take warm-up nowhere.
    """
    gradient = jax.grad(_density(problem))
    free = jnp.flatnonzero(_white(problem) == 0, size=_free_size(problem))

    def curvature(position, index):
        bump = jnp.zeros_like(position).at[index].set(1e-4)
        return (gradient(position - bump) - gradient(position + bump))[index] / 2e-4

    def one(position):
        return jax.lax.map(lambda index: curvature(position, index), free)

    each = jax.vmap(one)(chains.position)
    usable = jnp.where(jnp.isfinite(each), jnp.abs(each), 1.0)
    scales = 1 / (1 + jnp.max(usable, axis=0))
    return jnp.ones(chains.position.shape[1]).at[free].set(scales)


close_window = jax.jit(adapt.window_closed)


@partial(jax.jit, static_argnames=("size",), donate_argnames=("chains",))
def sample(
    problem: Problem,
    key: Key[Array, ""],
    chains: HMCState,
    tuning: hmc.Tuning,
    first: Int[Array, ""],
    count: Int[Array, ""],
    thin: Int[Array, ""],
    size: int,
) -> tuple[HMCState, State, Stats]:
    """Up to `size` kept draws, `thin` steps apart; entries past `count` are empty."""
    most = jnp.asarray(hmc.MOST_STEPS)
    positions = jnp.zeros((size, *chains.position.shape))
    stats = jax.tree.map(
        lambda x: jnp.zeros((size, *x.shape)), _stats(chains, *_no_info(chains))
    )

    def keep(i, carry):
        chains, positions, stats = carry

        def one(j, carry):
            chains, acceptance, diverging, _ = carry
            number = first + i * thin + j
            chains, info, _ = _step(problem, key, chains, tuning, number, most)
            accepted = jnp.nan_to_num(info.acceptance)
            steps = jnp.broadcast_to(info.steps, accepted.shape).astype(float)
            return chains, acceptance + accepted / thin, diverging + info.divergent, steps

        chains, *info = jax.lax.fori_loop(0, thin, one, (chains, *_no_info(chains)))
        latest = _stats(chains, *info)
        stats = jax.tree.map(lambda all_, x: all_.at[i].set(x), stats, latest)
        return chains, positions.at[i].set(chains.position), stats

    chains, positions, stats = jax.lax.fori_loop(0, count, keep, (chains, positions, stats))
    kept = jax.lax.map(jax.vmap(partial(_state, problem)), positions)
    # The density that both engines report is that of the free coordinates.
    density = jax.lax.map(jax.vmap(problem.log_density), kept)
    return chains, kept, stats._replace(log_density=density)


def _step(
    problem: Problem,
    key: Key[Array, ""],
    chains: HMCState,
    tuning: hmc.Tuning,
    number: Int[Array, ""],
    most: Int[Array, ""],
) -> tuple[HMCState, hmc.Info, adapt.Stride]:
    """One step of every chain; keys are folded from the step's and the chain's numbers."""
    key_step = jr.fold_in(key, number)
    key_jitter, key_careful = jr.split(jr.fold_in(key_step, 0))
    # One length for all chains, so that none waits for another; jittered against resonance.
    jitter = jr.uniform(key_jitter, minval=0.4, maxval=1.6)
    steps = jnp.minimum(hmc.leapfrog_steps(tuning, jitter), most)
    # Now and then all steps are small, whatever the state: a chain that has strayed to
    # where the density is sharp would otherwise reject for ever.
    careful = jr.uniform(key_careful) < CAREFUL
    small = jnp.where(careful, SMALL, 1.0)
    stride = adapt.Stride(jitter * small, careful)
    tuning = tuning._replace(step_size=small * tuning.step_size)
    indices = jnp.arange(chains.position.shape[0])

    def one(index, chain):
        key_chain = jr.fold_in(key_step, index + 1)
        return hmc.step(key_chain, chain, _density(problem), tuning, steps)

    moved, info = jax.vmap(one, out_axes=(0, _INFO_AXES))(indices, chains)
    return moved, info, stride


_INFO_AXES = hmc.Info(0, 0, None, 0, 0)  # type: ignore[arg-type]


def _density(problem: Problem):
    return lambda position: level.log_density(problem, problem.unflat(position))


def _state(problem: Problem, position: Float[Array, " dim"]) -> State:
    return level.free_state(problem, problem.unflat(position))


def _white(problem: Problem) -> Float[Array, " dim"]:
    """1 for white coordinates, 0 for the others."""
    shapes = problem.template()
    white = jax.tree.map(lambda x: jnp.ones(x.shape), shapes.white)
    free = jax.tree.map(lambda x: jnp.zeros(x.shape), shapes.free)
    return ravel_pytree(State(white, free))[0]


def _free_size(problem: Problem) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(problem.template().free))


def _no_info(chains: HMCState):
    zero = jnp.zeros(chains.position.shape[0])
    return zero, zero, zero


def _stats(chains: HMCState, acceptance, diverging, steps) -> Stats:
    return Stats(chains.logdensity, acceptance, diverging, steps)
