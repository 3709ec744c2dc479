"""What warm-up learns across the chains of one fit: step size, trajectory length, scales.

BlackJAX's own ChEES adaptation keeps a dim x dim covariance to bound the trajectory; at
the 27,000 coordinates of three basketball seasons that is 5.8 GB, so the same criterion is
followed here with running sums of one number per coordinate.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from blackjax.optimizers.dual_averaging import DualAveragingState, dual_averaging
from jaxtyping import Array, Bool, Float, Int

from dpmf.samplers import hmc
from dpmf.samplers.hmc import Info

ACCEPTANCE = 0.85  # target; larger steps are refused for long where the density is sharp
RATE = 0.05  # of the trajectory length's logarithm, per step
SHORTEST = 0.5  # trajectory, in posterior scales
LONGEST = 1.6  # a quarter turn; longer ones cost as much as they gain
PRIOR_COUNT = 2.0  # draws' worth of belief in the prior's scale

PER_MOVE = 12.0  # two points of a slice are a third of it apart: brackets are four of it
NARROWEST, WIDEST = 1e-5, 10.0  # width
NARROWER = 10.0  # times, at once: brackets that were cut off say only that they are wide

_init, _update, _final = dual_averaging()


class Tuning(NamedTuple):
    """What warm-up learns and sampling leaves alone."""

    trajectory: hmc.Tuning
    widths: Float[Array, " theta"]  # of the first brackets along the hyperparameters


class Moments(NamedTuple):
    """Running mean of each coordinate over chains and steps."""

    seen: Float[Array, ""]
    mean: Float[Array, " dim"]


class Bends(NamedTuple):
    """Sums over the ends of trajectories, each counted by how likely it was to be accepted."""

    seen: Float[Array, ""]
    x: Float[Array, " dim"]
    x_squares: Float[Array, " dim"]
    slope: Float[Array, " dim"]  # of the log density
    slope_squares: Float[Array, " dim"]
    x_products: Float[Array, "few few"]  # of the few coordinates that are not white
    slope_products: Float[Array, "few few"]


class Stride(NamedTuple):
    """How one step was taken by all chains."""

    length: Float[Array, ""]  # share of the tuned trajectory length
    careful: Bool[Array, ""]  # with small steps, which say nothing of the tuned size


class Adaptation(NamedTuple):
    """Everything that changes during warm-up besides the chains."""

    averaging: DualAveragingState
    log_length: Float[Array, ""]
    drift: Float[Array, ""]  # exponential averages of the length's gradient, as in Adam
    energy: Float[Array, ""]
    variance: Float[Array, " dim"]
    factor: Float[Array, "few few"]  # of the covariance of parameters
    moments: Moments
    bends: Bends
    white: Float[Array, " dim"]  # 1 where the prior is standard normal, 0 for parameters
    places: Int[Array, " few"]  # of the parameters
    widths: Float[Array, " theta"]
    distance: Float[Array, " theta"]  # moved along each hyperparameter in this window


def begin(
    variance: Float[Array, " dim"],
    white: Float[Array, " dim"],
    places: Int[Array, " few"],
    widths: Float[Array, " theta"],
) -> Adaptation:
    """Before the first step."""
    zero = jnp.zeros(())
    return Adaptation(
        _averaging(jnp.asarray(0.05)),
        jnp.log(jnp.ones(())),
        zero,
        zero,
        variance,
        jnp.diag(jnp.sqrt(variance[places])),
        empty(variance.shape[0]),
        unbent(variance.shape[0], len(places)),
        white,
        places,
        widths,
        jnp.zeros_like(widths),
    )


def resumed(
    white: Float[Array, " dim"],
    known: Tuning,
) -> Adaptation:
    """Before the first step, with all that an earlier warm-up has learned."""
    size, variance, length, places, factor = known.trajectory
    assert places is not None and factor is not None  # as `frozen` gives them
    fresh = begin(variance, white, places, known.widths)
    return fresh._replace(averaging=_averaging(size), log_length=jnp.log(length), factor=factor)


def empty(dim: int) -> Moments:
    """No draws yet."""
    return Moments(jnp.zeros(()), jnp.zeros(dim))


def unbent(dim: int, few: int) -> Bends:
    """No trajectories yet."""
    each, both = jnp.zeros(dim), jnp.zeros((few, few))
    return Bends(jnp.zeros(()), each, each, each, each, both, both)


def tuning(adaptation: Adaptation) -> Tuning:
    """The values in use during warm-up."""
    return _tuning(adaptation, jnp.exp(adaptation.averaging.log_x))


def frozen(adaptation: Adaptation) -> Tuning:
    """The values to sample with: the average of the step sizes tried."""
    return _tuning(adaptation, _final(adaptation.averaging))


def _tuning(adaptation: Adaptation, step_size: Float[Array, ""]) -> Tuning:
    length = jnp.exp(adaptation.log_length)
    places, factor = adaptation.places, adaptation.factor
    trajectory = hmc.Tuning(step_size, adaptation.variance, length, places, factor)
    return Tuning(trajectory, adaptation.widths)


def learned(
    adaptation: Adaptation,
    before: Float[Array, "chains dim"],
    after: Float[Array, "chains dim"],
    info: Info,
    stride: Stride,
    learn_length: Float[Array, ""],
) -> Adaptation:
    """One step of all chains taken into account.

    Args:
        adaptation: What was known.
        before: Positions at the start of the step.
        after: Positions after acceptance or rejection.
        info: What happened, for each chain.
        stride: How the step was taken.
        learn_length: 1, or 0 while the length is left alone.
    """
    acceptance = jnp.where(jnp.isfinite(info.acceptance), info.acceptance, 0.0)
    excess = ACCEPTANCE - jnp.mean(acceptance)
    averaging = _update(adaptation.averaging, jnp.where(stride.careful, 0.0, excess))
    gradient = _length_gradient(adaptation, before, info, acceptance, stride.length)
    drift = 0.9 * adaptation.drift + 0.1 * gradient
    energy = 0.95 * adaptation.energy + 0.05 * gradient**2
    move = RATE * drift / jnp.sqrt(energy + 1e-20)
    log_length = jnp.clip(
        adaptation.log_length + learn_length * move, jnp.log(SHORTEST), jnp.log(LONGEST)
    )
    return adaptation._replace(
        averaging=averaging,
        log_length=log_length,
        drift=drift,
        energy=energy,
        moments=_counted(adaptation.moments, after),
        bends=_bent(adaptation.bends, info, acceptance, adaptation.places),
    )


def widened(adaptation: Adaptation, distance: Float[Array, "chains theta"]) -> Adaptation:
    """The moves of one step along the hyperparameters taken into account."""
    return adaptation._replace(distance=adaptation.distance + jnp.mean(distance, axis=0))


def brackets_set(adaptation: Adaptation, steps: Float[Array, ""]) -> Adaptation:
    """Widths from the average move over the last `steps`.

    Where brackets were so wide that few slices ended before they were cut off, the moves say
    little: no bracket is made narrower by more than `NARROWER` at once.
    """
    widths = jnp.maximum(PER_MOVE * adaptation.distance / steps, adaptation.widths / NARROWER)
    widths = jnp.clip(widths, NARROWEST, WIDEST)
    return adaptation._replace(widths=widths, distance=jnp.zeros_like(widths))


def window_closed(adaptation: Adaptation) -> Adaptation:
    """New scales from the window's draws and slopes; the step size is then sought anew."""
    bends, places = adaptation.bends, adaptation.places
    # White coordinates are many: no two of them are looked at together.
    variance = _conditional(bends)
    covariance = _jointly(bends, places)
    factor = jnp.linalg.cholesky(covariance)
    variance = variance.at[places].set(jnp.diagonal(covariance))
    usable = jnp.isfinite(variance) & (variance > 1e-14)
    variance = jnp.where(usable, variance, adaptation.variance)
    factor = jnp.where(jnp.all(jnp.isfinite(factor)), factor, adaptation.factor)
    step_size = jnp.clip(jnp.exp(adaptation.averaging.log_x_avg), 1e-4, 0.5)
    return adaptation._replace(
        averaging=_averaging(step_size),
        variance=variance,
        factor=factor,
        moments=empty(variance.shape[0]),
        bends=unbent(variance.shape[0], len(places)),
    )


def _conditional(bends: Bends) -> Float[Array, " dim"]:
    """Variance of each coordinate, from how the slope changes along it.

    Under a normal density whose coordinates are independent, slope = -(x - mean) / variance:
    the ratio of both spreads is the variance, however few the draws.
    """

    def spread(total, squares):
        return jnp.maximum(squares / bends.seen - (total / bends.seen) ** 2, 0.0)

    x, slope = spread(bends.x, bends.x_squares), spread(bends.slope, bends.slope_squares)
    weight = bends.seen / (bends.seen + PRIOR_COUNT)
    return jnp.exp(0.5 * weight * (jnp.log(x) - jnp.log(slope)))


def _jointly(bends: Bends, places: Int[Array, " few"]) -> Float[Array, "few few"]:
    """The same of several coordinates: the S for which S var(slope) S = var(x)."""

    def spread(total, products):
        mean = total[places] / bends.seen
        return products / bends.seen - mean[:, None] * mean[None]

    weight = bends.seen / (bends.seen + PRIOR_COUNT)
    slope = spread(bends.slope, bends.slope_products)
    slope = weight * slope + (1 - weight) * jnp.eye(len(places))
    values, vectors = jnp.linalg.eigh(slope)
    root = vectors * jnp.sqrt(jnp.maximum(values, 1e-6))
    inverse = vectors / jnp.sqrt(jnp.maximum(values, 1e-6))
    # Of draws that are few the widest directions are hardly seen: lean on what slopes say.
    between = weight * root.T @ spread(bends.x, bends.x_products) @ root
    between += (1 - weight) * jnp.eye(len(places))
    squares, turned = jnp.linalg.eigh(between)
    half = inverse @ turned * jnp.maximum(squares, 1e-6) ** 0.25
    return half @ half.T


def _bent(
    bends: Bends, info: Info, acceptance: Float[Array, " chains"], places: Int[Array, " few"]
) -> Bends:
    x, slope = info.proposal, info.gradient
    usable = jnp.all(jnp.isfinite(slope) & jnp.isfinite(x), axis=1)
    weight = jnp.where(usable, acceptance, 0.0)[:, None]
    x, slope = (jnp.where(weight > 0, one, 0.0) for one in (x, slope))

    def total(values):
        return jnp.sum(weight * values, axis=0)

    def products(values):
        few = values[:, places]
        return jnp.sum(weight[:, :, None] * few[:, :, None] * few[:, None, :], axis=0)

    new = Bends(
        jnp.sum(weight),
        total(x),
        total(x**2),
        total(slope),
        total(slope**2),
        products(x),
        products(slope),
    )
    return jax.tree.map(jnp.add, bends, new)


def _averaging(step_size: Float[Array, ""]) -> DualAveragingState:
    """Strongly typed from the start: a weak type would compile every program twice."""
    count = jnp.ones((), int)
    # The average begins where the search does: without a step it is what is used.
    floats = _init(step_size)._replace(step=0.0, log_x_avg=jnp.log(step_size))
    return jax.tree.map(lambda x: jnp.asarray(x, float), floats)._replace(step=count)


def _length_gradient(adaptation, before, info, acceptance, length) -> Float[Array, ""]:
    """Direction in which the expected squared change of the squared radius grows (ChEES).

    The radius is that of the parameters alone: thousands of white coordinates turn over
    quickly, and would settle for trajectories that leave the few slow ones behind.
    """
    slow = 1 - adaptation.white
    inverse = slow / adaptation.variance
    centre = jnp.where(
        adaptation.moments.seen > 0, adaptation.moments.mean, jnp.mean(before, axis=0)
    )
    old, new = before - centre, info.proposal - centre
    growth = jnp.sum((new**2 - old**2) * inverse, axis=1)
    speed = jnp.sum(slow * new * info.speed, axis=1)
    each = growth * speed * length
    usable = jnp.isfinite(each)
    weight = jnp.where(usable, acceptance, 0.0)
    return jnp.sum(weight * jnp.where(usable, each, 0.0)) / (jnp.sum(weight) + 1e-12)


def _counted(moments: Moments, positions: Float[Array, "chains dim"]) -> Moments:
    """The mean with the positions of all chains at once."""
    chains = positions.shape[0]
    count = moments.seen + chains
    shift = jnp.mean(positions, axis=0) - moments.mean
    return Moments(count, moments.mean + shift * chains / count)
