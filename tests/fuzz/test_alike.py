"""Names that differ only in case or spaces, and games that are there twice, are told."""

import unicodedata
import warnings

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf import DpmfWarning, Dyads, Games, read_games
from dpmf.data.alike import alike
from dpmf.sports.table_files import read_table
from fuzz.written import files

HEADER = "date,home,away,home_score,away_score\n"
SLIPS = [
    str.upper,
    str.lower,
    str.swapcase,
    lambda name: name[0] + " " + name[1:],
    lambda name: name + "\u200b",
    lambda name: name.replace(" ", "\u00a0"),
    lambda name: unicodedata.normalize("NFD", name),
]
NAMES = st.text("abcXYZ éüß", min_size=2, max_size=8).filter(lambda name: name == name.strip())


def told(function, *arguments, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(one.message) for one in caught if one.category is DpmfWarning]


@files("alike")
@given(NAMES, st.sampled_from(SLIPS))
def test_slips_of_the_pen_are_told_with_both_names_and_lines(place, name, slip):
    other = slip(name)
    rows = ["2001-09-02,Q,R,1,2", f"2001-09-09,{name},Q,1,2", f"2001-09-16,R,{other},1,2"]
    place.write_text(HEADER + "\n".join(rows) + "\n")
    table, source = read_table(place)
    notices = told(Games, table, source=source)
    if other == name:
        assert notices == []
        return
    (notice,) = notices
    assert notice.startswith(f"{place}: names that differ only in case or spaces")
    assert f"{name!r} (line 3) and {other!r} (line 4)" in notice


@pytest.mark.parametrize("names", [["A", "B"], ["Ab", "A b c"], ["1", 1, 1.0], ["é", "e"]])
def test_other_names_are_not_alike(names):
    assert list(alike(names)) == []


def test_frames_of_any_dyads_are_looked_at_too():
    frame = pd.DataFrame({"u": ["Ann", "Bob", "ann"], "f": ["x", "y", "x "], "v": [1, 2, 3]})
    notices = told(Dyads.from_frame, frame, row="u", col="f", value="v")
    assert any("'Ann' (row 1) and 'ann' (row 3)" in one for one in notices)
    assert any("'x' (row 1) and 'x ' (row 3)" in one for one in notices)
    frame = frame.rename(columns={"u": "home", "f": "away"}).assign(date="2001-09-09", w=1)
    games = frame.rename(columns={"v": "home_score", "w": "away_score"})
    assert told(Games(games).dyads) == []  # said when the games were read


def test_a_game_that_is_there_twice(place):
    rows = ["2001-09-09,A,B,1,2", "2001-09-16,A,B,1,2", "2001-09-09,A,B,1.0,2"]
    place.write_text(HEADER + "\n".join(rows) + "\n")
    (notice,) = told(read_games, place)
    assert "'A' against 'B' on 2001-09-09 is in line 2 and in line 4 with the same" in notice
    place.write_text(HEADER + "\n".join([*rows[:2], "2001-09-16,A,B,3,4", rows[2]]) + "\n")
    (notice,) = told(read_games, place)
    assert "in line 2 and in line 5 with the same result (and 1 more)" in notice


def test_a_game_with_two_results(place):
    place.write_text(HEADER + "2001-09-09,A,B,1,2\n2001-09-09,A,B,3,2\n2001-09-09,B,A,3,2\n")
    (notice,) = told(read_games, place)
    assert "is in line 2 and in line 3 with the results 1-2 and 3-2; each is counted" in notice
    assert len(read_games(place)) == 3
    place.write_text("date,home,away\n2001-09-09,A,B\n2001-09-09,A,B\n")
    assert told(read_games, place, upcoming=True) == []
