"""Draws carried to new inputs and new members: append standard normals, colour again.

A Cholesky factor of more inputs begins with the factor of the old ones, so old white
coordinates keep their meaning as long as order is kept, and the new ones are independent
standard normals: f_new = L21 white + L22 new. This is exact.
"""

import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.model.layout import Grids, layout
from dpmf.model.predictor import predictor
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
    wider, arrays = layout(points, upcoming)
    chains, draws = states.free.rows.mean.shape[:2]
    key = jr.key(seed)

    @jax.jit
    def many(problem, arrays, chunk, numbers):
        def one(args):
            state, number = args
            values = problem.parameters(state)
            white = extended_white(state.white, points, wider, arrays, jr.fold_in(key, number))
            return predictor(problem.spec, white, values, arrays)

        return jax.lax.map(one, (chunk, numbers), batch_size=8)

    found = []
    for chain in range(chains):
        chunk = jax.tree.map(lambda x, c=chain: jnp.asarray(x[c]), states)
        numbers = chain * draws + jnp.arange(draws)
        found.append(np.asarray(many(problem, arrays, chunk, numbers)))
    return np.stack(found)


def extended_white(white: White, old: Grids, new: Grids, arrays, key: Key[Array, ""]) -> White:
    """White coordinates on wider grids: the old ones where they were, fresh ones elsewhere."""
    keys = dict(zip(White._fields, jr.split(key, 4), strict=True))

    def padded(name: str, members: int) -> Float[Array, "rank members inputs"] | None:
        block, before, after = (getattr(x, name) for x in (white, old, new))
        if block is None:
            return None
        return _padded(keys[name], block, before.shape, after.shape, members)

    return White(
        padded("rows", arrays.rows.members),
        padded("cols", arrays.cols.members),
        padded("rows_pooled", 1),
        padded("cols_pooled", 1),
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
