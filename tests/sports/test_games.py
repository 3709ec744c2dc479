"""A table of games: what is read, what is found, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpmf import ConfigError, DataError, DpmfWarning, FileError, Games, read_games
from dpmf.sports import calendar
from league import league


def table(**changes):
    columns = {
        "date": ["2001-09-09", "2001-09-16", "2001-10-07", "2002-09-08"],
        "home": ["A", "B", "C", "A"],
        "away": ["B", "C", "A", "C"],
        "home_score": [10, 20, 30, 40],
        "away_score": [7, 14, 21, 28],
    }
    return pd.DataFrame({**columns, **changes})


def test_seasons_are_found_from_the_gaps_and_weeks_counted():
    frame = Games(table()).frame
    assert frame["season"].tolist() == [2001, 2001, 2001, 2002]
    assert frame["week"].tolist() == [0.0, 1.0, 4.0, 0.0]
    assert frame["home"].tolist() == [0.5] * 4


def test_two_seasons_that_begin_in_one_year_get_two_numbers():
    dates = pd.Series(pd.to_datetime(["2001-01-10", "2001-06-10", "2002-01-10"]))
    assert calendar.seasons(dates).tolist() == [2001, 2002, 2003]


def test_a_season_column_is_believed_and_a_finer_resolution_possible():
    dates = ["2001-09-09", "2001-09-10", "2001-10-07", "2002-09-08"]
    games = Games(table(date=dates, season=[1, 1, 1, 2]), resolution="1d")
    assert games.seasons == [1, 2]
    assert games.frame["week"].tolist() == [0.0, 1 / 7, 4.0, 0.0]


def test_games_are_put_in_order_and_polars_is_the_same():
    shuffled = table().iloc[::-1]
    frame = Games(shuffled).frame
    pd.testing.assert_frame_equal(frame, Games(table()).frame)
    pd.testing.assert_frame_equal(frame, Games(pl.DataFrame(table().to_dict("list"))).frame)


def test_neutral_ground_has_no_home_and_playoffs_are_left_out_unless_asked_for():
    both = table(neutral=[0, 1, 0, 0], is_playoff=[0, 0, 1, 0])
    assert Games(both).frame["home"].tolist() == [0.5, 0.0, 0.5]
    assert len(Games(both, playoffs=True)) == 4
    with pytest.raises(DataError, match="all games are playoff games"):
        Games(table(is_playoff=1))


def test_scores_may_be_called_goals():
    goals = table().rename(columns={"home_score": "home_goals", "away_score": "away_goals"})
    with pytest.warns(DpmfWarning, match="home_goals"):
        read = Games(goals)
    pd.testing.assert_frame_equal(read.frame, Games(table()).frame)
    with (
        pytest.warns(DpmfWarning, match="home_goals"),
        pytest.raises(DataError, match="row 2, column 'away_goals': "),
    ):
        Games(goals.assign(away_goals=[1, None, 0, 2]))


def test_one_event_per_game_with_attack_and_defence_swapped():
    data = Games(table()).dyads()
    assert data.row_names == data.col_names == ("A", "B", "C")
    assert data.rows[1].tolist() == [1, 2] and data.cols[1].tolist() == [2, 1]
    assert data.values[1].tolist() == [20.0, 14.0]
    assert data.column("home")[1].tolist() == [0.5, -0.5]


def test_parts_keep_their_weeks():
    games = Games(table())
    assert games.before("2001-10-01").frame["week"].tolist() == [0.0, 1.0]
    assert len(games.between(2002, 2002)) == 1
    assert repr(games) == "4 games of 3 teams, seasons 2001 to 2002"


def test_upcoming_games_have_no_scores():
    frame = Games(table().drop(columns=["home_score", "away_score"]), upcoming=True).frame
    assert np.isnan(frame["home_score"]).all()


def test_lines_are_numbers_where_there_are_any():
    frame = Games(table(spread_home=["-3", "", None, "2.5"])).frame
    np.testing.assert_array_equal(frame["spread_home"], [-3.0, np.nan, np.nan, 2.5])


def test_other_columns_are_ignored_with_one_notice():
    with pytest.warns(DpmfWarning, match="not used: weather, referee"):
        Games(table(weather="rain", referee="X"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"date": ["2001-09-09", "soon", "2001-10-07", "2002-09-08"]}, "row 2, column 'date'"),
        ({"home_score": [1, "x", 2, 3]}, "row 2, column 'home_score': found 'x'"),
        ({"away": ["B", "B", "A", "C"]}, "row 2, column 'away': 'B' plays against itself"),
        ({"neutral": [0, 2, 0, 0]}, "row 2, column 'neutral': found 2, expected 0 or 1"),
        (
            {"total": [40, "pk", 41, 42]},
            "row 2, column 'total': found 'pk' .text., expected a number",
        ),
        ({"home": ["A", None, "C", "A"]}, "row 2, column 'home': found a missing entry"),
    ],
)
def test_bad_games_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        Games(table(**changes))


def test_games_without_scores_are_left_out():
    """Lists of a whole season hold games to come; their rows still count in messages."""
    nan = float("nan")
    ahead = table(home_score=[1, nan, 2, 3], away_score=[4, None, 5, 6])
    with pytest.warns(
        DpmfWarning, match=r"left out a game without scores, but games after .* \(from 2001-"
    ):
        games = Games(ahead)
    assert games.frame["home_score"].tolist() == [1, 2, 3]
    assert games.frame["away_score"].tolist() == [4, 5, 6]
    with pytest.raises(DataError, match="row 3, column 'home_score': found 'x'"):
        Games(table(home_score=["1", None, "x", "3"], away_score=["4", None, "5", "6"]))
    with pytest.raises(DataError, match="row 2, column 'home_score': found 'x'"):
        Games(table(home_score=[None, "x", "2", "3"], away_score=[None, "4", "5", "6"]))
    with pytest.raises(DataError, match="row 2, column 'home_score': found 'w'"):
        text = pd.Series([None, "w", "2", "3"], dtype="str")
        Games(table(home_score=text, away_score=pd.Series([None, "4", "5", "6"], dtype="str")))
    with pytest.raises(DataError, match="row 2, column 'away_score': found a missing entry"):
        Games(table(home_score=[None, 1, 2, 3], away_score=[None, None, 5, 6]))
    with pytest.raises(DataError, match="row 2, column 'away_score': found a missing entry"):
        Games(table(away_score=[4, None, 5, 6]))
    with pytest.raises(DataError, match="row 1, column 'home_score': found a missing entry"):
        Games(table(home_score=[nan] * 4, away_score=[nan] * 4))


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="there is no column 'away_score'"):
        Games(table().drop(columns="away_score"))


def test_files(tmp_path):
    path = tmp_path / "games.csv.gz"
    table().to_csv(path, index=False)
    assert len(read_games(path)) == 4
    with pytest.raises(FileError, match=r"none\.csv: cannot be read"):
        read_games(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match=r"empty\.csv: this is no CSV table"):
        read_games(tmp_path / "empty.csv")


def test_upcoming_games_continue_the_calendar_of_those_played():
    frame = league()
    frame["date"] = frame["date"] + pd.DateOffset(days=80)  # into January
    played, later = frame[:60], frame[60:].drop(columns=["home_score", "away_score"])
    whole, known = Games(frame), Games(played)
    upcoming = Games(later, upcoming=True, after=known)
    expected = whole.frame.iloc[60:]
    assert upcoming.frame["week"].tolist() == expected["week"].tolist()
    assert upcoming.frame["season"].tolist() == expected["season"].tolist()
    alone = Games(later, upcoming=True)
    assert alone.frame["week"].iloc[0] == 0.0


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("season", 2004.5, "column 'season': found 2004.5, expected a whole number"),
        ("date", ["2004-01-01T00:00:00+01:00", "2004-01-02T00:00:00+02:00"], "column 'date'"),
    ],
)
def test_odd_columns_are_refused(column, values, message):
    frame = league().iloc[:2].assign(**{column: values})
    with pytest.raises(DataError, match=message):
        Games(frame)


def test_a_file_that_only_looks_compressed_is_refused(tmp_path):
    path = tmp_path / "games.csv.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00" + bytes(20))
    with pytest.raises((DataError, FileError), match=r"games\.csv\.gz"):
        read_games(path)


def written(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


HEADER = "date,home,away,home_score,away_score"


def test_names_are_the_text_in_the_file(tmp_path):
    lines = ["2001-09-09,01,NA,1,2", "2001-09-16,NA, X4 ,3,4"]
    found = read_games(written(tmp_path / "games.csv", HEADER, *lines)).frame
    assert found["home_team"].tolist() == ["01", "NA"]
    assert found["away_team"].tolist() == ["NA", "X4"]
    mixed = table(home=[1, 2, 3, 1], away=[2.0, 3.0, 1.0, 3.0])
    assert set(Games(mixed).frame["away_team"]) == {"1", "2", "3"}


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        (HEADER + ",home_score", "2001-09-09,A,B,1,2,9", "column 'home_score' is there twice"),
        (HEADER, "2001-09-09,,B,1,2", "line 2, column 'home': found a missing entry"),
        (HEADER, '2001-09-09," ",B,1,2', "line 2, column 'home': found nothing"),
        (
            HEADER,
            "2001-09-09,A,B,1,2,7,8",
            "line 2, column 6: found '7' after the last column 'away_s",
        ),
        (HEADER, "2001,A,B,1,2", "column 'date': found '2001', expected a date"),
        (HEADER, "2001-09,A,B,1,2", "column 'date': found '2001-09', expected a date"),
        (HEADER + ",total", "2001-09-09,A,B,1,2,inf", "'total': found inf, expected a finite"),
        (HEADER + ",elo_home_prob", "2001-09-09,A,B,1,2,2", "found 2, expected a probability"),
    ],
)
def test_bad_files_are_refused(tmp_path, header, line, message):
    with pytest.raises(DataError, match=message):
        read_games(written(tmp_path / "games.csv", header, line))


def test_days_may_be_written_without_dashes():
    found = Games(table(date=[20010909, 20010916, 20011007, 20020908])).frame["date"]
    assert found.tolist() == pd.to_datetime(table()["date"]).tolist()


def test_a_day_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="date='soon', expected a day"):
        Games(table()).before("soon")
