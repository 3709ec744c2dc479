"""The level of y as a coordinate: the same posterior, seen from elsewhere."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf import DPMF
from dpmf.inference import level
from dpmf.kernels import Matern12
from dpmf.likelihoods import Ordinal
from dpmf.model.predictor import predictor
from inference.fitted import (
    FORM,
    game_dyads,
    games,
    problem_of,
    rating_dyads,
    ratings,
    state_of,
)

PROBLEMS = {
    "games": lambda: problem_of(DPMF(2, FORM), game_dyads(games())),
    "stars": lambda: problem_of(
        DPMF(3, Matern12("week"), Ordinal(4), mean="pooled"), rating_dyads(ratings(Ordinal(4)))
    ),
}


def rarely_seen():
    """Cells at the last two points of the pooled mean count for little."""
    problem = PROBLEMS["stars"]()
    points = np.asarray(problem.arrays.rows.pooled.cells.entry)
    weight = np.ones(len(points))
    weight[points >= points.max() - 1] = 0.01
    arrays = dataclasses.replace(problem.arrays, weight=jnp.asarray(weight))
    return dataclasses.replace(problem, arrays=arrays)


@pytest.fixture(params=[*PROBLEMS, "rarely seen"])
def problem(request, x64):
    return PROBLEMS.get(request.param, rarely_seen)()


def test_levelled_has_an_inverse(problem):
    state = state_of(problem, 1)
    there = jax.jit(level.levelled)(problem, state)
    back = jax.jit(level.free_state)(problem, there)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-10)


def test_the_coordinates_are_averages_of_y(problem):
    state = state_of(problem, 2)
    y = predictor(problem.spec, state.white, problem.parameters(state), problem.arrays)
    y = np.asarray(y).reshape(-1) / problem.spec.scale
    there = level.levelled(problem, state)
    mean = problem.arrays.rows.pooled
    if mean is None:
        assert there.free.rows.mean[0] == pytest.approx(y.mean())
        return
    points, weight = np.asarray(mean.cells.entry), np.asarray(problem.arrays.weight)
    settled = np.asarray(level.settled(problem))
    expected = [
        np.average(y[points == point], weights=weight[points == point])
        for point in np.flatnonzero(settled)
    ]
    np.testing.assert_allclose(there.white.rows_pooled[0, 0, settled], expected)
    # A point that few cells see keeps its white.
    rest = ~settled
    np.testing.assert_array_equal(
        there.white.rows_pooled[:, :, rest], state.white.rows_pooled[:, :, rest]
    )


def test_points_that_few_cells_see_have_no_level(x64):
    assert level.settled(PROBLEMS["stars"]()).all()
    settled = np.asarray(level.settled(rarely_seen()))
    assert settled[:-2].all() and not settled[-2:].any()


def test_no_point_behind_one_without_a_level_has_one(x64):
    problem = PROBLEMS["stars"]()
    first = np.asarray(problem.arrays.rows.pooled.cells.entry) == 0
    arrays = dataclasses.replace(problem.arrays, weight=jnp.where(first, 0.0, 1.0))
    assert not level.settled(dataclasses.replace(problem, arrays=arrays)).any()


def test_a_point_without_cells_keeps_its_coordinate(x64):
    problem = PROBLEMS["stars"]()
    first = np.asarray(problem.arrays.rows.pooled.cells.entry) == 0
    arrays = dataclasses.replace(problem.arrays, weight=jnp.where(first, 0.0, 1.0))
    problem = dataclasses.replace(problem, arrays=arrays)
    state = state_of(problem, 1)
    back = level.free_state(problem, level.levelled(problem, state))
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-10)
    assert np.isfinite(level.log_density(problem, level.levelled(problem, state)))


def test_density_has_the_jacobian_of_the_map(problem):
    """The log determinant of the whole map, up to a constant that is the same everywhere."""

    @jax.jit
    def constant(position):
        def free(position):
            return problem.flat(level.free_state(problem, problem.unflat(position)))

        old = problem.log_density(problem.unflat(free(position)))
        volume = jnp.linalg.slogdet(jax.jacrev(free)(position))[1]
        return level.log_density(problem, problem.unflat(position)) - old - volume

    there = [level.levelled(problem, state_of(problem, seed)) for seed in range(3)]
    found = [float(constant(problem.flat(one))) for one in there]
    np.testing.assert_allclose(found, found[0], atol=1e-7)
