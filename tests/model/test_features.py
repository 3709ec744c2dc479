"""Forms of the prior that must agree, and limits in which the model is a simpler one."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from dpmf.data import Dyads
from dpmf.kernels import Constant
from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import Gaussian
from dpmf.model.coordinates import parameters
from dpmf.model.density import log_density
from dpmf.model.features import FEW, along, coloured, factors, mixed
from dpmf.model.layout import grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.spec import spec
from model.problem import COLS, ROWS, Problem, problem, state

TIMES = [(2000, 0.0), (2001, 2.0), (2000, 1.0), (2001, 0.0)]  # first-seen order is not sorted
HOMES = [0.5, -0.5, 0.0]
RANK = 2


def full_grid(order=None):
    """One event at every point of the grid, in grid order unless told otherwise."""
    points = list(itertools.product(TIMES, HOMES))
    points = [points[i] for i in order] if order is not None else points
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "row": [f"r{i % 3}" for i in range(len(points))],
            "col": [f"c{i % 2}" for i in range(len(points))],
            "value": random.normal(3.0, 2.0, len(points)),
            "season": [time[0] for time, _ in points],
            "week": [time[1] for time, _ in points],
            "home": [home for _, home in points],
        }
    )
    if order is not None:  # the same events as in grid order
        frame = frame.assign(row=[f"r{i % 3}" for i in order], col=[f"c{i % 2}" for i in order])
    return Dyads.from_frame(
        frame, row="row", col="col", value="value", inputs=["season", "week", "home"]
    )


@pytest.mark.parametrize("axis", [2, 3, 4])
@pytest.mark.parametrize("levels", [3, FEW + 1])
@pytest.mark.parametrize("each", [1, RANK])
def test_a_matrix_along_any_axis_is_that_of_numpy(x64, axis, levels, each):
    random = np.random.default_rng(0)
    shape = [RANK, 4, 2, 3, 2]
    shape[axis] = levels
    grid, matrix = random.normal(size=shape), random.normal(size=(each, levels + 1, levels))
    expected = [
        np.moveaxis(np.tensordot(own, one, (1, axis - 1)), 0, axis - 1)
        for one, own in zip(
            grid, np.broadcast_to(matrix, (RANK, *matrix.shape[1:])), strict=True
        )
    ]
    found = along(jnp.asarray(grid), jnp.asarray(matrix), axis)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("rank", [1, 3, FEW + 1])
@pytest.mark.parametrize("shape", [(5,), (4, 6)], ids=str)
def test_sums_of_functions_and_their_gradients(x64, rank, shape):
    random = np.random.default_rng(0)
    matrix = jnp.asarray(random.normal(size=(rank + 1, rank)))
    functions = jnp.asarray(random.normal(size=(rank, *shape)))

    def plain(matrix, functions):
        return jnp.tensordot(matrix, functions, 1)

    def total(way):
        return lambda *both: jnp.sum(jnp.sin(way(*both)))

    np.testing.assert_allclose(mixed(matrix, functions), plain(matrix, functions), rtol=1e-12)
    pair = [jax.grad(total(way), (0, 1))(matrix, functions) for way in (mixed, plain)]
    for found, expected in zip(*pair, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


def test_dense_and_kronecker_are_the_same_density():
    data = full_grid()
    product = problem(Gaussian(), RANK, pooled=True, dense=False, data=data)
    dense = problem(Gaussian(), RANK, pooled=True, dense=True, data=data)
    assert len(product.grids.rows.levels) == 2
    assert len(dense.grids.rows.levels) == 1
    one = state(product)
    both = [
        jax.jit(lambda s, c=c: log_density(c.spec, s, c.arrays))(one) for c in (product, dense)
    ]
    assert both[0] == pytest.approx(float(both[1]), rel=1e-8)


def test_another_order_of_inputs_is_the_same_model_once_functions_are_carried():
    """white' = L'^-1 f on the reordered inputs gives the same functions."""
    order = np.random.default_rng(1).permutation(len(TIMES) * len(HOMES))
    product = problem(Gaussian(), RANK, dense=False, data=full_grid())
    shuffled = problem(Gaussian(), RANK, dense=True, data=full_grid(order))
    one = state(product)

    @jax.jit
    def found(free, white):
        values = parameters(product.spec, free)
        carried = {}
        for side, kernel in (("rows", ROWS), ("cols", COLS)):
            shared, old = getattr(values, side), getattr(product.arrays, side).functions.levels
            functions = coloured(getattr(white, side), factors(kernel, shared.theta, old))
            new = factors(
                kernel, shared.theta, getattr(shuffled.arrays, side).functions.levels
            )[0]
            moved = jnp.moveaxis(functions[:, :, order], 1, 2)
            solved = jnp.linalg.solve(new, moved)
            carried[side] = jnp.moveaxis(solved, 2, 1)
        y = predictor(product.spec, white, values, product.arrays)
        members = {
            "rows": members_in(shuffled, product, "rows"),
            "cols": members_in(shuffled, product, "cols"),
        }
        again = white._replace(**{side: x[:, members[side]] for side, x in carried.items()})
        return y, predictor(shuffled.spec, again, values, shuffled.arrays)

    y, again = found(one.free, one.white)
    np.testing.assert_allclose(again[:, 0], y[order, 0], rtol=1e-7)


def members_in(new, old, side):
    names = {"rows": "row_names", "cols": "col_names"}[side]
    known = getattr(old.data, names)
    return np.array([known.index(name) for name in getattr(new.data, names)])


def pmf(data):
    """Bayesian PMF: the model with constant kernels."""
    one = spec(RANK, (Constant(), None), (Constant(), None), Gaussian(), 3.0, 2.0)
    return Problem(one, data, *layout(grids(one, data), data))


def with_theta(values, **numbers):
    """The same values, with every kernel hyperparameter of that name replaced."""

    def side(one):
        theta = {
            name: jnp.full_like(x, numbers.get(name.split(".")[1], 1.0))
            for name, x in one.theta.items()
        }
        return one._replace(theta=theta)

    return values._replace(rows=side(values.rows), cols=side(values.cols))


@pytest.mark.parametrize("dense", [False, True])
def test_long_length_scales_give_probabilistic_matrix_factorization(dense):
    """Two values of a function then differ by jitter alone: sqrt(2 eps) for each factor."""
    case = problem(Gaussian(), RANK, dense=dense, data=full_grid())
    one = state(case)
    values = jax.jit(lambda f: with_theta(parameters(case.spec, f), length=1e12))(one.free)
    y = jax.jit(lambda: predictor(case.spec, one.white, values, case.arrays))()
    simple = pmf(case.data)
    first = one.white._replace(rows=one.white.rows[:, :, :1], cols=one.white.cols[:, :, :1])
    bare = values._replace(
        rows=values.rows._replace(theta={}), cols=values.cols._replace(theta={})
    )
    expected = jax.jit(lambda: predictor(simple.spec, first, bare, simple.arrays))()
    scale = float(jnp.abs(values.rows.sd).max()) * RANK
    tolerance = 20 * np.sqrt(2 * JITTER) * scale
    assert np.abs(y - expected).max() < tolerance
    assert tolerance < 0.05 * np.std(expected)  # the tolerance means something


@pytest.mark.parametrize("dense", [False, True])
def test_short_length_scales_give_one_factorization_per_input(dense):
    """Functions are then white: no input knows of another."""
    case = problem(Gaussian(), RANK, dense=dense, data=full_grid())
    one = state(case)
    values = jax.jit(lambda f: with_theta(parameters(case.spec, f), length=1e-12))(one.free)
    y = jax.jit(lambda: predictor(case.spec, one.white, values, case.arrays))()

    def features(white, shared):
        return shared.mean[:, None, None] + jnp.einsum(
            "r,rk,kmi->rmi", shared.sd, shared.corr, white
        )

    u = features(one.white.rows, values.rows)
    v = jax.nn.softplus(features(one.white.cols, values.cols))
    rows, cols, at = case.data.rows[:, 0], case.data.cols[:, 0], np.arange(len(y))
    expected = jnp.sum(u[:, rows, at] * v[:, cols, at], axis=0)
    np.testing.assert_allclose(y[:, 0], expected, rtol=1e-12)


def test_a_pooled_mean_of_scale_zero_is_constant():
    pooled, constant = problem(rank=RANK, pooled=True), problem(rank=RANK)
    one = state(pooled)

    def without(side):
        return side._replace(pooled_sd=None, pooled_theta=None)

    def flat(side):
        return side._replace(pooled_sd=jnp.zeros(RANK))

    @jax.jit
    def found(one):
        values = parameters(pooled.spec, one.free)
        zero = values._replace(rows=flat(values.rows), cols=flat(values.cols))
        bare = values._replace(rows=without(values.rows), cols=without(values.cols))
        white = one.white._replace(rows_pooled=None, cols_pooled=None)
        return (
            predictor(pooled.spec, one.white, values, pooled.arrays),
            predictor(pooled.spec, one.white, zero, pooled.arrays),
            predictor(constant.spec, white, bare, constant.arrays),
        )

    some, y, expected = found(one)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    assert np.abs(some - y).max() > 0.1


def test_constant_kernels_with_several_latent_functions():
    """One factor serves all of them, since nothing varies between them."""
    case = pmf(full_grid())
    (over,) = factors(Constant(), {}, case.arrays.rows.functions.levels)
    np.testing.assert_array_equal(over, [[[1.0]]])
    white = jnp.arange(6.0).reshape(2, 3, 1)
    np.testing.assert_array_equal(coloured(white, (over,)), white)
    density = jax.jit(lambda s: log_density(case.spec, s, case.arrays))
    assert jnp.isfinite(density(state(case)))
