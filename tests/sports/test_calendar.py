"""Later games are placed as they would have been together with the earlier ones."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from dpmf import ConfigError, DataError, DpmfWarning, Games, datasets
from dpmf.sports.calendar import Calendar

SCORES = ["home_score", "away_score"]


def nfl(with_seasons=True):
    frame = datasets.nfl()
    return frame if with_seasons else frame.drop(columns="season")


def upcoming(frame, known, **options):
    return Games(frame.drop(columns=SCORES), upcoming=True, after=known, **options)


def require_same_places(part, whole):
    expected = whole.frame[whole.frame["date"].isin(part.frame["date"])]
    for name in ("season", "week"):
        np.testing.assert_array_equal(part.frame[name], expected[name])


@pytest.mark.parametrize("with_seasons", [True, False])
@pytest.mark.parametrize(
    ("cutoff", "stop"),
    [
        ("2018-10-15", "2019-02-01"),  # within a season
        ("2018-08-01", "2019-02-01"),  # the season after the last one seen
        ("2016-12-20", "2019-02-01"),  # the rest of one, and two more
    ],
)
def test_the_future_is_placed_as_training_would(with_seasons, cutoff, stop):
    frame = nfl(with_seasons)
    whole = Games(frame)
    known = whole.before(cutoff).calendar
    later = frame[(frame["date"] >= cutoff) & (frame["date"] < stop)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)
        part = upcoming(later, Calendar.from_dict(json.loads(json.dumps(known.to_dict()))))
    require_same_places(part, whole)


@pytest.mark.parametrize("resolution", ["1d", "2w"])
def test_the_resolution_is_that_of_training(resolution):
    frame = nfl()
    whole = Games(frame, resolution=resolution)
    later = frame[frame["date"] >= "2018-10-15"]
    known = whole.before("2018-10-15").calendar
    require_same_places(upcoming(later, Calendar.from_dict(known.to_dict())), whole)


@pytest.mark.parametrize(
    ("known_before", "day", "season", "week"),
    [
        ("2018-10-01", "2018-12-25", 2018, 15),  # nothing known for 12 weeks: still that season
        ("2018-08-01", "2018-12-25", 2018, 15),
        ("2018-08-01", "2019-01-06", 2018, 17),  # in January, but of the season before
        ("2018-08-01", "2019-12-25", 2019, 15),
        ("2019-02-01", "2017-10-08", 2017, 4),  # in a season that is long known
    ],
)
def test_one_game_alone_finds_its_season_and_week(known_before, day, season, week):
    known = Games(nfl()).before(known_before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)
        frame = upcoming(nfl().tail(1).drop(columns="season").assign(date=day), known).frame
    assert frame["season"].tolist() == [season]
    assert abs(frame["week"].iloc[0] - week) <= 1  # the true first day is not known yet


def test_a_season_not_seen_yet_is_said_to_begin_on_a_day():
    known = Games(nfl()).before("2018-08-01")
    one = nfl().tail(1).drop(columns="season").assign(date="2018-12-25")
    with pytest.warns(DpmfWarning, match="season 2018 is later .* to begin on 2018-09-0"):
        upcoming(one, known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = upcoming(one, known, season_start="2018-10-02").frame
    assert said["week"].tolist() == [12.0]
    with pytest.raises(ConfigError, match="season 2017 is known and began on 2017-09-07"):
        upcoming(one, known, season_start="2017-09-10")
    with pytest.raises(ConfigError, match="season_start='soon', expected a day"):
        upcoming(one, known, season_start="soon")


@pytest.mark.parametrize(
    ("day", "first", "season"),
    [("2009-09-01", "2009-09-10", 2009), ("2018-08-30", "2018-09-06", 2018)],
)
def test_days_before_a_season_began_are_refused(day, first, season):
    one = nfl().tail(1).drop(columns="season").assign(date=day)
    message = f"row 1, column 'date': found {day}, expected a day from {first} on, when season"
    with pytest.raises(DataError, match=message):
        upcoming(one, Games(nfl()))
    with pytest.raises(DataError, match=message):
        upcoming(one.assign(season=season), Games(nfl()))


def test_rows_without_scores_count_in_messages():
    """Games to come are left out before the calendar is made."""
    some = nfl().tail(3).drop(columns="season")
    some["date"] = ["2018-12-30", "2018-08-30", "2018-12-30"]
    some.loc[some.index[0], SCORES] = np.nan
    with (
        pytest.warns(DpmfWarning, match="left out a game without scores"),
        pytest.raises(DataError, match="row 2, column 'date': found 2018-08-30"),
    ):
        Games(some, after=Games(nfl()))


def test_a_season_of_the_past_that_is_not_known_is_refused():
    known = Games(nfl()).between(2017, 2018)
    with pytest.raises(DataError, match="found games of season 2016, which is not among those"):
        upcoming(nfl()[nfl()["season"] == 2016], known)


def test_a_part_keeps_first_days_and_knows_no_later_ones():
    part = Games(nfl()).where(Games(nfl()).frame["date"].between("2017-10-01", "2018-10-01"))
    days = [(s.number, f"{s.first:%m-%d}", f"{s.last:%m-%d}") for s in part.calendar.seasons]
    assert days == [(2017, "09-07", "12-31"), (2018, "09-06", "10-01")]
    assert Games(nfl()).before("1990-01-01").calendar.seasons == ()


def test_two_seasons_a_year():
    dates = [f"{y}-{m}-{d:02d}" for y in (2001, 2002) for m in ("02", "08") for d in (1, 8, 15)]
    frame = pd.DataFrame({"date": dates, "home": "A", "away": "B"})
    frame[SCORES] = 1.0
    known = Games(frame)
    assert known.seasons == [2001, 2002, 2003, 2004]
    one = frame.tail(1).drop(columns=SCORES).assign(date="2003-02-09")
    with pytest.warns(DpmfWarning, match="season 2005"):
        assert Games(one, upcoming=True, after=known).frame["week"].tolist() == [1.0]
