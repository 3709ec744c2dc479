"""The `hmc` engine: Hamiltonian trajectories, all chains in step.

They move all but the kernel hyperparameters, which are sliced in between (`theta_slices`).
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from dpmf.inference import adaptation as adapt
from dpmf.inference import own_scales, position, theta, theta_slices
from dpmf.inference.apart import chains_apart, each_chain
from dpmf.inference.problem import Problem
from dpmf.model.state import State
from dpmf.samplers import hmc

CAREFUL = 0.1  # share of trajectories with small steps
SMALL = 0.125  # their size, against the tuned one
MOST = hmc.MOST_STEPS
BUMP = 1e-3  # of a coordinate, to see how the density bends there
FEW = 100  # coordinates whose covariance the draws of a warm-up can tell


class Stats(NamedTuple):
    """What is kept of each step besides the state."""

    log_density: Float[Array, " chains"]
    acceptance: Float[Array, " chains"]
    diverging: Float[Array, " chains"]
    steps: Float[Array, " chains"]
    slices: Float[Array, " chains"]  # along hyperparameters
    stayed: Float[Array, " chains"]  # those of them that a limit cut off


class Step(NamedTuple):
    """What happened to one chain in one step."""

    before: Float[Array, " dim"]  # ends of the trajectory
    after: Float[Array, " dim"]
    trajectory: hmc.Info
    stayed: Bool[Array, " slices"]
    log_density: Float[Array, ""]  # of the new state


def step(
    key: Key[Array, ""],
    problem: Problem,
    state: State,
    tuning: adapt.Tuning,
    steps: Int[Array, ""],
    most: Int[Array, ""] | None = None,
) -> tuple[State, Step]:
    """One transition of one chain: scales of rows' own numbers, where they have any, and
    hyperparameters with something else than white held, then a trajectory."""
    key_theta, key_trajectory, key_own = jr.split(key, 3)
    state = own_scales.moved(key_own, problem, state)
    state, over, stayed = theta_slices.moved(key_theta, problem, state, tuning.widths)
    given, rest, known = theta.held(problem, state, over)

    def density(there):
        return position.log_density(given, there, known)

    start = position.position(given, rest, known)
    moved, info = hmc.step(key_trajectory, start, density, tuning.trajectory, steps, most)
    state = theta.restored(position.state_at(given, moved, known), state)
    log_density = problem.with_factors(over).log_density(state)
    return state, Step(start, moved, info, stayed, log_density)


@jax.jit
def blank(problem: Problem, chains: State) -> adapt.Adaptation:
    """Adaptation before the first step.

    White coordinates begin with the prior's scale. The few others differ by factors of a
    thousand, and steps sized for the narrowest would take warm-up nowhere: theirs is
    guessed from the curvature where the chains are.
    """
    each = jax.vmap(partial(_curvatures, problem))(chains)
    usable = jnp.where(jnp.isfinite(each), jnp.abs(each), 1.0)
    white = _white(problem)
    free = np.flatnonzero(white == 0)
    variance = jnp.ones(white.shape).at[free].set(1 / (1 + jnp.max(usable, axis=0)))
    places = jnp.asarray(_together(problem))
    return adapt.begin(variance, jnp.asarray(white), places, theta.widths(problem))


@jax.jit
def resumed(problem: Problem, tuned: adapt.Tuning) -> adapt.Adaptation:
    """Adaptation that goes on from what an earlier problem of the same shape has learned."""
    return adapt.resumed(jnp.asarray(_white(problem)), tuned)


def _curvatures(problem: Problem, state: State) -> Float[Array, " free"]:
    """Minus the second derivative of the log density along each free coordinate.

    From the density alone: its gradient would take three times as long to compile.
    """
    given, rest, known = theta.held(problem, state)
    here = position.position(given, rest, known)
    free = np.flatnonzero(_white(problem) == 0)
    count = len(free)
    places = jnp.asarray(np.concatenate([free, free, free[:1]]))
    bumps = BUMP * jnp.concatenate([jnp.ones(count), -jnp.ones(count), jnp.zeros(1)])

    def bumped(bump):
        place, size = bump
        return position.log_density(given, here.at[place].add(size), known)

    values = jax.lax.map(bumped, (places, bumps))
    above, below, middle = values[:count], values[count:-1], values[-1]
    return (2 * middle - above - below) / BUMP**2


def named(tuning: adapt.Tuning) -> dict[str, Array]:
    """What was learned, to keep beside the draws."""
    return {**tuning.trajectory._asdict(), "widths": tuning.widths}


class Course(NamedTuple):
    """What a call of `advance` is to do; the same for all problems that run side by side."""

    lengths: Key[Array, ""]  # what lengths vary by: side by side, all are long or short at once
    first: Int[Array, ""]  # number of the first step
    draws: Int[Array, ""]  # to be kept
    thin: Int[Array, ""]  # steps per kept draw
    most: Int[Array, ""]  # leapfrog steps of a trajectory
    learning: Bool[Array, ""]  # whether this is warm-up
    learn_length: Float[Array, ""]


def advance(
    problem: Problem,
    key: Key[Array, ""],
    chains: State,
    adaptation: adapt.Adaptation,
    tuned: adapt.Tuning,
    course: Course,
    size: int,
    side_by_side: str | None = None,
) -> tuple[State, adapt.Adaptation, State, Stats]:
    """Up to `size` kept draws; entries past `draws` are empty.

    Warm-up and sampling are one program, which takes half as long to compile as two: while
    it learns, steps follow the adaptation, and afterwards what was learned.

    Args:
        problem: What is sampled.
        key: Its random key.
        chains: Where its chains are.
        adaptation: What it learns.
        tuned: What it has learned.
        course: What is to be done.
        size: Draws that there is room for.
        side_by_side: Name of the axis of problems, where there are many.
    """
    number_of = jax.tree.leaves(chains)[0].shape[0]
    states = jax.tree.map(lambda x: jnp.zeros((size, *x.shape)), chains)
    nothing = Stats(*(jnp.zeros(number_of) for _ in Stats._fields))
    stats = jax.tree.map(lambda x: jnp.zeros((size, *x.shape)), nothing)

    def learning(new, old):
        return jax.tree.map(lambda a, b: jnp.where(course.learning, a, b), new, old)

    def keep(i, carry):
        chains, adaptation, states, stats = carry

        def one(j, carry):
            chains, adaptation, total = carry
            tuning = learning(adapt.tuning(adaptation), tuned)
            number = course.first + i * course.thin + j
            strides = jr.fold_in(jr.fold_in(course.lengths, number), 0)
            key_step = jr.fold_in(key, number)
            moved, taken, stride = _step(
                problem, key_step, strides, chains, tuning, course.most, side_by_side
            )
            info = taken.trajectory
            new = adapt.learned(
                adaptation, taken.before, taken.after, info, stride, course.learn_length
            )
            distance = jnp.abs(theta.flat(moved) - theta.flat(chains))
            latest = Stats(
                jnp.where(j == course.thin - 1, taken.log_density, 0.0),
                jnp.nan_to_num(info.acceptance) / course.thin,
                info.divergent.astype(float),
                info.steps.astype(float),
                jnp.full(number_of, float(taken.stayed.shape[1])),
                jnp.sum(taken.stayed, axis=1).astype(float),
            )
            adaptation = learning(adapt.widened(new, distance), adaptation)
            return moved, adaptation, jax.tree.map(jnp.add, total, latest)

        start = (chains, adaptation, nothing)
        chains, adaptation, latest = jax.lax.fori_loop(0, course.thin, one, start)
        put = partial(jax.tree.map, lambda all_, x: all_.at[i].set(x))
        return chains, adaptation, put(states, chains), put(stats, latest)

    start = (chains, adaptation, states, stats)
    return jax.lax.fori_loop(0, course.draws, keep, start)


def _step(
    problem: Problem,
    key: Key[Array, ""],
    key_stride: Key[Array, ""],
    chains: State,
    tuning: adapt.Tuning,
    most: Int[Array, ""],
    side_by_side: str | None,
) -> tuple[State, Step, adapt.Stride]:
    """One step of every chain; keys are folded from the step's and the chain's numbers."""
    key_jitter, key_careful = jr.split(key_stride)
    # One length for all chains, so that none waits for another; jittered against resonance.
    jitter = jr.uniform(key_jitter, minval=0.4, maxval=1.6)
    trajectory = tuning.trajectory
    steps = jnp.minimum(hmc.leapfrog_steps(trajectory, jitter), most)
    # One loop for all problems: with a length each, all they carry would be copied at every
    # turn, by whether it is still running.
    longest = steps if side_by_side is None else jax.lax.pmax(steps, side_by_side)
    # Now and then all steps are small, whatever the state: a chain that has strayed to
    # where the density is sharp would otherwise reject for ever.
    careful = jr.uniform(key_careful) < CAREFUL
    small = jnp.where(careful, SMALL, 1.0)
    stride = adapt.Stride(jitter * small, careful)
    trajectory = trajectory._replace(step_size=small * trajectory.step_size)
    tuning = tuning._replace(trajectory=trajectory)
    indices = jnp.arange(jax.tree.leaves(chains)[0].shape[0])

    def one(shared, own):
        problem, key, tuning, steps, longest = shared
        index, state = own
        return step(jr.fold_in(key, index + 1), problem, state, tuning, steps, longest)

    shared = (problem, key, tuning, steps, longest)
    alone = side_by_side is None and chains_apart(problem.arrays.values.size)
    moved, taken = each_chain(one, shared, (indices, chains), apart=alone)
    return moved, taken, stride


def _white(problem: Problem) -> Float[np.ndarray, " dim"]:
    """1 for coordinates that are many and white: those of members, and of any mean but on
    few points; 0 for all others.

    On the host: it depends on shapes alone, and to find its zeros would take long to compile.
    """
    return _flags(problem, _many(problem))


def _together(problem: Problem) -> Int[np.ndarray, " few"]:
    """Places of the coordinates whose covariance is learned: all that are not white.

    But for a pooled mean on many points: draws of warm-up would be fewer than its coordinates.
    """
    free = np.flatnonzero(_white(problem) == 0)
    if len(free) <= FEW:
        return free
    white = problem.template().white
    means = [
        name for name in ("rows_pooled", "cols_pooled") if getattr(white, name) is not None
    ]
    return np.flatnonzero(_flags(problem, [*_many(problem), *means]) == 0)


def _flags(problem: Problem, names: list[str]) -> Float[np.ndarray, " dim"]:
    """1 for the coordinates of these parts of white, 0 for all others."""
    shapes = theta.without(problem.template())
    nothing = jax.tree.map(lambda x: np.zeros(x.shape), shapes)
    ones = {name: np.ones(getattr(shapes.white, name).shape) for name in names}
    flags = nothing._replace(white=nothing.white._replace(**ones))
    return np.concatenate([one.reshape(-1) for one in jax.tree.leaves(flags)])


def _many(problem: Problem) -> list[str]:
    """The parts of white that have many coordinates."""
    arrays = problem.arrays
    means = {"rows_pooled": arrays.rows.pooled, "cols_pooled": arrays.cols.pooled}
    loose = [name for name, own in means.items() if own is not None and own.points is None]
    added = ("rows_intercept", "cols_intercept") if problem.spec.rows.intercept else ()
    own = ("rows_noise",) if problem.spec.likelihood.own else ()
    return ["rows", "cols", *loose, *added, *own]
