"""Where functions live: distinct inputs in first-seen order, and where each cell finds them."""

import numpy as np
import pandas as pd
import pytest

from dpmf.data import Dyads
from dpmf.kernels import Constant, Matern12, SeasonGap, SquaredExponential
from dpmf.model.grid import grid, levels, training_columns
from dpmf.model.layout import layout
from model.problem import problem

TIME_HOME = Matern12("time", length=(1, 9)) * SquaredExponential("home", length=(1, 9))


def dyads(time, home):
    count = len(time)
    frame = pd.DataFrame(
        {
            "user": [f"u{i % 3}" for i in range(count)],
            "film": [f"f{i % 2}" for i in range(count)],
            "stars": np.arange(count, dtype=float),
            "time": np.array(time, dtype=float),
            "home": np.array(home, dtype=float),
        }
    )
    return Dyads.from_frame(
        frame, row="user", col="film", value="stars", inputs=["time", "home"]
    )


@pytest.fixture
def data():
    return dyads(time=[5, 2, 5, 9, 2], home=[0.5, -0.5, -0.5, 0.5, 0.5])


def test_levels_keep_first_seen_order(data):
    found = grid(TIME_HOME, data)
    assert found.columns == (("time",), ("home",))
    np.testing.assert_array_equal(found.levels[0], [[5], [2], [9]])
    np.testing.assert_array_equal(found.levels[1], [[0.5], [-0.5]])
    assert found.shape == (3, 2)
    assert found.size == 6


def test_a_dense_grid_holds_the_inputs_that_occur(data):
    found = grid(TIME_HOME, data, dense=True)
    assert found.columns == (("time", "home"),)
    expected = [[5, 0.5], [2, -0.5], [5, -0.5], [9, 0.5], [2, 0.5]]
    np.testing.assert_array_equal(found.levels[0], expected)


def test_a_product_that_would_be_mostly_empty_is_dense():
    diagonal = np.arange(9.0)
    assert len(grid(TIME_HOME, dyads(diagonal, diagonal)).levels) == 1
    few = np.arange(4.0)  # 16 points for 4 inputs: four each are still worth it
    assert len(grid(TIME_HOME, dyads(few, few)).levels) == 2


def test_columns_of_a_factor_stay_together():
    time = SeasonGap("time", "home", lengths={0: 1.0})
    found = grid(Matern12(time, length=(1, 9)), dyads([0, 1, 0], [2, 3, 2]))
    assert found.columns == (("time", "home"),)
    np.testing.assert_array_equal(found.levels[0], [[0, 2], [1, 3]])


@pytest.mark.parametrize("dense", [False, True])
def test_cells_point_at_their_own_inputs(data, dense):
    start = grid(TIME_HOME, data, dense=dense)
    found, at = start.extended(data)
    points = grid_points(found)
    np.testing.assert_array_equal(points[at], data.inputs.reshape(-1, 2))
    for old, new in zip(start.levels, found.levels, strict=True):
        np.testing.assert_array_equal(old, new)


def grid_points(found):
    """All points of a grid, the last factor fastest."""
    places = np.indices(found.shape).reshape(len(found.shape), -1)
    return np.concatenate(
        [levels[place] for levels, place in zip(found.levels, places, strict=True)], axis=1
    )


@pytest.mark.parametrize("dense", [False, True])
def test_extension_appends_and_keeps_old_places(data, dense):
    old = grid(TIME_HOME, data, dense=dense)
    more = dyads(time=[9, 1, 5, 7], home=[0.5, 0.5, 0.0, -0.5])
    new, at = old.extended(more)
    np.testing.assert_array_equal(grid_points(new)[at], more.inputs.reshape(-1, 2))
    for before, after in zip(old.levels, new.levels, strict=True):
        np.testing.assert_array_equal(after[: len(before)], before)
    if not dense:
        np.testing.assert_array_equal(new.levels[0][3:], [[1], [7]])
        np.testing.assert_array_equal(new.levels[1][2:], [[0.0]])


def test_a_constant_kernel_has_a_single_input(data):
    found, at = grid(Constant(), data).extended(data)
    assert found.shape == (1,)
    assert found.levels[0].shape == (1, 0)
    np.testing.assert_array_equal(at, np.zeros(data.cells))


def test_layout_of_a_pair_points_at_both_cells():
    _, data, grids, arrays = problem(pooled=True)
    for side, points, pooled, member in (
        (arrays.rows, grids.rows, grids.rows_pooled, data.rows),
        (arrays.cols, grids.cols, grids.cols_pooled, data.cols),
    ):
        who, where = np.divmod(np.asarray(side.functions.cells.entry), points.size)
        inputs = data.inputs.reshape(-1, 3)
        np.testing.assert_array_equal(who, member.reshape(-1))
        np.testing.assert_array_equal(side.member.entry, member.reshape(-1))
        np.testing.assert_array_equal(grid_points(points)[where], inputs)
        np.testing.assert_array_equal(pooled.levels[0][side.pooled.cells.entry], inputs[:, 2:])
        assert side.members == 4
    np.testing.assert_array_equal(arrays.values, data.values)
    np.testing.assert_array_equal(arrays.weight, np.ones(data.events))


def test_layout_of_new_events_extends_the_grids():
    case = problem()
    later = case.data.encode(
        pd.DataFrame(
            {"row": ["Bulls"], "col": ["Nets"], "season": 2001, "week": 3.0, "home": 0.5}
        )
    )
    grids, arrays = layout(case.grids, later)
    old = case.grids.rows.levels[0]
    np.testing.assert_array_equal(grids.rows.levels[0], [*old, [2001, 3]])
    assert arrays.rows.members == 5
    assert np.isnan(arrays.values).all()


def test_training_columns_are_all_cells():
    data = problem().data
    columns = training_columns(data)
    assert list(columns) == ["season", "week", "home"]
    np.testing.assert_array_equal(columns["home"], data.inputs[..., 2].reshape(-1))


def test_a_pooled_grid_begins_with_what_most_cells_see():
    frame = pd.DataFrame(
        {"a": list("xyxyx"), "b": list("pqqpp"), "z": np.arange(5.0), "t": [3, 1, 2, 2, 1.0]}
    )
    frame = pd.concat([frame, frame.assign(t=2.0)])
    data = Dyads.from_frame(frame, row="a", col="b", value="z", inputs=["t"])
    assert levels(data, ["t"])[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert levels(data, ["t"], by_use=True)[:, 0].tolist() == [2.0, 1.0, 3.0]
