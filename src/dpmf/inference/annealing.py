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
from dpmf.inference.problem import Problem
from dpmf.likelihoods.base import IndependentNoise, Noise
from dpmf.model.colouring import Over
from dpmf.model.features import features
from dpmf.model.gather import sums, take
from dpmf.model.noise import noise_at
from dpmf.model.predictor import (
    means,
    product,
    side_factors,
    side_features,
    side_intercepts,
)
from dpmf.model.state import Part, Side, State, White
from dpmf.samplers import elliptical

EARLY = 3  # powers are cubes: the first events to be heard change the most


class _Own(NamedTuple):
    """What moves of one side: white of some members, their intercepts and their noise."""

    white: Float[Array, "rank *shape"]
    intercept: Part
    noise: Part = None  # of rows alone


class _Entries(NamedTuple):
    """What one side brings to y at every cell: features, and what is added."""

    features: Float[Array, "rank cells"]
    added: Float[Array, " #cells"]


class _Side(NamedTuple):
    """One side at known parameters: what is held, and how white becomes the rest."""

    moving: Moving | None
    held: _Entries  # where members move, the mean of the side, and nothing added
    over: Over
    across_rank: Float[Array, "rank rank"]
    intercept_sd: Part

    def own(self, own: _Own) -> _Entries:
        """What members that move bring besides the mean, at their own cells."""
        assert self.moving is not None
        functions = self.moving.functions
        mixed = features(functions.coloured(own.white, self.over), self.across_rank)
        added = jnp.zeros(1)
        if own.intercept is not None:
            added = take(self.intercept_sd * own.intercept, self.moving.member)
        return _Entries(functions.at_cells(mixed), added)

    def entries(self, own: _Entries | None) -> _Entries:
        """What everybody brings."""
        if self.moving is None or own is None:
            return self.held
        cells, held = self.moving.cells, self.held
        added = held.added if self.intercept_sd is None else held.added.at[cells].add(own.added)
        return _Entries(held.features.at[:, cells].add(own.features), added)


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
    arrays, values = problem.arrays, problem.parameters(state)
    shape = arrays.values.shape
    rows = _side(problem, state, "rows", some.rows)
    cols = _side(problem, state, "cols", some.cols)

    def entries_of(side: _Side, own: _Own | None) -> _Entries:
        return side.entries(None if own is None else side.own(own))

    def at(u: _Entries, v: _Entries) -> Float[Array, "events pair"]:
        y = product(u.features, jax.nn.softplus(v.features)) + u.added + v.added
        return y.reshape(shape)

    def noise_of(own: _Own | None) -> Noise:
        now = _put(some.rows, white, "rows", own)
        return noise_at(problem.spec, now, values, arrays)

    def step(carry, by):
        (own_rows, own_cols), total = carry
        key, before, power = by
        key_rows, key_cols, key_noise = jr.split(key, 3)
        noise = noise_of(own_rows)
        u, v = entries_of(rows, own_rows), entries_of(cols, own_cols)
        each = noise.log_prob(at(u, v), arrays.values)
        total += (power - before) * jnp.sum(jnp.where(some.new, each, 0.0))
        density = _Density(noise, arrays.values, jnp.where(some.new, power, 1.0))
        own_rows = _moved(key_rows, rows, own_rows, lambda u: at(u, v), density)
        u = entries_of(rows, own_rows)
        own_cols = _moved(key_cols, cols, own_cols, lambda v: at(u, v), density)
        y = at(u, entries_of(cols, own_cols))
        own_rows = _noise_moved(key_noise, some.rows, own_rows, noise_of, y, density)
        return ((own_rows, own_cols), total), None

    start = (_own(some.rows, white, "rows"), _own(some.cols, white, "cols"))
    keys = jr.split(key, len(rising) - 1)
    by = (keys, rising[:-1], rising[1:])
    (found, total), _ = jax.lax.scan(step, (start, jnp.zeros(())), by)
    moved = _put(some.rows, white, "rows", found[0])
    moved = _put(some.cols, moved, "cols", found[1])
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


def _side(problem: Problem, state: State, name: str, moving: Moving | None) -> _Side:
    spec, cells = getattr(problem.spec, name), getattr(problem.arrays, name)
    shared: Side = getattr(problem.parameters(state), name)
    white, pooled, intercept = (
        getattr(state.white, f"{name}{part}") for part in ("", "_pooled", "_intercept")
    )
    over = side_factors(spec, shared, cells)
    every = side_features(white, pooled, over, shared, cells)
    added = side_intercepts(intercept, shared, cells)
    added = jnp.zeros(1) if added is None else added
    across_rank = shared.sd[:, None] * shared.corr
    if moving is None:
        return _Side(None, _Entries(every, added), (), across_rank, shared.intercept_sd)
    mean = jnp.broadcast_to(means(pooled, over, shared, cells), every.shape)
    held = every.at[:, moving.cells].set(mean[:, moving.cells])
    if intercept is not None:
        added = added.at[moving.cells].set(0.0)
    own = moving.functions.factors(spec.kernel, shared.theta or {})
    return _Side(moving, _Entries(held, added), own, across_rank, shared.intercept_sd)


def _moved(
    key: Key[Array, ""],
    side: _Side,
    own: _Own | None,
    entries: Callable[[_Entries], Float[Array, "events pair"]],
    density: _Density,
) -> _Own | None:
    """Each member that moves goes along an ellipse of its own."""
    if side.moving is None or own is None:
        return own
    moving, members = side.moving, side.moving.functions.members
    key_other, key_added, key_angle = jr.split(key, 3)
    added = None if own.intercept is None else jr.normal(key_added, own.intercept.shape)
    other = _Own(jr.normal(key_other, own.white.shape, own.white.dtype), added)
    here, there = side.own(own), side.own(other)

    def turned(angle: Float[Array, " some"]) -> Float[Array, "events pair"]:
        each = angle[moving.member.entry]
        mixed = jax.tree.map(lambda x, y: jnp.cos(each) * x + jnp.sin(each) * y, here, there)
        return entries(side.entries(mixed))

    if isinstance(density.noise, IndependentNoise):  # then so are members, given the others

        def per_member(angle):
            return sums(moving.member, density.cells(turned(angle))[moving.cells], members)

        angle, _ = elliptical.angle_step(key_angle, per_member, members)
    else:
        angle = _in_turn(key_angle, lambda angle: density.whole(turned(angle)), members)
    owner = moving.functions.owner
    every = angle if owner is None else angle[owner]
    own = own._replace(white=elliptical.turned(own.white, other.white, every, axis=1))
    if added is None:
        return own
    return own._replace(intercept=elliptical.turned(own.intercept, added, angle, axis=0))


def _noise_moved(
    key: Key[Array, ""],
    moving: Moving | None,
    own: _Own | None,
    noise_of: Callable[[_Own], Noise],
    y: Float[Array, "events pair"],
    density: _Density,
) -> _Own | None:
    """What the noise has for each row that moves, along an ellipse of its own."""
    if moving is None or own is None or own.noise is None:
        return own

    def on_ellipse(other):
        def per_member(angle):
            turned = elliptical.turned(own.noise, other, angle)
            there = density._replace(noise=noise_of(own._replace(noise=turned)))
            return sums(moving.member, there.cells(y)[moving.cells], len(own.noise))

        return per_member

    return own._replace(noise=elliptical.step(key, own.noise, on_ellipse)[0])


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


def _own(moving: Moving | None, white: White, side: str) -> _Own | None:
    if moving is None:
        return None
    intercept: Part = getattr(white, f"{side}_intercept")
    added = None if intercept is None else intercept[moving.who]
    noise = white.rows_noise if side == "rows" else None
    noise = None if noise is None else noise[moving.who]
    return _Own(getattr(white, side)[:, moving.places], added, noise)


def _put(moving: Moving | None, white: White, side: str, own: _Own | None) -> White:
    if moving is None or own is None:
        return white
    moved = {side: getattr(white, side).at[:, moving.places].set(own.white)}
    if own.intercept is not None:
        name = f"{side}_intercept"
        moved[name] = getattr(white, name).at[moving.who].set(own.intercept)
    if own.noise is not None:
        moved["rows_noise"] = white.rows_noise.at[moving.who].set(own.noise)
    return white._replace(**moved)
