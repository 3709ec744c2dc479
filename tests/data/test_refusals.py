"""Every mistake in a training frame is named: where, what was found, what to do."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpmf.data import Dyads
from dpmf.errors import DataError, DpmfWarning

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
TABLE = {
    "home": ["A", "B", "C"],
    "away": ["B", "C", "A"],
    "score": [1.0, 2.0, 3.0],
    "other": [3.0, 2.0, 1.0],
    "time": [0.0, 1.0, 2.0],
    "sky": ["dry", "rain", "dry"],
    "dome": [True, False, True],
}


def refused(match, frame, **roles):
    chosen = {"row": "home", "col": "away", "value": "score", "inputs": ["time"], **roles}
    with pytest.raises(DataError, match=match):
        Dyads.from_frame(frame, source="games.csv", **chosen)


@pytest.mark.parametrize("thing", [{"home": ["A"]}, None, [1, 2], pd.Series([1]), np.ones(3)])
def test_not_a_frame(thing):
    name = type(thing).__qualname__
    refused(rf"^games.csv: found .*\.{name}, expected a pandas or polars DataFrame", thing)


def test_lazy_frame():
    refused(r"LazyFrame, expected .* Call \.collect\(\) first", pl.DataFrame(TABLE).lazy())


@FRAMES
def test_no_events(frame):
    refused("games.csv: there are no events", frame(TABLE).head(0))


def test_duplicated_columns():
    frame = pd.DataFrame(TABLE)
    frame.columns = ["home", "away", "score", "score", "time", "sky", "dome"]
    refused(r"games.csv: 2 columns are named 'score'.*; rename or drop", frame)


@pytest.mark.parametrize(
    ("roles", "wanted", "hint"),
    [
        ({"row": "hoem"}, "hoem", r"Did you mean 'home'\?"),
        ({"col": "awya"}, "awya", r"Did you mean 'away'\?"),
        ({"value": "scores"}, "scores", r"Did you mean 'score'\?"),
        ({"value": ("score", "othr")}, "othr", r"Did you mean 'other'\?"),
        ({"inputs": ["tme"]}, "tme", r"Did you mean 'time'\?"),
        ({"inputs": ["zzz"]}, "zzz", r"It has home, away, score"),
    ],
)
@FRAMES
def test_missing_columns(frame, roles, wanted, hint):
    refused(rf"^games.csv: there is no column '{wanted}'\. {hint}", frame(TABLE), **roles)


@pytest.mark.parametrize(
    ("roles", "match"),
    [
        ({"col": "home"}, r"row and col are both the column 'home', expected two different"),
        ({"value": ("score", "score")}, r"both values are the column 'score'.*value='score'"),
        (
            {"value": ("score", "other", "time")},
            r"value names 3 columns, expected one .* or two",
        ),
        ({"value": ()}, r"value names 0 columns"),
        ({"value": "home"}, r"'home' is both a value and a name of members"),
        ({"inputs": ["score"]}, r"'score' is both a value and an input"),
        ({"inputs": ["time", "time"]}, r"inputs names the column 'time' more than once"),
        ({"inputs": "time"}, r"inputs='time': .* write inputs=\['time'\]"),
        ({"mirrored": "time"}, r"mirrored='time': .* write mirrored=\['time'\]"),
        (
            {"mirrored": ["tim"]},
            r"mirrored 'tim' is not among the inputs\. Did you mean 'time'",
        ),
        ({"mirrored": ["x"], "inputs": []}, r"mirrored 'x' is not among .* It has none"),
        (
            {"inputs": ["sky"], "mirrored": ["sky"]},
            r"games.csv: column 'sky': found the kind 'category', expected numbers",
        ),
        ({"inputs": ["dome"], "mirrored": ["dome"]}, r"'dome': found the kind 'boolean'"),
    ],
)
def test_roles_that_do_not_fit(roles, match):
    refused(match, pd.DataFrame(TABLE), **roles)


@pytest.mark.parametrize("column", ["home", "away", "score", "time", "sky", "dome"])
@FRAMES
def test_missing_entries(frame, column):
    table = {**TABLE, column: [*TABLE[column][:1], None, *TABLE[column][2:]]}
    match = rf"^games.csv: row 2, column '{column}': found a missing entry.*; drop the row"
    refused(match, frame(table), inputs=["time", "sky", "dome"])


@pytest.mark.parametrize(
    "entries",
    [
        pd.array([1, 2, None], "Int64"),
        pd.array([1, 2, None], "Float64"),
        pd.array([True, False, None], "boolean"),
        pd.array(["a", "b", None], "string"),
        pd.Categorical(["a", "b", None]),
        pd.to_datetime(["2020-01-01", "2020-01-02", None]),
        pd.Series([1, "a", None], dtype=object),
    ],
)
def test_missing_entries_of_every_dtype(entries):
    frame = pd.DataFrame(TABLE).assign(time=entries)
    refused(r"row 3, column 'time': found a missing entry", frame)


@pytest.mark.parametrize("column", ["score", "time"])
@FRAMES
def test_nan_and_infinite_numbers(frame, column):
    nan, infinite = ({**TABLE, column: [0.0, bad, 1.0]} for bad in (np.nan, -np.inf))
    refused(rf"row 2, column '{column}': found a missing entry", frame(nan))
    refused(rf"row 2, column '{column}': found -inf, expected a finite number", frame(infinite))


@FRAMES
def test_infinite_names(frame):
    table = {**TABLE, "home": [1.0, 2.0, np.inf]}
    refused(r"row 3, column 'home': found 'inf' \(float", frame(table))


def test_names_that_are_not_scalars():
    frame = pd.DataFrame(TABLE).assign(home=[(1, 2), (1, 3), (1, 4)])
    refused(r"row 1, column 'home': found '\(1, 2\)' \(tuple\), expected a name", frame)


@pytest.mark.parametrize("text", ["abc", "1_0", ""])
@FRAMES
def test_text_among_values(frame, text):
    table = {**TABLE, "score": ["1", "2", text]}
    match = rf"row 3, column 'score': found '{text}' \(text\), expected a number; convert the"
    refused(match, frame(table))


@FRAMES
def test_text_that_is_not_finite(frame):
    table = {**TABLE, "score": ["1", "inf", "2"]}
    refused(r"row 2, column 'score': found inf, expected a finite number", frame(table))


@FRAMES
def test_dates_as_values(frame):
    table = {**TABLE, "score": [datetime.datetime(2020, 1, day) for day in (1, 2, 3)]}
    refused(
        r"row 1, column 'score': found '2020-01-01 00:00:00' \(.*\), expected a num",
        frame(table),
    )


def test_inputs_of_mixed_types():
    mixed = pd.DataFrame(TABLE).assign(time=pd.Series([1, "a", 2], dtype=object))
    refused(r"row 2, column 'time': found 'a' \(text\), expected a number; make the", mixed)
    odd = pd.DataFrame(TABLE).assign(time=[(1,), (2,), (3,)])
    refused(r"row 1, column 'time': found '\(1,\)' \(tuple\), expected a number, date", odd)


def test_inputs_of_unknown_types():
    frame = pl.DataFrame({**TABLE, "time": [datetime.timedelta(days=n) for n in range(3)]})
    refused(r"column 'time': found Duration.*, expected numbers, dates, text or", frame)
    frame = pd.DataFrame(TABLE).assign(time=pd.period_range("2020", periods=3, freq="D"))
    refused(r"column 'time': found Unknown, expected numbers, dates, text or", frame)


@pytest.mark.parametrize("column", ["home", "away"])
def test_a_single_name(column):
    table = {**TABLE, column: ["A", "A", "A"]}
    refused(
        rf"column '{column}': found 'A' in every event, expected at least 2",
        pd.DataFrame(table),
    )


@FRAMES
def test_a_team_against_itself(frame):
    table = {**TABLE, "away": ["B", "C", "C"]}
    match = r"row 3, column 'away': found 'C', expected a name other than .* 'home'"
    refused(match, frame(table), value=("score", "other"))


def test_unknown_input_of_the_encoded_data():
    dyads = Dyads.from_frame(
        pd.DataFrame(TABLE), row="home", col="away", value="score", inputs=["time"]
    )
    with pytest.raises(DataError, match=r"no input 'tine'\. Did you mean 'time'\?"):
        dyads.column("tine")


def paired(inputs, mirrored):
    frame = pd.DataFrame({**TABLE, "venue": [0.5] * 3})
    values = ("score", "other")
    return Dyads.from_frame(
        frame, row="home", col="away", value=values, inputs=inputs, mirrored=mirrored
    )


def test_a_constant_input_is_worth_a_warning():
    with pytest.warns(DpmfWarning, match=r"frame: input 'venue' is constant"):
        paired(["venue"], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paired(["venue"], ["venue"])  # mirrored, it tells the two cells apart
