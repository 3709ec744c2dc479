"""Columns that describe a member: checked, remembered, and refused where they cannot be."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpmf.data import Codebook, Dyads
from dpmf.errors import DataError

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
RATINGS = {
    "user": ["ann", "bob", "ann", "cy"],
    "film": ["Alien", "Brazil", "Brazil", "Alien"],
    "stars": [4, 2, 5, 3],
    "time": [0.0, 1.0, 2.0, 3.0],
    "age": [30, 50, 30, 41],
    "genre": ["horror", "comedy", "comedy", "horror"],
}


def ratings(frame, **roles) -> Dyads:
    chosen = {
        "row": "user",
        "col": "film",
        "value": "stars",
        "inputs": ["time"],
        "row_attributes": ["age"],
        "col_attributes": ["genre"],
    }
    return Dyads.from_frame(frame, source="ratings.csv", **{**chosen, **roles})


@FRAMES
def test_attributes_are_inputs_that_know_whom_they_describe(frame):
    data = ratings(frame(RATINGS))
    assert data.input_names == ("time", "age", "genre")
    assert data.column("age")[:, 0].tolist() == [30, 50, 30, 41]
    assert data.column("genre")[:, 0].tolist() == [0, 1, 1, 0]
    assert repr(data).endswith("inputs: time, age of user, genre of film")
    assert "age of user" in data._repr_html_()


def test_a_codebook_with_attributes_survives_json():
    codebook = ratings(pd.DataFrame(RATINGS)).codebook
    assert Codebook.from_dict(json.loads(json.dumps(codebook.to_dict()))) == codebook
    assert codebook.attributes == ("age", "genre")


def changed(column: str, entries: list) -> pd.DataFrame:
    return pd.DataFrame({**RATINGS, column: entries})


DAY = datetime.date(2020, 1, 2)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (changed("age", [30, 50, 31.5, 41]),
         r"ratings\.csv: row 3, column 'age': found 31\.5 for 'ann', which has 30 in row 1; "
         r"expected one entry for each 'user', since an attribute describes the member\. "
         r"Correct it, or name the column in inputs= if it changes"),
        (changed("genre", ["horror", "comedy", "horror", "horror"]),
         r"row 3, column 'genre': found 'horror' for 'Brazil', which has 'comedy' in row 2; "
         "expected one entry for each 'film'"),
        (changed("age", [True, False, False, True]),
         "row 3, column 'age': found False for 'ann', which has True in row 1"),
        (changed("age", [DAY, DAY, DAY.replace(year=2021), DAY]),
         "row 3, column 'age': found 2021-01-02 for 'ann', which has 2020-01-02 in row 1"),
        (changed("age", [30, None, 30, 41]), "row 2, column 'age': found a missing entry"),
    ],
)  # fmt: skip
def test_a_member_has_one_entry(frame, message):
    with pytest.raises(DataError, match=message):
        ratings(frame)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"inputs": ["time", "age"]},
         "the column 'age' is both an input and an attribute of a member"),
        ({"col_attributes": ["age"]}, "'age' is both in row_attributes and in col_attributes"),
        ({"row_attributes": ["age", "age"]}, "inputs names the column 'age' more than once"),
        ({"row_attributes": "age"}, r"row_attributes='age': found one name, expected a list"),
        ({"row_attributes": ["aeg"]}, r"there is no column 'aeg'. Did you mean 'age'\?"),
        ({"row_attributes": ["stars"]}, "'stars' is both a value and an input"),
        ({"value": ("stars", "time"), "inputs": []},
         r"attributes 'age', 'genre': events have two values, .* Name it in inputs= instead"),
    ],
)  # fmt: skip
def test_roles_that_have_no_meaning(roles, message):
    with pytest.raises(DataError, match=message):
        ratings(pd.DataFrame(RATINGS), **roles)


@FRAMES
def test_known_members_need_not_be_described_again(frame):
    data = ratings(frame(RATINGS))
    later = data.encode(
        frame({"user": ["cy", "ann"], "film": ["Brazil", "Alien"], "time": [9.0, 8.0]})
    )
    assert later.column("age")[:, 0].tolist() == [41, 30]
    assert later.column("genre")[:, 0].tolist() == [1, 0]
    assert later.codebook.inputs == data.codebook.inputs


def test_a_new_member_must_be_described():
    data = ratings(pd.DataFrame(RATINGS))
    later = pd.DataFrame({"user": ["ann", "dee"], "film": ["Brazil", "Dune"], "time": 9.0})
    message = (
        r"later\.csv: there is no column 'age', and user 'dee' \(later\.csv: row 2\) is not "
        r"known from training; expected the attributes of every new member. Add the column"
    )
    with pytest.raises(DataError, match=message):
        data.encode(later, source="later.csv")
    with pytest.raises(DataError, match="there is no column 'genre', and film 'Dune'"):
        data.encode(later.assign(age=[30, 22]))
    read = data.encode(later.assign(age=[30, 22], genre=["comedy", "epic"]))
    assert read.column("age")[:, 0].tolist() == [30, 22]
    assert read.codebook.inputs[2].levels == ("horror", "comedy", "epic")
    # And from then on it is known.
    assert data.followed_by(read).encode(later).column("genre")[:, 0].tolist() == [1, 2]


def test_a_later_frame_may_not_disagree():
    data = ratings(pd.DataFrame(RATINGS))
    later = pd.DataFrame({"user": ["dee", "bob"], "film": "Alien", "time": 1.0, "age": [9, 51]})
    message = r"row 2, column 'age': found 51 for 'bob', which has 50 in training"
    with pytest.raises(DataError, match=message):
        data.encode(later)
    twice = later.assign(user="dee")
    with pytest.raises(DataError, match=r"row 2, .* found 51 for 'dee', which has 9 in row 1"):
        data.encode(twice)


def test_who_was_left_out_is_not_known():
    part = ratings(pd.DataFrame(RATINGS)).take([0, 1])
    with pytest.raises(DataError, match=r"user 'cy' .* is not known from training"):
        part.encode(pd.DataFrame({"user": ["cy"], "film": ["Alien"], "time": [1.0]}))


def test_events_after_others():
    data = ratings(pd.DataFrame(RATINGS))
    both = data.take([0, 2]).followed_by(data.take([3]))
    for name in ("rows", "cols", "inputs", "values"):
        np.testing.assert_array_equal(getattr(both, name), getattr(data, name)[[0, 2, 3]])
