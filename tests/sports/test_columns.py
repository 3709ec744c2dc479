"""Which column is what: standard names, what people call them, and what is said."""

import re
import warnings

import pandas as pd
import pytest

from dpmf import ConfigError, DataError, DpmfWarning, Games, read_games
from dpmf.sports.columns import meanings, told_apart

STANDARD = ["date", "home", "away", "home_score", "away_score"]


@pytest.mark.parametrize(
    "names",
    [
        ["Date", "HomeTeam", "AwayTeam", "FTHG", "FTAG"],  # football-data
        ["gameday", "home_team", "away_team", "home_score", "away_score"],  # nflverse
        ["GAME_DATE_EST", "HOME_TEAM_ID", "VISITOR_TEAM_ID", "PTS_home", "PTS_away"],
        ["game_date", "home", "visitor", "home_pts", "visitor_pts"],
        ["Match Date", "Host", "Guest", "Home Goals", "Away Goals"],
        ["date", "Home/Neutral", "Visitor/Neutral", "homePoints", "awayPoints"],
        ["datetime", "home_team_name", "road", "hscore", "ascore"],
    ],
)
def test_what_people_call_them(names):
    with pytest.warns(DpmfWarning, match="took ") as told:
        found = meanings(names, source="games.csv")
    assert list(found) == STANDARD or set(found) == set(STANDARD)
    assert [found[role] for role in STANDARD] == names
    assert len(told) == 1


def test_what_was_guessed_is_said_in_one_notice():
    names = ["date", "HomeTeam", "away", "FTHG", "away_score"]
    expected = "games.csv: took 'HomeTeam' as home, 'FTHG' as home_score; --columns"
    with pytest.warns(DpmfWarning, match=re.escape(expected)):
        meanings(names, source="games.csv")


def test_standard_names_win_and_nothing_is_said():
    others = ["HomeTeam", "visitor", "FTHG", "FTAG", "game_date", "neutral_site"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = meanings([*others[:5], *STANDARD], source="games.csv")
    assert found == dict(zip(STANDARD, STANDARD, strict=True))


def test_a_standard_name_in_other_letters_comes_before_other_names():
    names = ["Date", "game_date", "Home", "home_team", "away", "home_score", "away_score"]
    with pytest.warns(DpmfWarning, match="took 'Date' as date, 'Home' as home;"):
        meanings(names, source="games.csv")


def test_what_is_said_comes_before_standard_names():
    names = [*STANDARD, "Gastgeber"]
    assert meanings(names, {"home": "Gastgeber"}, source="g")["home"] == "Gastgeber"


@pytest.mark.parametrize(
    ("names", "columns", "kind", "message"),
    [
        (
            ["date", "HomeTeam", "host", "away", "home_score", "away_score"],
            None,
            DataError,
            "g.csv: the column 'home' may be 'HomeTeam' or 'host', expected one of them. "
            "Say which it is: --columns home=HomeTeam, or columns={'home': 'HomeTeam'}.",
        ),
        (
            ["date", "team", "away", "home_score", "away_score"],
            None,
            DataError,
            "there is no column 'home'. It has date, team, away, home_score, away_score. "
            "Say which it is: --columns home=NAME",
        ),
        (STANDARD, {"hom": "home"}, ConfigError, "there is no 'hom' in a games table. Did you"),
        (STANDARD, {"home": "Hosts"}, DataError, "g.csv: there is no column 'Hosts'."),
        (
            STANDARD,
            {"home": "home", "away": "home"},
            ConfigError,
            "'home' is given as home and as away, expected two columns",
        ),
    ],
)
def test_refusals(names, columns, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        meanings(names, columns, source="g.csv")


def test_scores_are_not_looked_for_in_games_to_come():
    assert set(meanings(["date", "home", "away"], upcoming=True, source="g")) == set(
        STANDARD[:3]
    )
    said = {"home_score": "FTHG", "away_score": "FTAG"}  # as for the games of the fit
    assert meanings(STANDARD[:3], said, upcoming=True, source="g")["home"] == "home"


def test_spreads_are_never_guessed():
    found = meanings([*STANDARD, "spread_line", "spread"], source="g")
    assert "spread_home" not in found


def test_guesses_of_what_is_not_needed_look_at_what_is_in_it():
    base = pd.DataFrame(
        [("2001-09-09", "A", "B", 1, 2), ("2001-09-16", "B", "A", 3, 4)], columns=STANDARD
    )
    with pytest.warns(DpmfWarning, match="took 'neutral_site' as neutral"):
        found = Games(base.assign(neutral_site=[0, 1])).frame
    assert found["home"].tolist() == [0.5, 0.0]
    with pytest.warns(DpmfWarning, match="not used: playoff"):
        assert len(Games(base.assign(playoff=["t", None]))) == 2
    with pytest.warns(DpmfWarning, match="took 'Over_Under' as total"):
        assert Games(base.assign(Over_Under=[40.5, None])).frame["total"].iloc[0] == 40.5


def test_errors_name_the_column_of_the_file():
    frame = pd.DataFrame(
        [("2001-09-09", "A", "B", "x", 2)], columns=[*STANDARD[:3], "FTHG", "FTAG"]
    )
    with (
        pytest.warns(DpmfWarning),
        pytest.raises(DataError, match="row 1, column 'FTHG': found 'x'"),
    ):
        Games(frame)


def test_scores_named_after_nobody_belong_to_the_team_before_them(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text(
        "Date,Visitor/Neutral,PTS,Home/Neutral,PTS\n"
        "Tue Oct 28 2008,CLE,85,BOS,90\nTue Oct 28 2008,MIL,95,CHI,108\n"
    )
    told = "'Home/Neutral' as home, .*'PTS \\(home\\)' as home_score, 'PTS \\(away\\)' as"
    with pytest.warns(DpmfWarning, match=told):
        frame = read_games(path).frame
    assert frame[["home_team", "home_score", "away_score"]].values.tolist() == [
        ["BOS", 90.0, 85.0],
        ["CHI", 108.0, 95.0],
    ]
    assert told_apart(["PTS", "home", "PTS"]) == ["PTS", "home", "PTS"]
    path.write_text("date,PTS,home,PTS,away\n2008-10-28,85,BOS,90,CLE\n")
    with pytest.raises(DataError, match="the column 'PTS' is there twice"):
        read_games(path)
