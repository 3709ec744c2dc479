"""Draws carried to new inputs and new members: draw what is new given what is known.

On shared inputs that is appending standard normals: a Cholesky factor of more inputs begins
with the factor of the old ones, so old white coordinates keep their meaning as long as order
is kept, and f_new = L21 white + L22 new. Other representations have their own way
(`points.Widening`). All are exact.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Key

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.model.layout import Grids, Layout, layout
from dpmf.model.points import Points, Widening
from dpmf.model.predictor import predictor, product_features
from dpmf.model.spec import Spec
from dpmf.model.state import Parameters, State, White
from dpmf.model.widening import MoreMembers


class Widenings(NamedTuple):
    """How the white of each part grows; None where the mean is constant."""

    rows: Widening
    cols: Widening
    rows_pooled: Widening | None
    cols_pooled: Widening | None
    rows_intercept: MoreMembers
    cols_intercept: MoreMembers
    rows_noise: MoreMembers


def predictions(
    problem: Problem,
    points: Grids,
    states: State,
    upcoming: Dyads,
    seed: int,
    some: Int[np.ndarray, " some"] | None = None,
) -> tuple[
    Float[np.ndarray, "chains draws events pair"],
    Float[np.ndarray, "chains draws some size"] | None,
]:
    """y of upcoming events, for every draw, and what the noise has for some rows.

    Args:
        problem: The training problem.
        points: Its grids.
        states: Draws with leading axes (chains, draws).
        upcoming: Events encoded with the training codebook; values are ignored.
        seed: Of whatever the training data say nothing about.
        some: The rows whose own numbers are asked for.
    """
    return _of_every_draw(_entries_and_own, problem, points, states, upcoming, seed, some)


def _entries_and_own(
    spec: Spec,
    white: White,
    values: Parameters,
    arrays: Layout,
    some: Int[Array, " some"] | None,
):
    own = None if some is None else white.rows_noise[some]
    return predictor(spec, white, values, arrays), own


def feature_draws(
    problem: Problem, points: Grids, states: State, upcoming: Dyads, seed: int
) -> tuple[
    Float[np.ndarray, "chains draws features cells"],
    Float[np.ndarray, "chains draws features cells"],
]:
    """What `predictions` multiplies: u and softplus(v) at each cell, for every draw.

    Where there are intercepts they are two more features, each facing a 1.

    Args:
        problem: The training problem.
        points: Its grids.
        states: Draws with leading axes (chains, draws).
        upcoming: Events encoded with the training codebook; values are ignored.
        seed: The same events and seed give the features behind the same predictions.
    """
    return _of_every_draw(product_features, problem, points, states, upcoming, seed)


def _of_every_draw(entry, problem, points, states, upcoming, seed, *more):
    wider, arrays = layout(points, upcoming)
    grown = widening(points, wider, arrays)
    chains, draws = states.free.rows.mean.shape[:2]
    found = []
    for chain in range(chains):
        chunk = jax.tree.map(lambda x, c=chain: jnp.asarray(x[c]), states)
        numbers = chain * draws + jnp.arange(draws)
        many = _many(problem, arrays, chunk, numbers, jr.key(seed), grown, more, entry)
        found.append(jax.tree.map(np.asarray, many))
    return jax.tree.map(lambda *each: np.stack(each), *found)


# Compiled once for all events of one shape.
@partial(jax.jit, static_argnames="entry")
def _many(problem, arrays, states, numbers, key, grown, more, entry):
    def one(args):
        state, number = args
        values = problem.parameters(state)
        key_new = jr.fold_in(key, number)
        white = extended_white(problem.spec, state.white, values, grown, key_new)
        return entry(problem.spec, white, values, arrays, *more)

    return jax.lax.map(one, (states, numbers), batch_size=8)


def widening(old: Grids, new: Grids, arrays: Layout) -> Widenings:
    """How all parts grow; None where the mean is constant."""
    members = (arrays.rows.members, arrays.cols.members, 1, 1)

    def one(before: Points | None, after: Points | None, count: int) -> Widening | None:
        return None if before is None else before.widening(after, count)

    added = map(MoreMembers, (*members[:2], members[0]))
    return Widenings._make([*map(one, old, new, members), *added])


def extended_white(
    spec: Spec, white: White, values: Parameters, wider: Widenings, key: Key[Array, ""]
) -> White:
    """White coordinates at old and new points, of old and new members.

    Args:
        spec: The model.
        white: At the old points.
        values: Parameters of the draw.
        wider: What `widening` gave.
        key: Source of whatever the old coordinates say nothing about.
    """
    rows, cols = values.rows, values.cols
    families: tuple[tuple[Any, Any], ...] = (
        (spec.rows.kernel, rows.theta),
        (spec.cols.kernel, cols.theta),
        (spec.rows.pooled, rows.pooled_theta),
        (spec.cols.pooled, cols.pooled_theta),
    )
    parts = zip(jr.split(key, 4), white[:4], wider[:4], families, strict=True)
    functions = (
        None if one is None else one.widened(block, kernel, theta or {}, k)
        for k, block, one, (kernel, theta) in parts
    )
    added = zip(white[4:], wider[4:], strict=True)
    numbers = (
        None if block is None else more.widened(block, jr.fold_in(key, 4 + place))
        for place, (block, more) in enumerate(added)
    )
    return White(*functions, *numbers)
