"""The space of trajectories: the same posterior, in coordinates of what is known."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf import DPMF, PMF
from dpmf.inference import aligned, position
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian, Ordinal
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
from inference.test_level import rarely_seen

HELD = Hyperparameters(rows_sd=[3.0, 4.0], cols_sd=[0.2, 0.1])


def held_scales():
    problem = problem_of(DPMF(2, FORM), game_dyads(games()))
    return dataclasses.replace(problem, fixed=HELD.fixed(problem.spec))


PROBLEMS = {
    "games": lambda: problem_of(DPMF(2, FORM), game_dyads(games())),
    "one feature": lambda: problem_of(DPMF(1, FORM), game_dyads(games())),
    "constant": lambda: problem_of(PMF(4), game_dyads(games())),
    "held scales": held_scales,
    "stars": lambda: problem_of(
        DPMF(3, Matern12("week"), Ordinal(4), mean="pooled"), rating_dyads(ratings(Ordinal(4)))
    ),
    "rarely seen": rarely_seen,
}


@pytest.fixture(params=PROBLEMS)
def problem(request, x64):
    return PROBLEMS[request.param]()


def states(problem, count):
    """Different states with the same kernel hyperparameters, and what those determine."""
    first = state_of(problem, 0)

    def same(one, other):
        return one._replace(theta=other.theta, pooled_theta=other.pooled_theta)

    found = [first]
    for seed in range(1, count):
        free = state_of(problem, seed).free
        rows, cols = same(free.rows, first.free.rows), same(free.cols, first.free.cols)
        free = free._replace(rows=rows, cols=cols)
        found.append(state_of(problem, seed)._replace(free=free))
    return found, position.held(problem, problem.parameters(first))


def test_a_position_is_the_state_it_came_from(problem):
    found, known = states(problem, 3)
    back = jax.jit(position.state_at)
    for state in found:
        there = position.position(problem, state, known)
        np.testing.assert_allclose(
            problem.flat(back(problem, there, known)),
            problem.flat(state), rtol=1e-9, atol=1e-9,
        )  # fmt: skip


def test_density_has_the_jacobian_of_the_map(problem):
    """The log determinant of the whole map, up to a constant that is the same everywhere."""
    found, known = states(problem, 3)

    @jax.jit
    def constant(there):
        def free(there):
            return problem.flat(position.state_at(problem, there, known))

        old = problem.log_density(problem.unflat(free(there)))
        volume = jnp.linalg.slogdet(jax.jacrev(free)(there))[1]
        return position.log_density(problem, there, known) - old - volume

    each = [float(constant(position.position(problem, one, known))) for one in found]
    np.testing.assert_allclose(each, each[0], atol=1e-7)


def pmf(rank=3):
    """One point per member: what the coordinates mean can be said in a line."""
    data = rating_dyads(ratings(Gaussian()))
    return problem_of(PMF(rank, Gaussian()), data)


def relative(values):
    """The factor of the columns' relative deviations, and what each feature adds to y."""
    mean = np.asarray(values.cols.mean)
    unit, slope = np.logaddexp(mean, 0), 1 / (1 + np.exp(-mean))
    factor = (np.asarray(values.cols.sd) * slope / unit)[:, None] * np.asarray(values.cols.corr)
    return factor, unit


def levels(problem, state, values):
    """As `relative` has it, with the average of y for the sum over features."""
    factor, unit = relative(values)
    each = unit * np.asarray(values.rows.mean)
    y = predictor(problem.spec, state.white, values, problem.arrays)
    return factor, each + (np.mean(np.asarray(y)) - each.sum()) / len(each)


def test_a_members_coordinate_is_its_share_of_y_in_standard_errors(x64):
    problem = pmf()
    state, arrays, spread = state_of(problem, 4), problem.arrays, problem.spec.spread
    values = problem.parameters(state)
    known = position.held(problem, values)
    there = problem.unflat(position.position(problem, state, known))
    factor, each = levels(problem, state, values)
    unit = relative(values)[1]
    rows = (np.asarray(values.rows.sd) * unit)[:, None] * np.asarray(values.rows.corr)
    sides = {
        "rows": (np.ones(3) @ rows, state.white.rows, there.white.rows, arrays.rows),
        "cols": (each @ factor, state.white.cols, there.white.cols, arrays.cols),
    }
    for direction, white, turned, cells in sides.values():
        games_of = np.bincount(np.asarray(cells.member.entry), minlength=cells.members)
        # As long as the direction is not turned by the floor, which is small here.
        floor = spread / np.sqrt(games_of.max())
        aimed = direction + floor / np.sqrt(3)
        share = aimed / np.linalg.norm(aimed) @ np.asarray(white)[:, :, 0]
        expected = share * np.sqrt(1 + direction @ direction * games_of / spread**2)
        # A reflection of a single number may turn its sign.
        np.testing.assert_allclose(np.abs(turned[0, :, 0]), np.abs(expected), rtol=1e-9)


def test_spreads_are_coordinates(x64):
    problem = pmf()
    state = state_of(problem, 5)
    values = problem.parameters(state)
    there = problem.unflat(position.position(problem, state))
    factor, each = levels(problem, state, values)
    unit = relative(values)[1]
    rows = (np.asarray(values.rows.sd) * unit)[:, None] * np.asarray(values.rows.corr)
    both = np.sum((rows @ rows.T) * (factor @ factor.T))
    assert there.free.rows.sd[0] == pytest.approx(np.log(np.linalg.norm(np.ones(3) @ rows)))
    spread = np.sqrt(np.sum((each @ factor) ** 2) + both) / problem.spec.rows.mean.sd
    assert there.free.cols.sd[0] == pytest.approx(np.log(spread))


def test_contrasts_leave_what_is_known_where_it_is(x64):
    """Moved along any coordinate but those of what is known, y moves to second order only."""
    problem = pmf(2)
    # Data that know every member's share, and small deviations, so that what is left of y
    # beyond the first order is small as well.
    arrays = dataclasses.replace(problem.arrays, weight=1e9 * problem.arrays.weight)
    problem = dataclasses.replace(problem, arrays=arrays)
    state = state_of(problem, 6)
    calm = state.white._replace(rows=0.01 * state.white.rows, cols=0.01 * state.white.cols)
    state = state._replace(white=calm)
    known = position.held(problem, problem.parameters(state))
    there = problem.unflat(position.position(problem, state, known))

    def entries(at):
        new = position.state_at(problem, problem.flat(at), known)
        return predictor(problem.spec, new.white, problem.parameters(new), problem.arrays)

    def moved(side, part, index):
        own = getattr(there.free, side)
        own = own._replace(**{part: getattr(own, part).at[index].add(0.3)})
        return entries(there._replace(free=there.free._replace(**{side: own})))

    deviation = float(jnp.std(entries(there)))
    for side, part, index in [("rows", "mean", 1), ("cols", "sd", 1), ("cols", "corr", 0)]:
        change = jnp.abs(moved(side, part, index) - entries(there))
        assert float(jnp.max(change)) < 0.05 * deviation


def test_turning_is_a_rotation(x64):
    start = jnp.full(4, 0.5)
    end = jnp.asarray([0.1, -0.7, 0.5, 0.5])
    end /= jnp.linalg.norm(end)
    rotation = aligned._rotation(start, end)
    np.testing.assert_allclose(rotation @ start, end, atol=1e-12)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(4), atol=1e-12)
    assert float(jnp.linalg.det(rotation)) == pytest.approx(1.0)
