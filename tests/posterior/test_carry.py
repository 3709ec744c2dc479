"""Functions carried to another grid: kept values stay, all else is drawn from the prior."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from chance import assert_mean
from dpmf import DPMF, ConfigError, Dyads
from dpmf.kernels import Categorical, Constant, Matern12, Matern52, SquaredExponential
from dpmf.model.carry import carried
from dpmf.model.features import coloured, factors
from dpmf.model.grid import Grid
from dpmf.model.predictor import predictor
from inference.fitted import CASES, SIZES, fitted, game_dyads, games, rating_dyads, ratings

RANK = 2
KERNEL = Matern12("week", length=(1, 90)) * SquaredExponential("home", length=(0.2, 9))
THETA = {"week.length": np.array([[2.0], [5.0]]), "home.length": np.array([[1.0], [0.7]])}
OLD = [0.0, 3.0, 1.0, 2.0, 5.0], [0.5, -0.5, 0.0]
NEW = {  # levels of week, levels of home
    "the same": OLD,
    "appended": ([*OLD[0], 7.0, 6.0], [*OLD[1], 1.0]),
    "dropped": ([1.0, 2.0, 5.0], OLD[1]),
    "reordered": (OLD[0][::-1], OLD[1][::-1]),
    "moved on": ([9.0, 2.0, 1.0, 8.0, 5.0], [0.0, 1.0, 0.5]),
    "all new": ([9.0, 8.0], [1.0]),
}


def product_grid(weeks, homes) -> Grid:
    levels = np.array(weeks)[:, None], np.array(homes)[:, None]
    return Grid((("week",), ("home",)), levels)


def dense_grid(weeks, homes) -> Grid:
    points = [(week, home) for week in weeks for home in homes]
    return Grid((("week", "home"),), (np.array(points),))


def functions(white, grid: Grid) -> np.ndarray:
    levels = tuple(jnp.asarray(one) for one in grid.levels)
    theta = jax.tree.map(jnp.asarray, THETA)
    return np.asarray(coloured(jnp.asarray(white), factors(KERNEL, theta, levels)))


def named(weeks, homes) -> dict[tuple[float, float], int]:
    points = [(week, home) for week in weeks for home in homes]
    return {point: place for place, point in enumerate(points)}


@pytest.mark.parametrize("change", NEW)
@pytest.mark.parametrize("make", [product_grid, dense_grid])
def test_kept_values_stay(x64, make, change):
    random = np.random.default_rng(0)
    old, new = make(*OLD), make(*NEW[change])
    white = random.normal(size=(RANK, 3, old.size))
    members = np.array([2, -1, 0])  # one dropped, one new, two swapped
    moved = carried(white, KERNEL, THETA, old, new, members, random)
    before, after = functions(white, old), functions(moved, new)
    olds, news = named(*OLD), named(*NEW[change])
    kept = [point for point in news if point in olds]
    assert (len(kept) == 0) == (change == "all new")
    for point in kept:
        for member, place in ((0, 2), (2, 0)):
            np.testing.assert_allclose(
                after[:, member, news[point]], before[:, place, olds[point]], atol=1e-6
            )
    if change in ("the same", "appended") and make is product_grid:  # white itself stays
        shape = (RANK, *old.shape)
        corner = moved[:, 0].reshape(RANK, *new.shape)[:, : shape[1], : shape[2]]
        np.testing.assert_array_equal(corner, white[:, 2].reshape(shape))


@pytest.mark.parametrize("change", ["appended", "dropped", "moved on"])
@pytest.mark.parametrize("make", [product_grid, dense_grid])
def test_white_noise_stays_white_noise(x64, make, change):
    """Members are independent draws: their covariance over the new grid is the identity."""
    random = np.random.default_rng(1)
    old, new = make(*OLD), make(*NEW[change])
    count = 4000
    white = random.normal(size=(RANK, count, old.size))
    moved = carried(white, KERNEL, THETA, old, new, np.arange(count), random)
    groups = moved.reshape(RANK, 50, -1, new.size)
    squares = np.einsum("kgmi,kgmj->gkij", groups, groups) / groups.shape[2]
    assert_mean(groups.mean(axis=2).swapaxes(0, 1), 0.0)
    assert_mean(squares, np.broadcast_to(np.eye(new.size), (RANK, new.size, new.size)))


def y_of(fit, problem, states) -> np.ndarray:
    def one(state):
        return predictor(problem.spec, state.white, problem.parameters(state), problem.arrays)

    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.vmap(one))(states))


def carried_states(fit, data: Dyads, chains: int = 2):
    """What a warm start on other data would begin from, and its problem."""
    from dpmf.inference.problem import Problem
    from dpmf.model.layout import layout

    with jax.enable_x64(True):
        points, arrays = layout(fit.grids_over(data), data)
        fixed = jax.tree.map(jnp.asarray, fit.fixed)
        states = fit.last_states(points, data, fixed, chains, seed=0)
        return Problem(arrays, fixed, fit.spec), states


@pytest.mark.parametrize("name", ["games hmc", "stars slice"])
def test_a_warm_start_on_the_same_data_starts_where_it_stopped(name):
    fit = fitted(name)
    problem, states = carried_states(fit, fit.data, chains=3)
    last = jax.tree.map(lambda x: x[[0, 1, 0], -1], fit.draws.states)
    assert states.white.rows.dtype == np.float64
    expected = y_of(fit, fit.problem, last)
    np.testing.assert_allclose(y_of(fit, problem, states), expected, rtol=1e-8)


def changed_games() -> pd.DataFrame:
    """The first season dropped, two new weeks, a new member, the order reversed."""
    frame = games().query("season == 2001").iloc[::-1]
    more = frame.head(3).assign(week=[5.0, 6.0, 6.0], guest="Nets", home=[0.5, 0.0, 1.0])
    return pd.concat([more, frame], ignore_index=True)


def test_a_warm_start_carries_functions_to_changed_events():
    fit, frame = fitted("games hmc"), changed_games()
    problem, states = carried_states(fit, game_dyads(frame))
    old = fit.predict(frame).y.reshape(2, 20, *frame.shape[:1], 2)[:, -1]
    new = y_of(fit, problem, states)
    assert np.isfinite(new).all()
    np.testing.assert_allclose(new[:, 3:], old[:, 3:], rtol=1e-6)
    assert not np.allclose(new[:, :3], old[:, :3])


def test_a_warm_start_knows_categories_by_name():
    fit = fitted("stars slice")
    frame = ratings(CASES["stars slice"].model.likelihood).iloc[::-1].reset_index(drop=True)
    frame.loc[0, "genre"] = "western"
    data = rating_dyads(frame)
    assert data.codebook.inputs[1].levels[0] == "western"
    problem, states = carried_states(fit, data)
    old = fit.predict(frame).y.reshape(2, 20, len(frame), 1)[:, -1]
    new = y_of(fit, problem, states)
    np.testing.assert_allclose(new[:, 1:], old[:, 1:], rtol=1e-6)


def test_a_warm_start_of_another_model_is_refused():
    with pytest.raises(ConfigError, match="start: the earlier fit is of another model"):
        DPMF(2, Matern52("week")).fit(game_dyads(games()), start=fitted("games hmc"))


def test_each_side_keeps_its_own_form_of_grid():
    """Dense columns beside a simple row kernel, where the product would be mostly empty."""
    frame = games()
    frame["day"] = np.arange(len(frame)) * 1.0
    frame["noon"] = np.arange(len(frame)) * 2.0
    data = Dyads.from_frame(
        frame, row="host", col="guest", value=("ours", "theirs"), inputs=["day", "noon"]
    )
    model = DPMF(1, (Constant(), Matern12("day") * Matern12("noon")))
    fit = model.fit(data, chains=1, warmup=0, draws=1, engine="slice", progress=False)
    assert len(fit.grids.cols.levels) == 1
    assert "NOT converged" in repr(fit)
    later = Dyads.from_frame(
        frame.iloc[3:],
        row="host",
        col="guest",
        value=("ours", "theirs"),
        inputs=["day", "noon"],
    )
    problem, states = carried_states(fit, later, chains=1)
    last = jax.tree.map(lambda x: x[:, -1], fit.draws.states)
    expected = y_of(fit, fit.problem, last)[:, 3:]
    np.testing.assert_allclose(y_of(fit, problem, states), expected, rtol=1e-6)


def test_a_warm_start_runs():
    fit = fitted("values slice")
    case = CASES["values slice"]
    sizes = SIZES | {"warmup": 0, "draws": 10}
    again = case.model.fit(case.data, start=fit, engine="slice", **sizes)
    assert again.spec == fit.spec
    assert not np.array_equal(
        again.draws.states.white.rows, fit.draws.states.white.rows[:, :10]
    )


def test_categories_alone(x64):
    old = Grid((("genre",),), (np.array([[0.0], [1.0]]),))
    new = Grid((("genre",),), (np.array([[2.0], [1.0]]),))
    kernel = Categorical("genre")
    theta = {label: np.full((1, *p.shape), 0.4) for label, p in kernel.priors().items()}
    random = np.random.default_rng(0)
    white = random.normal(size=(1, 4, 2))
    moved = carried(white, kernel, theta, old, new, np.arange(4), random)
    levels = [tuple(jnp.asarray(one) for one in grid.levels) for grid in (old, new)]
    of = [
        np.asarray(coloured(jnp.asarray(w), factors(kernel, theta, one)))
        for w, one in zip((white, moved), levels, strict=True)
    ]
    np.testing.assert_allclose(of[1][..., 1], of[0][..., 1], atol=1e-9)
