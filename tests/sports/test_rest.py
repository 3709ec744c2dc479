"""Rest: found from the schedule, the same for later games, learned, and blind to the future."""

import json

import numpy as np
import pandas as pd
import pytest

from dpmf import ConfigError, Games
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import Plan
from dpmf.sports import score_model
from dpmf.sports.calendar import Calendar
from dpmf.sports.findings import findings, in_words
from league import later_changed

COST = 12.0  # points of margin, far more than in any league
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


def tiring(seed=0) -> pd.DataFrame:
    """Two seasons in which teams that played the day before lose by `COST` points more."""
    random = np.random.default_rng(seed)
    teams, rows = np.array(list("ABCDEF")), []
    for season in (2001, 2002):
        for week in range(10):
            first = pd.Timestamp(f"{season}-09-02") + pd.Timedelta(weeks=week)
            order = random.permutation(teams)
            tired = {*order[:2]}
            games = [(first, *order[:2])]
            later = random.permutation(order).reshape(3, 2)
            games += [(first + pd.Timedelta(days=1), *pair) for pair in later]
            for day, home, away in games:
                edge = 0.0 if day == first else (away in tired) - float(home in tired)
                noise = random.normal(0, 3, 2)
                margin = 3 + COST * edge
                rows.append(
                    (day, home, away, 50 + margin / 2 + noise[0], 50 - margin / 2 + noise[1])
                )
    return pd.DataFrame(rows, columns=["date", "home", "away", *SCORES])


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


def test_calendars_of_fits_that_were_made_before_know_of_no_last_games():
    plain = Games(FEW).calendar.to_dict()
    del plain["last_days"]
    assert Calendar.from_dict(plain).last_days == {}


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


def test_rest_does_not_let_the_future_in():
    frame = Games(tiring()).frame
    days = cutoffs(frame, [2002], "4w")
    plan = Plan(chains=2, warmup=20, draws=10)
    model = score_model(side=("home", "rest"))
    before = model.forecasts(frame, days, plan).predictions
    changed = later_changed(frame, days[1].start)
    assert not changed[SCORES].equals(frame[SCORES])
    after = model.forecasts(changed, days, plan).predictions
    for one, other in zip(before[:2], after[:2], strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)


def test_the_paper_knows_neither_rest_nor_pace():
    with pytest.raises(ConfigError, match="rest and pace enter the mean of all teams"):
        score_model(side=("home", "rest"), paper=True)
