"""Draws carried to new inputs and new members: append standard normals, colour again.

A Cholesky factor of more inputs begins with the factor of the old ones, so old white
coordinates keep their meaning as long as order is kept, and the new ones are independent
standard normals: f_new = L21 white + L22 new. This is exact.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.model.grid import Grid
from dpmf.model.layout import Grids, Layout, layout
from dpmf.model.predictor import cell_features, predictor
from dpmf.model.state import State, White


def predictions(
    problem: Problem, points: Grids, states: State, upcoming: Dyads, seed: int
) -> Float[np.ndarray, "chains draws events pair"]:
    """y of upcoming events, for every draw.

    Args:
        problem: The training problem.
        points: Its grids.
        states: Draws with leading axes (chains, draws).
        upcoming: Events encoded with the training codebook; values are ignored.
        seed: Of whatever the training data say nothing about.
    """
    return _of_every_draw(predictor, problem, points, states, upcoming, seed)


def feature_draws(
    problem: Problem, points: Grids, states: State, upcoming: Dyads, seed: int
) -> tuple[
    Float[np.ndarray, "chains draws rank cells"], Float[np.ndarray, "chains draws rank cells"]
]:
    """What `predictions` multiplies: u and softplus(v) at each cell, for every draw.

    Args:
        problem: The training problem.
        points: Its grids.
        states: Draws with leading axes (chains, draws).
        upcoming: Events encoded with the training codebook; values are ignored.
        seed: The same events and seed give the features behind the same predictions.
    """
    return _of_every_draw(cell_features, problem, points, states, upcoming, seed)


def _of_every_draw(entry, problem, points, states, upcoming, seed):
    wider, arrays = layout(points, upcoming)
    sizes = widening(points, wider, arrays)
    chains, draws = states.free.rows.mean.shape[:2]
    found = []
    for chain in range(chains):
        chunk = jax.tree.map(lambda x, c=chain: jnp.asarray(x[c]), states)
        numbers = chain * draws + jnp.arange(draws)
        many = _many(problem, arrays, chunk, numbers, jr.key(seed), sizes, entry)
        found.append(jax.tree.map(np.asarray, many))
    return jax.tree.map(lambda *each: np.stack(each), *found)


# Compiled once for all events of one shape.
@partial(jax.jit, static_argnames=("sizes", "entry"))
def _many(problem, arrays, states, numbers, key, sizes, entry):
    def one(args):
        state, number = args
        values = problem.parameters(state)
        white = extended_white(state.white, sizes, jr.fold_in(key, number))
        return entry(problem.spec, white, values, arrays)

    return jax.lax.map(one, (states, numbers), batch_size=8)


class Widening(NamedTuple):
    """How the white coordinates of one part grow."""

    before: tuple[int, ...]  # levels of each factor of the grid
    after: tuple[int, ...]
    members: int


def widening(old: Grids, new: Grids, arrays: Layout) -> tuple[Widening | None, ...]:
    """The sizes of all four parts; None where the mean is constant."""
    members = (arrays.rows.members, arrays.cols.members, 1, 1)

    def one(before: Grid | None, after: Grid | None, count: int) -> Widening | None:
        return Widening(before.shape, after.shape, count) if before and after else None

    return tuple(map(one, old, new, members))


def extended_white(
    white: White, sizes: tuple[Widening | None, ...], key: Key[Array, ""]
) -> White:
    """White coordinates on wider grids: the old ones where they were, fresh ones elsewhere."""
    parts = zip(jr.split(key, 4), white, sizes, strict=True)
    return White(
        *(None if size is None else _padded(k, block, *size) for k, block, size in parts)
    )


def _padded(
    key: Key[Array, ""],
    block: Float[Array, "rank members inputs"],
    before: tuple[int, ...],
    after: tuple[int, ...],
    members: int,
) -> Float[Array, "rank more_members more_inputs"]:
    rank = block.shape[0]
    fresh = jr.normal(key, (rank, members, *after))
    corner = tuple(slice(0, count) for count in before)
    old = block.reshape(rank, block.shape[1], *before)
    filled = fresh.at[(slice(None), slice(0, block.shape[1]), *corner)].set(old)
    return filled.reshape(rank, members, math.prod(after))
