r"""Functions of some members given new events, by annealed importance sampling (Neal 2001).

A posterior draw holds the functions of these members given all else. New events come in by
and by, to a power $\beta$ that rises from 0 to 1. At every power the functions move under the
density that it gives, by elliptical slices, and the log weight grows by the rise of $\beta$
times the log likelihood of the new events. However few the steps, states so weighted stand
for the posterior that has the new events too, and the average weight is their marginal
likelihood; more steps make steadier weights. Everything else is held, so only events of these
members are looked at.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.inference.moving import Moving, Newcomers
from dpmf.likelihoods.base import IndependentNoise, Noise
from dpmf.model.colouring import Over
from dpmf.model.features import features
from dpmf.model.gather import sums
from dpmf.model.layout import SideLayout
from dpmf.model.predictor import means, product, side_factors, side_features
from dpmf.model.spec import SideSpec
from dpmf.model.state import Part, Side, State
from dpmf.samplers import elliptical

EARLY = 3  # powers are cubes: the first events to be heard change the most


class _Side(NamedTuple):
    """One side at known parameters: what is held, and how white becomes the rest."""

    moving: Moving | None
    held: Float[Array, "rank cells"]  # features; the mean of the side where members move
    over: Over
    across_rank: Float[Array, "rank rank"]

    def added(self, white: Float[Array, "rank *shape"]) -> Float[Array, "rank own"]:
        """What members that move add to the mean."""
        assert self.moving is not None
        own = self.moving.functions
        return own.at_cells(features(own.coloured(white, self.over), self.across_rank))

    def features(self, added: Float[Array, "rank own"] | None) -> Float[Array, "rank cells"]:
        """Features of everybody."""
        if self.moving is None or added is None:
            return self.held
        return self.held.at[:, self.moving.cells].add(added)


def powers(steps: int) -> Float[np.ndarray, " powers"]:
    """Powers of the new events, from 0 to 1."""
    return (np.arange(steps + 1) / steps) ** EARLY


def annealed(
    key: Key[Array, ""], some: Newcomers, state: State, rising: Float[Array, " powers"]
) -> tuple[State, Float[Array, ""]]:
    """A state that has heard the new events, and its log weight.

    Args:
        key: Random key.
        some: The events, and who moves.
        state: A draw of the posterior without the new events, on points that have theirs.
        rising: Powers of the new events, from 0 to 1.
    """
    problem, white = some.problem, state.white
    spec, arrays, values = problem.spec, problem.arrays, problem.parameters(state)
    noise, shape = spec.likelihood.at(values.noise), arrays.values.shape
    rows = _side(spec.rows, values.rows, arrays.rows, white.rows, white.rows_pooled, some.rows)
    cols = _side(spec.cols, values.cols, arrays.cols, white.cols, white.cols_pooled, some.cols)

    def features_of(side: _Side, own: Part) -> Float[Array, "rank cells"]:
        return side.features(None if own is None else side.added(own))

    def at(u: Float[Array, "rank cells"], v: Float[Array, "rank cells"]):
        return product(u, jax.nn.softplus(v)).reshape(shape)

    def step(carry, by):
        (own_rows, own_cols), total = carry
        key, before, power = by
        key_rows, key_cols = jr.split(key)
        u, v = features_of(rows, own_rows), features_of(cols, own_cols)
        each = noise.log_prob(at(u, v), arrays.values)
        total += (power - before) * jnp.sum(jnp.where(some.new, each, 0.0))
        density = _Density(noise, arrays.values, jnp.where(some.new, power, 1.0))
        own_rows = _moved(key_rows, rows, own_rows, lambda u: at(u, v), density)
        u = features_of(rows, own_rows)
        own_cols = _moved(key_cols, cols, own_cols, lambda v: at(u, v), density)
        return ((own_rows, own_cols), total), None

    start = (_own(some.rows, white.rows), _own(some.cols, white.cols))
    keys = jr.split(key, len(rising) - 1)
    by = (keys, rising[:-1], rising[1:])
    (found, total), _ = jax.lax.scan(step, (start, jnp.zeros(())), by)
    moved = white._replace(
        rows=_put(some.rows, white.rows, found[0]), cols=_put(some.cols, white.cols, found[1])
    )
    return state._replace(white=moved), total


class _Density(NamedTuple):
    """The likelihood with new events to a power."""

    noise: Noise
    values: Float[Array, "events pair"]
    weight: Float[Array, " events"]

    def whole(self, y: Float[Array, "events pair"]) -> Float[Array, ""]:
        return jnp.sum(self.weight * self.noise.log_prob(y, self.values))

    def cells(self, y: Float[Array, "events pair"]) -> Float[Array, " cells"]:
        assert isinstance(self.noise, IndependentNoise)
        each = self.noise.cell_log_prob(y, self.values)
        return (self.weight[:, None] * each).reshape(-1)


def _side(
    spec: SideSpec,
    shared: Side,
    cells: SideLayout,
    white: Part,
    pooled_white: Part,
    moving: Moving | None,
) -> _Side:
    over = side_factors(spec, shared, cells)
    every = side_features(white, pooled_white, over, shared, cells)
    across_rank = shared.sd[:, None] * shared.corr
    if moving is None:
        return _Side(None, every, (), across_rank)
    mean = jnp.broadcast_to(means(pooled_white, over, shared, cells), every.shape)
    held = every.at[:, moving.cells].set(mean[:, moving.cells])
    own = moving.functions.factors(spec.kernel, shared.theta or {})
    return _Side(moving, held, own, across_rank)


def _moved(
    key: Key[Array, ""],
    side: _Side,
    white: Part,
    entries: Callable[[Float[Array, "rank cells"]], Float[Array, "events pair"]],
    density: _Density,
) -> Part:
    """Each member that moves goes along an ellipse of its own."""
    if side.moving is None:
        return white
    moving, members = side.moving, side.moving.functions.members
    key_other, key_angle = jr.split(key)
    other = jr.normal(key_other, white.shape, white.dtype)
    here, there = side.added(white), side.added(other)

    def turned(angle: Float[Array, " some"]) -> Float[Array, "events pair"]:
        each = angle[moving.member.entry][None]
        return entries(side.features(jnp.cos(each) * here + jnp.sin(each) * there))

    if isinstance(density.noise, IndependentNoise):  # then so are members, given the others

        def per_member(angle):
            return sums(moving.member, density.cells(turned(angle))[moving.cells], members)

        angle, _ = elliptical.angle_step(key_angle, per_member, members)
    else:
        angle = _in_turn(key_angle, lambda angle: density.whole(turned(angle)), members)
    owner = moving.functions.owner
    return elliptical.turned(white, other, angle if owner is None else angle[owner], axis=1)


def _in_turn(
    key: Key[Array, ""], log_likelihood: Callable[[Array], Float[Array, ""]], members: int
) -> Float[Array, " some"]:
    """Angles of members that move one after another."""

    def one(angles, member):
        def alone(angle):
            return log_likelihood(angles.at[member].set(angle[0]))[None]

        angle, _ = elliptical.angle_step(jr.fold_in(key, member), alone, 1)
        return angles.at[member].set(angle[0]), None

    return jax.lax.scan(one, jnp.zeros(members), jnp.arange(members))[0]


def _own(moving: Moving | None, white: Part) -> Part:
    return None if moving is None else white[:, moving.places]


def _put(moving: Moving | None, white: Part, own: Part) -> Part:
    return white if moving is None else white.at[:, moving.places].set(own)
