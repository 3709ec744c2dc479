"""The level of y as a coordinate: the same posterior, seen from elsewhere."""

import jax
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


@pytest.fixture(params=PROBLEMS)
def problem(request, x64):
    return PROBLEMS[request.param]()


def test_levelled_has_an_inverse(problem):
    state = state_of(problem, 1)
    there = jax.jit(level.levelled)(problem, state)
    back = jax.jit(level.free_state)(problem, there)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(back), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-10)


def test_the_coordinate_is_the_average_of_y(problem):
    state = state_of(problem, 2)
    y = predictor(problem.spec, state.white, problem.parameters(state), problem.arrays)
    first = level.levelled(problem, state).free.rows.mean[0]
    assert first == pytest.approx(float(y.mean()) / problem.spec.scale)


def test_density_has_the_jacobian_of_the_map(problem):
    """Moving the coordinate by h moves the old one by h times the Jacobian, exactly."""
    density, old = jax.jit(level.log_density), jax.jit(lambda p, s: p.log_density(s))
    free_state = jax.jit(level.free_state)
    h = 0.25
    for seed in range(3):
        here = level.levelled(problem, state_of(problem, seed))
        rows = here.free.rows
        moved = rows._replace(mean=rows.mean.at[0].add(h))
        there = here._replace(free=here.free._replace(rows=moved))
        a, b = (free_state(problem, s) for s in (here, there))
        slope = float(b.free.rows.mean[0] - a.free.rows.mean[0]) / h
        jacobian = np.log(slope / problem.spec.scale)  # the scale is a constant left out
        assert float(density(problem, here)) == pytest.approx(
            float(old(problem, a)) + jacobian, rel=1e-9
        )
