"""Frames and Parquet files: read as they are, or refused at the row and column that is odd."""

import datetime
import decimal
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf import DataError, Dyads, read_games
from dpmf.sports.games import typed
from fuzz.written import NAMES, files, games, read_back, truth

ODD = {
    "home_score": [None, np.nan, np.inf, -np.inf, 10**400, "102 (OT)", "x", [1], {}, 1e300],
    "date": [None, pd.NaT, "soon", 5, 20019999, 1.5, True, [1], datetime.time(3), "2001-02-30"],
    "home": [None, np.nan, "", "  "],
}
KINDS = {
    "home_score": [int, float, str, np.int64, np.float32, decimal.Decimal, lambda n: f" {n} "],
    "date": [
        lambda day: day,
        lambda day: datetime.datetime(day.year, day.month, day.day, 19, 30),
        pd.Timestamp,
        str,
        lambda day: int(day.strftime("%Y%m%d")),
        lambda day: day.strftime("%d %b %Y"),
    ],
    "home": [str],
}


def columns(found, random_) -> dict[str, list]:
    day, score = (random_.choice(KINDS[name]) for name in ("date", "home_score"))
    return {
        "date": [day(game.day) for game in found],
        "home": [game.home for game in found],
        "away": [game.away for game in found],
        "home_score": [score(game.scores[0]) for game in found],
        "away_score": [game.scores[1] for game in found],
    }


@files("frames")
@given(games(), st.integers(0, 2**32), st.sampled_from([None, *ODD]))
def test_frames_are_read_as_they_are_or_refused(found, seed, name):
    random_ = random.Random(seed)
    held = columns(found, random_)
    if name is None:
        expected = [row for game in found for row in truth([game])]
        assert read_back(typed(pd.DataFrame(held))) == expected
        if not isinstance(held["home_score"][0], np.float32 | decimal.Decimal):
            assert read_back(typed(pl.DataFrame(held, strict=False))) == expected
        return
    at = random_.randrange(len(found))
    odd = random_.choice(ODD[name])
    held[name] = [odd if row == at else one for row, one in enumerate(held[name])]
    frame = pd.DataFrame({key: pd.Series(one, dtype=object) for key, one in held.items()})
    with pytest.raises(DataError) as refused:
        typed(frame)
    assert str(refused.value).startswith(f"games: row {at + 1}, column {name!r}: found ")


@files("parquet")
@given(games(), st.integers(0, 2**32), st.booleans())
def test_parquet_files_are_read_as_they_are_or_refused(place, found, seed, torn):
    random_ = random.Random(seed)
    held = columns(found, random.Random(0)) | {
        "date": [game.day for game in found],
        "home_score": [random_.choice([int, float])(game.scores[0]) for game in found],
    }
    path = place.with_suffix(".parquet")
    pl.DataFrame(held, strict=False).write_parquet(path)
    if not torn:
        assert read_back(read_games(path).frame) == truth(found)
        return
    raw = path.read_bytes()
    path.write_bytes(raw[: random_.randrange(len(raw))])
    with pytest.raises(DataError, match=r"games\.parquet: this is no Parquet table"):
        read_games(path)


def test_huge_numbers_in_any_dyads_are_refused():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "x"], "v": [1, 10**400]}, dtype=object)
    with pytest.raises(DataError, match=r"row 2, column 'v': found '1000.*\(401 characters\)"):
        Dyads.from_frame(frame, row="a", col="b", value="v")


@pytest.mark.parametrize("frame", [pd.DataFrame(), pd.DataFrame({NAMES[0]: ["2001-09-09"]})])
def test_frames_of_nothing_and_of_one_column(frame):
    with pytest.raises(DataError, match=r"there are no events|there is no column 'home'"):
        typed(frame)
