"""The paper's transition: elliptical slices for functions, slices for everything else."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from dpmf.inference import own_scales
from dpmf.inference.problem import Problem
from dpmf.likelihoods.base import CellLogProb, IndependentNoise, Noise
from dpmf.model.coordinates import free_coordinates
from dpmf.model.gather import sums
from dpmf.model.layout import SideLayout
from dpmf.model.noise import noise_at, own_noise_at
from dpmf.model.predictor import (
    Coloured,
    deviations,
    intercepts,
    means,
    predictor,
    product,
    side_factors,
    side_intercepts,
)
from dpmf.model.state import Parameters, State, White
from dpmf.samplers import elliptical, slice


class Info(NamedTuple):
    """What happened in one sweep."""

    shrinks: Float[Array, ""]  # average over members
    evaluations: Int[Array, ""]  # of the whole density
    stayed: Int[Array, ""]  # moves cut off by a limit


class _Side(NamedTuple):
    """One side of the product while the other is held."""

    cells: SideLayout
    over: Coloured
    mean: Float[Array, "rank cells"]
    deviation: Float[Array, "rank cells"]


def sweep(
    key: Key[Array, ""],
    problem: Problem,
    state: State,
    widths: Float[Array, " coordinates"],
) -> tuple[State, Info]:
    """One pass over everything: members, pooled means, then all free coordinates.

    First of all, what rows have for themselves keeps its values and changes its scales.
    """
    # Split once: a folded key may be one of those that a split gives.
    key_members, key_rows, key_cols, key_free, key_own = jr.split(key, 5)
    state = own_scales.moved(key_own, problem, state)
    white, info = members(key_members, problem, state)
    state = state._replace(white=white)
    if problem.spec.rows.pooled is not None:
        state = _pooled(key_rows, problem, state, "rows")
    if problem.spec.cols.pooled is not None:
        state = _pooled(key_cols, problem, state, "cols")
    state, moves = _free(key_free, problem, state, widths)
    stayed = info.stayed + jnp.sum(moves.stayed)
    return state, Info(info.shrinks, jnp.sum(moves.evaluations), stayed)


def members(key: Key[Array, ""], problem: Problem, state: State) -> tuple[White, Info]:
    """Move the functions of all rows, then of all columns."""
    key_split, key_rows, key_cols, *keys_added, key_own = jr.split(key, 6)
    spec, arrays, values = problem.spec, problem.arrays, problem.parameters(state)
    white = state.white
    rows = _side(spec.rows, values.rows, arrays.rows, white.rows, white.rows_pooled)
    cols = _side(spec.cols, values.cols, arrays.cols, white.cols, white.cols_pooled)
    noise = noise_at(spec, white, values, arrays)
    unit = jax.nn.softplus(cols.mean + cols.deviation)
    added = intercepts(white, values, arrays)
    y = product(rows.mean + rows.deviation, unit) + added
    # The auxiliary variables of dependent cells live for this pass only.
    per_cell = noise.split(key_split, y.reshape(arrays.values.shape), arrays.values)

    level = jnp.sum(rows.mean * unit, axis=0) + added

    def row_entries(other: Float[Array, "rank *shape"]):
        moved = deviations(other, rows.over, values.rows, arrays.rows)
        here, there = jnp.sum(rows.deviation * unit, 0), jnp.sum(moved * unit, 0)
        return lambda cos, sin: level + cos * here + sin * there  # y is linear in rows

    new_rows, row_info = _moved(
        key_rows, problem, white.rows, row_entries, arrays.rows, per_cell, noise,
        arrays.rows.functions.owner,
    )  # fmt: skip
    u = rows.mean + deviations(new_rows, rows.over, values.rows, arrays.rows)

    def col_entries(other: Float[Array, "rank *shape"]):
        moved = deviations(other, cols.over, values.cols, arrays.cols)

        def at(cos, sin):
            v = cols.mean + cos * cols.deviation + sin * moved
            return product(u, jax.nn.softplus(v)) + added

        return at

    new_cols, col_info = _moved(
        key_cols, problem, white.cols, col_entries, arrays.cols, per_cell, noise,
        arrays.cols.functions.owner,
    )  # fmt: skip
    shrinks = (jnp.mean(row_info.shrinks) + jnp.mean(col_info.shrinks)) / 2
    stayed = jnp.sum(row_info.stayed) + jnp.sum(col_info.stayed)
    white = white._replace(rows=new_rows, cols=new_cols)
    if spec.rows.intercept is not None:
        v = cols.mean + deviations(new_cols, cols.over, values.cols, arrays.cols)
        y = product(u, jax.nn.softplus(v))
        for key_side, side in zip(keys_added, ("rows", "cols"), strict=True):
            white, cut = _intercepts(key_side, problem, white, side, y, per_cell, values, noise)
            stayed += cut
    if spec.likelihood.own is not None:
        white, cut = _own_noise(key_own, problem, white, values)
        stayed += cut
    return white, Info(shrinks, jnp.zeros((), int), stayed)


def _intercepts(
    key: Key[Array, ""],
    problem: Problem,
    white: White,
    side: str,
    y: Float[Array, " cells"],
    per_cell: CellLogProb | None,
    values: Parameters,
    noise: Noise,
) -> tuple[White, Int[Array, ""]]:
    """Move what the members of one side add to `y`, which is linear in it."""
    name = f"{side}_intercept"
    own, shared = getattr(white, name), getattr(values, side)
    cells = getattr(problem.arrays, side)
    here = side_intercepts(own, shared, cells)
    assert here is not None
    rest = y + intercepts(white, values, problem.arrays) - here

    def entries(other: Float[Array, "1 members"]):
        there = side_intercepts(other[0], shared, cells)
        return lambda cos, sin: rest + cos * here + sin * there

    moved, info = _moved(key, problem, own[None], entries, cells, per_cell, noise, None)
    return white._replace(**{name: moved[0]}), jnp.sum(info.stayed)


def _own_noise(
    key: Key[Array, ""], problem: Problem, white: White, values: Parameters
) -> tuple[White, Int[Array, ""]]:
    """Move what the noise has for each row, at the y that they have."""
    spec, arrays = problem.spec, problem.arrays
    y = predictor(spec, white, values, arrays)
    cell_weight = jnp.repeat(arrays.weight, arrays.values.shape[1])

    def on_ellipse(other):
        def log_likelihood(angle):
            own = elliptical.turned(white.rows_noise, other, angle)
            noise = own_noise_at(spec, own, values, arrays)
            assert isinstance(noise, IndependentNoise)  # as `Own` says
            each = cell_weight * noise.cell_log_prob(y, arrays.values).reshape(-1)
            return sums(arrays.rows.member, each, arrays.rows.members)

        return log_likelihood

    moved, info = elliptical.step(key, white.rows_noise, on_ellipse)
    return white._replace(rows_noise=moved), jnp.sum(info.stayed)


def _side(spec, shared, cells, white, pooled_white) -> _Side:
    over = side_factors(spec, shared, cells)
    mean = means(pooled_white, over, shared, cells)
    deviation = deviations(white, over, shared, cells)
    return _Side(cells, over, jnp.broadcast_to(mean, deviation.shape), deviation)


def _moved(
    key: Key[Array, ""],
    problem: Problem,
    white: Float[Array, "rank *shape"],
    entries,
    cells: SideLayout,
    per_cell: CellLogProb | None,
    noise: Noise,
    owner: Int[Array, " points"] | None,
) -> tuple[Float[Array, "rank *shape"], elliptical.Info]:
    """Move the members of one side: all at once, or in turn where cells are dependent.

    `entries(other)` gives y as a function of the cosine and sine of each cell's angle, and
    `owner` the member of each entry along the second axis of white, if it is not that member.
    """
    arrays = problem.arrays
    shape = arrays.values.shape
    if per_cell is not None:
        cell_weight = jnp.repeat(arrays.weight, shape[1])

        def on_ellipse(other):
            at = entries(other)

            def log_likelihood(angle):
                each = angle[cells.member.entry]
                y = at(jnp.cos(each), jnp.sin(each)).reshape(shape)
                weighted = cell_weight * per_cell(y).reshape(-1)
                return sums(cells.member, weighted, cells.members)

            return log_likelihood

        return elliptical.step(key, white, on_ellipse, 1, owner, cells.members)
    return _in_turn(key, problem, white, entries, cells, noise, owner)


def _in_turn(key, problem, white, entries, cells, noise, owner):
    """Members one after another, each under the density of whole events."""
    arrays = problem.arrays
    key_other, key_steps = jr.split(key)
    # One ellipse per member; members not yet reached stay at angle 0 of theirs.
    other = jr.normal(key_other, white.shape, white.dtype)
    at = entries(other)

    def one(angles, member):
        def log_likelihood(angle):
            each = angles.at[member].set(angle[0])[cells.member.entry]
            y = at(jnp.cos(each), jnp.sin(each)).reshape(arrays.values.shape)
            return jnp.sum(arrays.weight * noise.log_prob(y, arrays.values))[None]

        key = jr.fold_in(key_steps, member)
        angle, info = elliptical.angle_step(key, log_likelihood, 1)
        return angles.at[member].set(angle[0]), info

    start = jnp.zeros(cells.members)
    angles, info = jax.lax.scan(one, start, jnp.arange(cells.members))
    each = angles if owner is None else angles[owner]
    moved = elliptical.turned(white, other, each, axis=1)
    return moved, jax.tree.map(lambda x: x[:, 0], info)


def _pooled(key: Key[Array, ""], problem: Problem, state: State, side: str) -> State:
    """Move a side's constant mean and pooled mean function as one block.

    Both are standard normal under the prior, in their own parameters; apart they would
    creep along the ridge on which their sum is fixed.
    """
    spec = getattr(problem.spec, side)
    name = f"{side}_pooled"
    values = problem.parameters(state)
    shared = getattr(values, side)
    joined, split = ravel_pytree((spec.mean.free(shared.mean), getattr(state.white, name)))

    def at(block: Float[Array, " block"]) -> tuple[White, Parameters]:
        mean, pooled = split(block)
        moved = shared._replace(mean=spec.mean.value(mean))
        return state.white._replace(**{name: pooled}), values._replace(**{side: moved})

    def on_ellipse(other):
        def log_likelihood(angle):
            white, moved = at(elliptical.turned(joined, other[0], angle))
            y = predictor(problem.spec, white, moved, problem.arrays)
            noise = noise_at(problem.spec, white, moved, problem.arrays)
            each = noise.log_prob(y, problem.arrays.values)
            return jnp.sum(problem.arrays.weight * each)[None]

        return log_likelihood

    block, _ = elliptical.step(key, joined[None], on_ellipse)
    white, moved = at(block[0])
    new = free_coordinates(problem.spec, moved, problem.fixed)

    def shifted(old, fresh):  # only these depend on the means; the rest is left untouched
        return old._replace(mean=fresh.mean, sd=fresh.sd, pooled_sd=fresh.pooled_sd)

    rows = shifted(state.free.rows, new.rows)
    cols = shifted(state.free.cols, new.cols)
    return State(white, state.free._replace(rows=rows, cols=cols))


def _free(
    key: Key[Array, ""],
    problem: Problem,
    state: State,
    widths: Float[Array, " coordinates"],
) -> tuple[State, slice.Info]:
    """Slice every free coordinate with white held: the paper's reparameterization."""
    position, restore = ravel_pytree(state.free)

    def at(position):
        return problem.log_density(State(state.white, restore(position))), ()

    position, _, info = slice.sweep(key, position, at, widths)
    return state._replace(free=restore(position)), info
