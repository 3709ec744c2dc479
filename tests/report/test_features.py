"""The features on the page are those behind the library's forecasts."""

import numpy as np
import pandas as pd
import pytest

from dpmf import DpmfWarning, Games
from dpmf.report.features import features, meetings
from dpmf.report.moments import eligible, played
from dpmf.report.ratings import curves, ratings, table
from dpmf.sports.notes import games_notes


@pytest.fixture(scope="module")
def moments(made):
    calendar = games_notes(made.fit).calendar
    past = played(made.fit, calendar)
    return list(dict.fromkeys([*past, *eligible(calendar, past[-1])]))


def test_products_of_features_are_predictions(made, moments):
    found = features(made.fit, moments, seed=3)
    games = meetings(made.fit, moments)
    y = made.fit.predict(games, seed=3).y
    places = {one.place: number for number, one in enumerate(moments)}
    for event, game in enumerate(games.itertuples()):
        home, away = found.teams.index(game.home_team), found.teams.index(game.away_team)
        time, venues = places[game.season, game.week], (0, 1) if game.home else (2, 2)
        for cell, (row, col) in enumerate(((home, away), (away, home))):
            at = (slice(None), slice(None))
            u = found.attack[(*at, row, time, venues[cell])]
            v = found.defence[(*at, col, time, venues[cell])]
            np.testing.assert_allclose((u * v).sum(axis=1), y[:, event, cell], rtol=1e-12)


def test_a_model_that_knows_neither_time_nor_venue_has_one_of_each(goals):
    past = played(goals.fit, games_notes(goals.fit).calendar)
    found = features(goals.fit, past)
    assert found.attack.shape == (30, 1, 6, 1, 1)
    assert found.at(past[:3]).attack.shape == (30, 1, 6, 1, 1)


def test_ratings_are_averages_over_opponents_and_venues(made, moments):
    found = features(made.fit, moments)
    rated = ratings(found, made.fit.spec.likelihood)
    team, time = 2, 5
    season, week = moments[time].place
    others = [name for name in found.teams if name != found.teams[team]]
    rows = [
        {"home_team": a, "away_team": b, "season": season, "week": week, "home": 0.5}
        for other in others
        for a, b in ((found.teams[team], other), (other, found.teams[team]))
    ]
    y = made.fit.predict(pd.DataFrame(rows)).y
    hosted, visited = y[:, 0::2].mean(axis=1), y[:, 1::2].mean(axis=1)
    mine = (hosted[:, 0] + visited[:, 1]) / 2
    theirs = (hosted[:, 1] + visited[:, 0]) / 2
    effect = ((hosted[:, 0] - hosted[:, 1]) - (visited[:, 1] - visited[:, 0])) / 2
    np.testing.assert_allclose(rated.attack[:, team, time], mine, rtol=1e-10)
    np.testing.assert_allclose(rated.defence[:, team, time], theirs, rtol=1e-10)
    np.testing.assert_allclose(rated.home[:, team, time], effect, rtol=1e-8, atol=1e-10)
    rows = table(rated, found.teams, time)
    middles = [row["net"]["median"] for row in rows]
    assert middles == sorted(middles, reverse=True)
    own = next(row for row in rows if row["place"] == team)
    assert own["attack"]["low"] == pytest.approx(np.quantile(mine, 0.1))
    assert curves(rated)["attack"][2][team][time] == pytest.approx(
        np.quantile(mine, 0.9), abs=6e-4
    )


def test_ratings_of_goals_are_expected_goals(goals):
    past = played(goals.fit, games_notes(goals.fit).calendar)
    rated = ratings(features(goals.fit, past), goals.fit.spec.likelihood)
    team = goals.fit.data.row_names[0]
    others = [name for name in goals.fit.data.row_names if name != team]
    season, week = past[-1].place
    rows = [
        {"home_team": team, "away_team": other, "season": season, "week": week, "home": 0.5}
        for other in others
    ]
    expected = goals.fit.predict(pd.DataFrame(rows)).mean
    assert rated.attack[:, 0].mean() == pytest.approx(expected[:, 0].mean(), rel=1e-9)
    assert np.allclose(rated.home, 0)


def test_thinned_draws_are_spread_over_all_chains(made):
    few = made.fit.thinned(8)
    assert few.shape == (2, 4)
    every, some = (np.asarray(f.draws.states.free.rows.mean) for f in (made.fit, few))
    np.testing.assert_array_equal(some, every[:, [0, 4, 9, 14]])
    assert made.fit.thinned(1).shape == (2, 1)
    assert made.fit.thinned(10_000).shape == made.fit.shape


def test_moments_reach_to_the_end_of_the_season(made):
    calendar = games_notes(made.fit).calendar
    past = played(made.fit, calendar)
    assert [one.season for one in past] == [2001] * 8 + [2002] * 8 + [2003] * 5
    now = past[-1]
    weeks = [one.week for one in eligible(calendar, now)]
    assert weeks == list(range(8))  # five were played; earlier seasons had eight
    frame = made.games.frame.head(2).assign(
        date=["2004-09-05", "2004-09-19"], home=["x", "y"], away=["y", "x"]
    )
    with pytest.warns(DpmfWarning, match="season 2004 is later"):
        later = Games(frame[["date", "home", "away"]], upcoming=True, after=calendar)
    places = [one.place for one in eligible(calendar, now, later)]
    assert places[0] == now.place
    assert places[1:] == [(2004, float(week)) for week in range(8)]
