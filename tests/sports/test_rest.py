"""Rest: found from the schedule, the same for later games, learned, and blind to the future."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, DpmfWarning, Games
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import Plan
from dpmf.backtest.pairwise import Kickscore
from dpmf.sports import score_model
from dpmf.sports.calendar import Calendar
from dpmf.sports.findings import findings, in_words
from dpmf.sports.rest import DAY, tired
from dpmf.sports.unknown_games import _tell_unknown_rest
from league import COST, later_changed, tiring

SCORES = ["home_score", "away_score"]


def schedule(days, pairs, scores=(20, 10)):
    """One game a row."""
    home, away = zip(*pairs, strict=True)
    frame = pd.DataFrame({"date": pd.to_datetime(days), "home": home, "away": away})
    return frame.assign(**dict(zip(SCORES, scores, strict=True)))


FEW = schedule(
    ["2001-01-01", "2001-01-01", "2001-01-02", "2001-01-02", "2001-01-03", "2001-01-04"],
    [("A", "B"), ("C", "D"), ("A", "E"), ("F", "C"), ("A", "F"), ("B", "F")],
)


def test_a_team_is_tired_that_played_the_day_before():
    # A tired against E; C tired as a guest; both tired (A played on the 2nd, F too); F tired.
    assert Games(FEW).frame["rest"].tolist() == [0.0, 0.0, -0.5, 0.5, 0.0, 0.5]


def test_playoffs_that_are_left_out_have_tired_teams_all_the_same():
    frame = FEW.assign(is_playoff=[1, 0, 0, 0, 0, 0])
    assert Games(frame).frame["rest"].tolist() == [0.0, -0.5, 0.5, 0.0, 0.5]


@pytest.mark.parametrize("start", ["2001-01-02", "2001-01-03", "2001-01-04"])
def test_later_games_are_rested_as_together_with_the_earlier(start):
    whole = Games(FEW)
    known = Games(FEW[FEW["date"] < start]).calendar
    stored = Calendar.from_dict(json.loads(json.dumps(known.to_dict())))
    later = FEW[FEW["date"] >= start].drop(columns=SCORES)
    for after in (stored, whole.before(start)):
        found = Games(later, upcoming=True, after=after).frame["rest"].tolist()
        assert found == whole.frame["rest"].tolist()[-len(found) :]


def test_a_last_game_stays_known_whatever_is_left_out():
    """A playoff game that is not learned from, and one of a table before this one."""
    end = Games(FEW.assign(is_playoff=[0, 0, 0, 0, 0, 1]))
    after_it = schedule(["2001-01-05"], [("C", "B")]).drop(columns=SCORES)
    assert Games(after_it, upcoming=True, after=end).frame["rest"].tolist() == [0.5]
    more = Games(schedule(["2001-01-05"], [("C", "D")]), after=Games(FEW))
    for after in (more, more.between(2001, 2001), more.where(more.frame["home_team"] == "C")):
        found = Games(after_it, upcoming=True, after=after).frame["rest"].tolist()
        assert found == [0.5], "B played in the table before"
    assert more.before("2001-01-01").calendar.every_day == {}


def test_games_among_the_known_are_rested_as_they_were():
    whole = Games(FEW)
    stored = Calendar.from_dict(json.loads(json.dumps(whole.calendar.to_dict())))
    again = Games(FEW.drop(columns=SCORES), upcoming=True, after=stored)
    assert again.frame["rest"].tolist() == whole.frame["rest"].tolist()


def test_a_game_without_a_score_has_its_day_all_the_same():
    """Today's games are in the list without scores, and tomorrow's teams are tired of them."""
    known = FEW["date"] < "2001-01-03"
    with pytest.warns(DpmfWarning, match="left out 2 games without scores"):
        played = Games(FEW.assign(**{name: FEW[name].where(known) for name in SCORES}))
    assert played.frame["rest"].tolist() == Games(FEW).frame["rest"][known].tolist()
    tomorrow = FEW[FEW["date"] == "2001-01-04"].drop(columns=SCORES)
    every = pd.Series(True, played.frame.index)
    for after in (played, played.between(2001, 2001), played.where(every)):
        assert Games(tomorrow, upcoming=True, after=after).frame["rest"].tolist() == [0.5]
    # Whoever looks back from that day knows of no schedule.
    blind = played.before("2001-01-03")
    assert Games(tomorrow, upcoming=True, after=blind).frame["rest"].tolist() == [0.0]


def test_a_game_that_was_moved_or_cancelled_tires_nobody():
    """It has no score, and others after it have."""
    cancelled = FEW["home"].eq("A") & FEW["away"].eq("E")
    with pytest.warns(DpmfWarning, match="left out a game without scores"):
        played = Games(FEW.assign(**{name: FEW[name].where(~cancelled) for name in SCORES}))
    # A is fresh against F on the 3rd, who was a host on the 2nd.
    assert played.frame["rest"].tolist() == [0.0, 0.0, 0.5, 0.5, 0.5]


def test_what_was_to_come_is_forgotten_once_later_results_are_known():
    """Four games to come; the one of A and E is then not among those that were played."""
    known, cancelled = FEW["date"] < "2001-01-02", FEW["home"].eq("A") & FEW["away"].eq("E")
    with pytest.warns(DpmfWarning, match="left out 4 games without scores, not played yet"):
        first = Games(FEW.assign(**{name: FEW[name].where(known) for name in SCORES}))
    assert first.calendar.scheduled["E"] == {pd.Timestamp("2001-01-02")}
    stored = Calendar.from_dict(json.loads(json.dumps(first.calendar.to_dict())))
    for after in (first, stored):
        later = Games(FEW[~known & ~cancelled], after=after)
        assert later.frame["rest"].tolist() == [0.5, 0.5, 0.5]
        assert later.calendar.scheduled == {}


def test_the_two_ways_to_have_no_score_are_told_apart():
    missing = (FEW["home"].eq("A") & FEW["away"].eq("E")) | FEW["date"].eq("2001-01-04")
    with pytest.warns(DpmfWarning) as told:
        Games(FEW.assign(**{name: FEW[name].where(~missing) for name in SCORES}))
    ahead, never = (str(one.message) for one in told)
    assert "left out a game without scores, not played yet (from 2001-01-04 on)" in ahead
    assert "without scores, but games after have scores, so moved or never played" in never
    assert "(from 2001-01-02 on)" in never


@pytest.mark.parametrize(
    ("days", "dark"),
    [
        (["01-05", "01-06"], False),  # the day after the last one known
        (["01-05", "01-08"], False),  # nobody plays in between
        (["01-06"], True),
        (["01-06", "01-07", "01-09"], True),
    ],
)
def test_days_that_nobody_knows_are_told(days, dark):
    ahead = schedule([f"2001-{day}" for day in days], [("A", "B")] * len(days))
    games = Games(ahead.drop(columns=SCORES), upcoming=True, after=Games(FEW))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _tell_unknown_rest(games, "next.csv")
    assert len(told) == dark
    if dark:
        assert "next.csv: the games of 2001-01-06 are forecast with" in str(told[0].message)


@pytest.mark.filterwarnings("ignore:games. season 2002 is later")
def test_nobody_plays_before_a_season_begins():
    ahead = schedule(["2001-12-31", "2002-01-02"], [("A", "B")] * 2).drop(columns=SCORES)
    games = Games(ahead, upcoming=True, after=Games(FEW))
    assert games.frame["season"].tolist() == [2002, 2002]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _tell_unknown_rest(games, "next.csv")


def test_a_late_result_leaves_what_is_still_to_come():
    known = FEW["date"] < "2001-01-03"
    with pytest.warns(DpmfWarning, match="not played yet"):
        first = Games(FEW.assign(**{name: FEW[name].where(known) for name in SCORES}))
    late = Games(schedule(["2001-01-02"], [("B", "D")]), after=first)
    assert late.calendar.scheduled == first.calendar.scheduled != {}


def test_who_is_tired_has_a_name():
    assert tired(Games(FEW).frame).tolist() == ["", "", "A", "C", "", "F"]


def test_a_league_that_never_plays_on_successive_days_is_told():
    games, model = Games(dpmf.datasets.nfl()), score_model(side=("rest",))
    with pytest.warns(DpmfWarning, match="rest says nothing here"):
        games.dyads(model.inputs)
    days = cutoffs(games.frame, [2018], "20w")
    with pytest.warns(DpmfWarning, match="rest says nothing here"):
        model.parts(games.frame, days, Plan())


def test_calendars_are_kept_with_the_days_of_their_last_season_alone():
    table = tiring()
    games = Games(table)
    first = games.calendar.seasons[-1].first
    kept = Calendar.from_dict(games.calendar.to_dict()).days
    assert {min(days) for days in kept.values()} <= {first, first + DAY}
    earlier = Games(table[table["date"] < first]).calendar
    assert games.between(2001, 2001).calendar == earlier


def test_calendars_of_fits_that_were_made_before_know_of_no_days():
    plain = Games(FEW).calendar.to_dict()
    del plain["scheduled"]
    assert Calendar.from_dict(plain).days == Games(FEW).calendar.days
    del plain["days"]
    assert Calendar.from_dict(plain).every_day == {}


def test_what_rest_costs_is_learned_forecast_and_told():
    games = Games(tiring())
    model = score_model(side=("time", "home", "rest"))
    assert model.name == "DPMF(t,h,r)"
    fit = model.fit(games, chains=2, warmup=150, draws=50, progress=False)
    found = findings(fit)
    assert found["rest_advantage"].median == pytest.approx(COST, abs=3.0)
    assert any("played the day before" in line for line in in_words(found))
    # Its hosts meet a stranger the day before.
    home, away = games.frame.iloc[-1][["home_team", "away_team"]]
    days = games.frame["date"].max() + pd.to_timedelta([7, 8], unit="D")
    ahead = pd.DataFrame({"date": days, "home": home, "away": ["Z", away]})
    upcoming = Games(ahead, upcoming=True, after=games)
    assert upcoming.frame["rest"].tolist() == [0.0, -0.5]
    even = upcoming.frame.assign(rest=0.0)
    tired, fresh = (fit.predict(frame).mean for frame in (upcoming.frame, even))
    margin = (tired - fresh)[-1] @ [1, -1]
    assert margin == pytest.approx(-COST, abs=3.0)


def test_a_model_without_rest_does_not_ask_for_it():
    assert Games(FEW).dyads(score_model().inputs).input_names == ("season", "week", "home")


@pytest.mark.parametrize("seed", range(5))
def test_rest_is_the_same_whatever_comes_after(seed):
    """Later games may be dropped, moved or added: no earlier one is told of it."""
    random = np.random.default_rng(seed)
    table = tiring()
    start = table["date"].iloc[random.integers(20, len(table) - 20)]
    known, later = table[table["date"] < start], table[table["date"] >= start].copy()
    moved = later["date"] + pd.to_timedelta(random.integers(0, 3, len(later)), unit="D")
    later = later.assign(date=moved)[random.random(len(later)) < 0.7]
    other = pd.concat([known, later.drop_duplicates(["date", "home"])])
    one, two = Games(table).before(start), Games(other).before(start)
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert one.calendar.every_day == two.calendar.every_day


@pytest.mark.parametrize(("protocol", "engine"), [("default", "hmc"), ("paper", "slice")])
def test_neither_rest_nor_pace_lets_the_future_in(protocol, engine):
    table = tiring((2001, 2002, 2003))
    frame = Games(table).frame
    days = cutoffs(frame, [2003], "3w")
    sizes = {"chains": 2, "warmup": 20, "rewarm": 10, "draws": 10}
    long_run = {"learn_from": (2001,), "long_run": (2, 10, 5)}
    plan = Plan(protocol=protocol, engine=engine, **sizes, **long_run)
    model = score_model(side=("time", "home", "rest", "pace"))
    before = model.forecasts(frame, days, plan).predictions
    changed = Games(later_changed(table, days[1].start)).frame
    assert not changed[SCORES].equals(frame[SCORES])
    after = model.forecasts(changed, days, plan).predictions
    for one, other in zip(before[:2], after[:2], strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
    assert not np.array_equal(before[2].mean, after[2].mean)  # as it should be


def test_kickscore_can_be_told_too():
    frame = Games(tiring()).frame
    days = cutoffs(frame, [2002], "10w")
    means = [
        Kickscore(rest=rest).forecasts(frame, days, Plan()).predictions[0].mean[0] @ [1, -1]
        for rest in (True, False)
    ]
    upcoming = frame[days[0].upcoming(frame)]
    apart = np.polyfit(2 * upcoming["rest"], means[0] - means[1], 1)[0]
    assert apart == pytest.approx(COST, abs=3.0)


def test_the_paper_knows_neither_rest_nor_pace():
    with pytest.raises(ConfigError, match="rest and pace enter the mean of all teams"):
        score_model(side=("home", "rest"), paper=True)
