"""The space of trajectories: the same posterior, in coordinates of what is known."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf import DPMF, PMF
from dpmf.inference import aligned, effects, position, spreads
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.inference.problem import Problem
from dpmf.inference.start import starts
from dpmf.kernels import Matern12, Matern32, SquaredExponential
from dpmf.likelihoods import Gaussian, Ordinal
from dpmf.model.coordinates import sum_first
from dpmf.model.inputs import chosen
from dpmf.model.layout import grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.state import FREE_ALL
from inference.fitted import (
    FORM,
    game_dyads,
    games,
    problem_of,
    rating_dyads,
    ratings,
    state_of,
)
from inference.test_level import PROBLEMS as LEVELLED
from inference.test_level import rarely_seen

HELD = Hyperparameters(rows_sd=[3.0, 4.0], cols_sd=[0.2, 0.1])


def held_scales():
    problem = LEVELLED["games"]()
    return dataclasses.replace(problem, fixed=HELD.fixed(problem.spec))


FORGETFUL, WAVES = Matern12("week"), SquaredExponential("week", length=(2, 5))


def apart(mean, inputs="markov", kernel=FORGETFUL):
    """No points in common, neither of members nor, but for lists, of the mean."""
    model = DPMF(2, kernel, Gaussian(), mean=mean, inputs=inputs)
    data = rating_dyads(ratings(Gaussian()))
    own = chosen(inputs, model.spec(data).rows.kernel, data, data.rows.reshape(-1), 1)
    spec = model.spec(data)
    rows, cols = (
        dataclasses.replace(side, pooled_inputs=own) for side in (spec.rows, spec.cols)
    )
    spec = dataclasses.replace(spec, rows=rows, cols=cols)
    return Problem(layout(grids(spec, data), data)[1], FREE_ALL, spec)


def rated(model):
    return problem_of(model, rating_dyads(ratings(Ordinal(4))))


PROBLEMS = {
    **LEVELLED,
    "one feature": lambda: problem_of(DPMF(1, FORM), game_dyads(games())),
    "constant": lambda: problem_of(PMF(4), game_dyads(games())),
    "held scales": held_scales,
    "rarely seen": rarely_seen,
    "own times": lambda: apart("constant"),
    "own times, pooled mean": lambda: apart("pooled"),
    "own inputs": lambda: apart("constant", "member", Matern32("week")),
    "series": lambda: apart("constant", "basis", WAVES),
    "series, pooled mean": lambda: apart("pooled", "basis", WAVES),
    "levels": lambda: rated(PMF(2, Ordinal(4))),
    "intercepts": lambda: rated(DPMF(2, Matern12("week"), Ordinal(4), intercepts=True)),
    "intercepts, one feature": lambda: rated(PMF(1, Ordinal(4), intercepts=True)),
    "intercepts, own times": lambda: rated(
        DPMF(3, Matern12("week"), Ordinal(4), inputs="markov", intercepts=True)
    ),
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
        # Where little is known, white leans towards all features alike.
        floor = spread / np.sqrt(games_of.max())
        aimed = direction + floor / np.sqrt(3)
        share = aimed / np.linalg.norm(aimed) @ np.asarray(white)[:, :, 0]
        expected = share * np.sqrt(1 + direction @ direction * games_of / spread**2)
        # A reflection of a single number may turn its sign.
        np.testing.assert_allclose(np.abs(turned[0, :, 0]), np.abs(expected), rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_members_coordinate_is_the_sum_with_its_intercept(x64, rank):
    """What a row adds to y, to first order, in units of its standard error; and only that."""
    problem = rated(PMF(rank, Ordinal(4), intercepts=True))
    arrays = dataclasses.replace(problem.arrays, weight=1e6 * problem.arrays.weight)
    problem = dataclasses.replace(problem, arrays=arrays)  # known so well that floors vanish
    state, cells = state_of(problem, 4), problem.arrays.rows
    values = problem.parameters(state)
    there = problem.unflat(position.position(problem, state))
    unit = relative(values)[1]
    rows = (np.asarray(values.rows.sd) * unit)[:, None] * np.asarray(values.rows.corr)
    adds = np.ones(rank) @ rows @ np.asarray(state.white.rows)[:, :, 0]
    adds = adds + float(values.rows.intercept_sd) * np.asarray(state.white.rows_intercept)
    games_of = np.bincount(np.asarray(cells.member.entry), minlength=cells.members)
    errors = problem.spec.spread / np.sqrt(1e6 * games_of)
    np.testing.assert_allclose(
        np.abs(there.white.rows[0, :, 0]), np.abs(adds / errors), rtol=1e-3
    )


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


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "held scales"])
def test_chains_begin_with_the_scales_of_the_data(x64, name):
    """Every feature by itself spreads y by about a third of its spread, none by much more."""
    problem = PROBLEMS[name]()
    spec = problem.spec
    centre = jnp.mean(problem.arrays.values) if spec.scale > 10 else jnp.zeros(())
    chains = starts(problem, centre, jr.split(jr.key(0), 40))

    def shares(state):
        values = problem.parameters(state)
        factor, unit = relative(values)
        cols = np.linalg.norm(factor, axis=1)
        return np.stack([values.rows.sd * unit, cols * spec.scale]) / spec.spread

    each = [jax.tree.map(lambda x, i=i: x[i], chains) for i in range(40)]
    found = np.log(np.stack([shares(state) for state in each]))
    np.testing.assert_allclose(found.mean(axis=0), np.log(0.3), atol=0.25)
    assert (np.abs(found - np.log(0.3)) < 1.5).all()  # five of their standard deviations
    assert (found.std(axis=0) > 0.15).all()


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
    direction, precision = jnp.asarray([0.1, -0.7, 0.5, 0.5]), jnp.asarray([4.0, 0.0, 1e12])
    known = aligned.Axes(jnp.zeros((3, 1)), precision, precision, jnp.ones(3))
    turn = aligned._turn(direction, known)
    np.testing.assert_allclose(turn.rotation.T @ turn.rotation, np.eye(4), atol=1e-12)
    assert float(jnp.linalg.det(turn.rotation)) == pytest.approx(
        float(jnp.linalg.det(sum_first(4)))
    )
    np.testing.assert_allclose(
        turn.rotation[:, 0], direction / jnp.linalg.norm(direction), atol=1e-5
    )
    np.testing.assert_allclose(turn.stretch, np.sqrt(1 + precision * 1.0))


def test_a_direction_on_the_plane_has_the_contrasts_it_came_from(x64):
    problem = PROBLEMS["constant"]()
    state = state_of(problem, 7)
    plane = spreads._plane(problem, state)
    direction = effects.col_direction(problem, state)
    mean = state.free.rows.mean
    np.testing.assert_allclose(spreads._contrasts_of(direction, plane), mean[1:], rtol=1e-9)
    apart = spreads._apart(direction, plane)
    np.testing.assert_allclose(spreads._on_plane(apart, plane)[0], direction, rtol=1e-9)
    assert plane.normal @ direction == pytest.approx(float(plane.offset))
