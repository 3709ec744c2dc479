"""A later frame is numbered as the first; what is new comes after."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpmf.data import Dyads
from dpmf.errors import DataError

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
TRAINING = {"user": ["bo", "al"], "film": [7, 3], "rating": [4, 5], "sky": ["rain", "dry"]}
GAMES = {"home": ["B", "A"], "away": ["A", "C"], "one": [10, 20], "two": [11, 21]}


@pytest.fixture
def training():
    return Dyads.from_frame(
        pd.DataFrame(TRAINING), row="user", col="film", value="rating", inputs=["sky"]
    )


@pytest.fixture
def games():
    return Dyads.from_frame(pd.DataFrame(GAMES), row="home", col="away", value=("one", "two"))


@FRAMES
def test_new_members_and_levels_are_appended(training, frame):
    later = training.encode(
        frame({"user": ["cy", "al"], "film": [3, 9], "sky": ["snow", "dry"], "rating": [1, 2]})
    )
    assert later.row_names == ("bo", "al", "cy")
    assert later.col_names == (7, 3, 9)
    assert later.codebook.inputs[0].levels == ("rain", "dry", "snow")
    assert later.rows[:, 0].tolist() == [2, 1]
    assert later.cols[:, 0].tolist() == [1, 2]
    assert later.column("sky")[:, 0].tolist() == [2, 1]
    assert later.values[:, 0].tolist() == [1, 2]
    assert training.row_names == ("bo", "al")


def test_encoding_the_training_frame_gives_the_training_arrays(training):
    again = training.encode(pd.DataFrame(TRAINING))
    assert again.codebook == training.codebook
    for name in ("rows", "cols", "inputs", "values"):
        np.testing.assert_array_equal(getattr(again, name), getattr(training, name))


@FRAMES
def test_opponents_share_the_grown_names(games, frame):
    later = games.encode(frame({"home": ["D", "C"], "away": ["B", "E"]}))
    assert later.row_names == later.col_names == ("B", "A", "C", "D", "E")
    np.testing.assert_array_equal(later.rows, [[3, 0], [2, 4]])
    np.testing.assert_array_equal(later.cols, [[0, 3], [4, 2]])
    assert later.values.shape == (2, 2)
    assert np.isnan(later.values).all()


@pytest.mark.parametrize("value", [None, np.nan])
@FRAMES
def test_wholly_missing_values_are_not_observed(training, frame, value):
    later = training.encode(
        frame({"user": ["al"], "film": [7], "sky": ["dry"], "rating": [value]})
    )
    assert np.isnan(later.values).all()


def test_one_event_is_enough(training):
    assert training.encode(pd.DataFrame(TRAINING).head(1)).events == 1


def test_partly_missing_values_are_refused(games):
    frame = pd.DataFrame({**GAMES, "two": [11, None]})
    with pytest.raises(DataError, match=r"row 2, column 'two': found a missing entry"):
        games.encode(frame)


def test_half_a_pair_is_refused(games):
    with pytest.raises(DataError, match=r"no column 'two'\. It has home, away, one"):
        games.encode(pd.DataFrame(GAMES).drop(columns="two"))


def test_missing_input_suggests_the_nearest(training):
    frame = pd.DataFrame(TRAINING).rename(columns={"sky": "skye"})
    with pytest.raises(DataError, match=r"^next.csv: .* 'sky'. Did you mean 'skye'\?"):
        training.encode(frame, source="next.csv")


@FRAMES
def test_a_team_never_meets_itself_later_either(games, frame):
    with pytest.raises(
        DataError, match=r"row 1, column 'away': found 'B', expected a name other"
    ):
        games.encode(frame({"home": ["B"], "away": ["B"]}))


def test_text_never_stands_for_known_numbers(training):
    frame = pd.DataFrame({**TRAINING, "film": ["7", "3"]})
    with pytest.raises(
        DataError, match=r"'film': found text such as '7', expected numbers such as 7"
    ):
        training.encode(frame)


def test_whole_floats_are_the_integers_of_training(training):
    later = training.encode(pd.DataFrame({**TRAINING, "film": [3.0, 7.0]}))
    assert later.cols[:, 0].tolist() == [1, 0]
    assert later.col_names == (7, 3)


def encode_input(first, later):
    frame = pd.DataFrame({**TRAINING, "sky": first})
    dyads = Dyads.from_frame(frame, row="user", col="film", value="rating", inputs=["sky"])
    return dyads.encode(pd.DataFrame({**TRAINING, "sky": later})).column("sky")[:, 0].tolist()


def test_booleans_and_numbers_meet():
    assert encode_input([0.5, 1.0], [True, False]) == [1, 0]
    assert encode_input([True, False], [0, 1]) == [0, 1]


def test_another_kind_of_input_is_refused():
    with pytest.raises(DataError, match=r"'sky': found the kind 'category', expected 'number'"):
        encode_input([0.5, 1.0], ["a", "b"])
    with pytest.raises(DataError, match=r"'sky': found the kind 'number', expected 'date'"):
        encode_input(pd.to_datetime(["2020-01-01", "2020-01-02"]), [1, 2])
    with pytest.raises(DataError, match=r"row 2, column 'sky': found 2.0, expected 0 or 1"):
        encode_input([True, False], [1, 2])
    with pytest.raises(
        DataError, match=r"'sky': found numbers such as 1, expected text such as"
    ):
        encode_input(["rain", "dry"], [1, 2])
