"""Elo by hand."""

import numpy as np
import pandas as pd
import pytest

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.elo import Elo, rated
from dpmf.backtest.forecaster import Plan

GAMES = pd.DataFrame(
    [
        ("2001-09-01", 2001, "A", "B", 20.0, 10.0, False),
        ("2001-09-08", 2001, "B", "C", 14.0, 14.0, False),
        ("2001-09-15", 2001, "C", "A", 10.0, 13.0, True),
        ("2002-09-01", 2002, "A", "C", 17.0, 7.0, False),
    ],
    columns=["date", "season", "home_team", "away_team", "home_score", "away_score", "neutral"],
).assign(date=lambda frame: pd.to_datetime(frame["date"]))


def chance(lead):
    return 1 / (1 + 10 ** (-lead / 400))


def test_ratings_by_hand():
    found = rated(GAMES)
    home = 400 * np.log10(5)  # of three games at home two and a half were won
    assert found.advantage == pytest.approx(home)
    first = 20 * (1 - chance(home))
    second = 20 * (0.5 - chance(home - first))
    b, c = -first + second, -second
    third = 20 * (0 - chance(c - first))
    a, c = first - third, c + third
    lead = 2 / 3 * (a - c) + home
    np.testing.assert_allclose(found.before, [home, home - first, -second - first, lead])
    last = 20 * (1 - chance(lead))
    assert found.points == pytest.approx(
        {"A": 2 / 3 * a + last, "B": 2 / 3 * b, "C": 2 / 3 * c - last}
    )


def test_leads_of_games_to_come():
    found = rated(GAMES)
    games = pd.DataFrame(
        {
            "season": [2002, 2003, 2002],
            "home_team": ["A", "A", "new"],
            "away_team": ["C", "C", "B"],
            "neutral": [False, True, True],
        }
    )
    apart = found.points["A"] - found.points["C"]
    expected = [apart + found.advantage, 2 / 3 * apart, -found.points["B"]]
    np.testing.assert_allclose(found.leads(games), expected)


def test_scores_follow_from_least_squares():
    random = np.random.default_rng(0)
    teams = np.array(list("ABCD"))
    order = np.array([random.permutation(4)[:2] for _ in range(200)])
    strength = np.array([8.0, 3.0, -3.0, -8.0])
    margin = strength[order[:, 0]] - strength[order[:, 1]] + random.normal(3, 9, 200)
    frame = pd.DataFrame(
        {
            "date": pd.Timestamp("2001-09-01") + pd.to_timedelta(np.arange(200), "D"),
            "season": 2001,
            "home_team": teams[order[:, 0]],
            "away_team": teams[order[:, 1]],
            "home_score": 22 + margin / 2,
            "away_score": 22 - margin / 2,
            "neutral": False,
        }
    )
    start, stop = frame["date"].iloc[150], frame["date"].iloc[199]
    made = Elo().forecasts(frame, [Cutoff(2001, 1, start, stop)], Plan()).predictions[0]
    past = rated(frame.iloc[:150])
    slope = np.linalg.lstsq(past.before[:, None], margin[:150], rcond=None)[0][0]
    leads = past.leads(frame.iloc[150:199])
    np.testing.assert_allclose(-np.diff(made.scores, axis=1)[:, 0], slope * leads)
    np.testing.assert_allclose(made.scores.sum(axis=1), 44.0)
    known = np.corrcoef(slope * leads, margin[150:199])[0, 1]
    assert known > 0.5  # it has learned who is strong
