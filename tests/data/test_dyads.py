"""Small frames whose arrays are known by hand."""

import datetime
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpmf.data import Codebook, Dyads, InputColumn

RATINGS = {
    "user": ["bo", "al", "bo"],
    "film": [7, 7, 3],
    "rating": [4, 5, 1],
    "time": [0.5, 2.0, 1.0],
}
GAMES = {
    "home": ["B", "A", "C"],
    "away": ["A", "C", "B"],
    "home_score": [10, 20, 30],
    "away_score": [11.5, 21.0, 31.0],
    "venue": [0.5, 0.0, 0.5],
    "week": [1, 1, 2],
}
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])


def ratings(frame, **changes):
    return Dyads.from_frame(
        frame,
        **{"row": "user", "col": "film", "value": "rating", "inputs": ["time"], **changes},
    )


def games(frame):
    return Dyads.from_frame(
        frame,
        row="home",
        col="away",
        value=("home_score", "away_score"),
        inputs=["week", "venue"],
        mirrored=["venue"],
    )


def input_column(entries, frame=pd.DataFrame):
    """The encoded input of a frame with one input column, and what the codebook says."""
    n = len(entries)
    who = {"user": list(range(n)), "film": list(range(n)), "rating": [1.0] * n}
    dyads = ratings(frame({**who, "time": entries}))
    return dyads.column("time")[:, 0], dyads.codebook.inputs[0]


@FRAMES
def test_single_value(frame):
    dyads = ratings(frame(RATINGS))
    assert dyads.row_names == ("bo", "al")
    assert dyads.col_names == (7, 3)
    np.testing.assert_array_equal(dyads.rows, [[0], [1], [0]])
    np.testing.assert_array_equal(dyads.cols, [[0], [0], [1]])
    np.testing.assert_array_equal(dyads.inputs, [[[0.5]], [[2.0]], [[1.0]]])
    np.testing.assert_array_equal(dyads.values, [[4.0], [5.0], [1.0]])
    assert (dyads.events, dyads.pair, dyads.cells, len(dyads)) == (3, 1, 3, 3)


@FRAMES
def test_a_pair_swaps_row_and_column_and_mirrors(frame):
    dyads = games(frame(GAMES))
    assert dyads.row_names == dyads.col_names == ("B", "A", "C")
    np.testing.assert_array_equal(dyads.rows, [[0, 1], [1, 2], [2, 0]])
    np.testing.assert_array_equal(dyads.cols, [[1, 0], [2, 1], [0, 2]])
    np.testing.assert_array_equal(dyads.values, [[10, 11.5], [20, 21], [30, 31]])
    np.testing.assert_array_equal(dyads.column("week"), [[1, 1], [1, 1], [2, 2]])
    np.testing.assert_array_equal(dyads.column("venue"), [[0.5, -0.5], [0, 0], [0.5, -0.5]])
    assert not np.signbit(dyads.column("venue")[1]).any()
    assert (dyads.events, dyads.pair, dyads.cells) == (3, 2, 6)


def test_repr_counts():
    assert repr(games(pd.DataFrame(GAMES))) == (
        "3 events, 2 cells each; 3 rows, 3 columns; inputs: week, venue"
    )
    assert repr(ratings(pd.DataFrame(RATINGS), inputs=[])) == (
        "3 events, 1 cell each; 2 rows, 2 columns; no inputs"
    )


@FRAMES
def test_categories_are_numbered_as_first_seen(frame):
    encoded, column = input_column(["rain", "dry", "rain"], frame)
    assert encoded.tolist() == [0, 1, 0]
    assert column == InputColumn("time", "category", ("rain", "dry"))


@FRAMES
def test_booleans_are_zero_and_one(frame):
    encoded, column = input_column([True, False], frame)
    assert encoded.tolist() == [1, 0]
    assert column == InputColumn("time", "boolean")


DAY = datetime.date(1970, 1, 11)
NOON = datetime.datetime(1970, 1, 2, 12)
LATE = datetime.datetime(1969, 12, 31, 18)  # dates before the epoch are negative


@pytest.mark.parametrize(
    ("entries", "expected"),
    [([NOON, LATE], [1.5, -0.25]), ([DAY, datetime.date(1970, 1, 1)], [10.0, 0.0])],
)
@FRAMES
def test_dates_are_days_since_1970(frame, entries, expected):
    encoded, column = input_column(entries, frame)
    assert encoded.tolist() == expected
    assert column.kind == "date"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_of_time_gives_days(unit):
    encoded, _ = input_column(pd.Series([NOON, LATE]).astype(f"datetime64[{unit}]"))
    assert encoded.tolist() == [1.5, -0.25]


def test_time_zones_are_converted_to_utc():
    eastern = pd.Series([NOON, LATE]).dt.tz_localize("US/Eastern")  # five hours behind
    in_polars = pl.Series([NOON, LATE]).dt.replace_time_zone("America/New_York")
    expected = [1.5 + 5 / 24, -0.25 + 5 / 24]
    np.testing.assert_allclose(input_column(eastern)[0], expected, rtol=1e-15)
    np.testing.assert_allclose(input_column(in_polars, pl.DataFrame)[0], expected, rtol=1e-15)
    np.testing.assert_allclose(input_column(eastern.astype(object))[0], expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("entries", "expected", "kind"),
    [
        (pd.array([3, 1], "Int64"), [3, 1], "number"),
        (pd.array([0.5, 1], "Float64"), [0.5, 1], "number"),
        (pd.array([True, False], "boolean"), [1, 0], "boolean"),
        (pd.array(["b", "a"], "string"), [0, 1], "category"),
        (pd.Categorical(["b", "a"], categories=["unused", "a", "b"]), [0, 1], "category"),
        (pd.Categorical([5, 2]), [0, 1], "category"),
        (pd.Series([3, 1.5], dtype=object), [3, 1.5], "number"),
        (pd.Series([True, False], dtype=object), [1, 0], "boolean"),
        (pd.Series(["b", "a"], dtype=object), [0, 1], "category"),
    ],
)
def test_pandas_dtypes(entries, expected, kind):
    encoded, column = input_column(entries)
    assert encoded.tolist() == expected
    assert column.kind == kind
    assert "unused" not in column.levels


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["unused", "a", "b"])])
def test_polars_categories(dtype):
    encoded, column = input_column(pl.Series(["b", "a"], dtype=dtype), pl.DataFrame)
    assert encoded.tolist() == [0, 1]
    assert column.levels == ("b", "a")


@FRAMES
def test_text_is_read_as_numbers_when_all_of_it_is(frame):
    dyads = ratings(frame({**RATINGS, "rating": ["4", "-5.5", "1e2"]}))
    assert dyads.values[:, 0].tolist() == [4, -5.5, 100]


def test_nullable_values_and_names():
    frame = pd.DataFrame(RATINGS).astype(
        {"user": "category", "film": "Int64", "rating": "Int64"}
    )
    dyads = ratings(frame)
    assert dyads.values[:, 0].tolist() == [4, 5, 1]
    assert dyads.row_names == ("bo", "al")
    assert dyads.col_names == (7, 3)
    assert [type(name) for name in dyads.col_names] == [int, int]


def test_pandas_and_polars_give_the_same():
    draw = np.random.default_rng(3)
    n = 200
    table = {
        "user": [f"u{i}" for i in draw.integers(0, 20, n)],
        "film": draw.integers(0, 30, n),
        "rating": draw.normal(size=n),
        "when": [NOON + datetime.timedelta(seconds=int(s)) for s in draw.integers(0, 10**8, n)],
        "sky": [["rain", "dry", "snow"][i] for i in draw.integers(0, 3, n)],
        "alone": draw.integers(0, 2, n).astype(bool),
    }
    inputs = ["when", "sky", "alone"]
    one, other = (ratings(f(table), inputs=inputs) for f in (pd.DataFrame, pl.DataFrame))
    assert one.codebook == other.codebook
    for name in ("rows", "cols", "inputs", "values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_frame_is_left_as_it_is():
    frame = pd.DataFrame(GAMES, index=[9, 9, 4])
    before = frame.copy(deep=True)
    games(frame).values[:] = 0
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    "events", [[2, 0], np.array([2, 0]), np.array([True, False, True]), []]
)
def test_take(events):
    dyads = games(pd.DataFrame(GAMES))
    taken = dyads.take(events)
    assert taken.codebook is dyads.codebook
    for name in ("rows", "cols", "inputs", "values"):
        every = getattr(dyads, name)
        np.testing.assert_array_equal(getattr(taken, name), every[np.arange(3)[events]])


def test_codebook_survives_json():
    codebook = Codebook(
        row="r",
        col="c",
        value=("a", "b"),
        row_names=("x", 1, 2.5, True, datetime.date(2020, 1, 2)),
        col_names=(NOON, datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC)),
        inputs=(InputColumn("t", "number"), InputColumn("s", "category", (3, DAY))),
        mirrored=("t",),
    )
    back = Codebook.from_dict(json.loads(json.dumps(codebook.to_dict())))
    assert back == codebook
    assert [type(name) for name in back.row_names] == [str, int, float, bool, datetime.date]


@FRAMES
def test_dates_can_be_names(frame):
    dyads = ratings(frame({**RATINGS, "user": [NOON, LATE, NOON]}))
    assert dyads.row_names == (NOON, LATE)
    assert [type(name) for name in dyads.row_names] == [datetime.datetime] * 2
    assert (
        Codebook.from_dict(json.loads(json.dumps(dyads.codebook.to_dict()))) == dyads.codebook
    )


def test_no_jax_is_imported():
    code = "import sys, dpmf.data; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
