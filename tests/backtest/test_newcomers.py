"""Forecasters meet teams that have never played before."""

import numpy as np
import pytest

import dpmf
from dpmf.backtest.baselines import Melo
from dpmf.backtest.elo import Elo
from dpmf.backtest.pairwise import Kickscore
from dpmf.sports import Games
from league import league


@pytest.mark.parametrize(
    "forecaster", [Melo(), Kickscore(), Elo()], ids=lambda one: type(one).__name__
)
def test_a_team_without_a_past_is_forecast(forecaster):
    games = league()
    last = games["date"].dt.year == 2003
    games.loc[last, ["home", "away"]] = games.loc[last, ["home", "away"]].replace("F", "NEW")
    found = dpmf.backtest(
        Games(games), {"one": forecaster}, seasons=[2003], block="4w",
        baselines=[], progress=False,
    )  # fmt: skip
    assert found.scores.isin(["NEW"]).any(axis=None)
    assert np.isfinite(found.scores["log_loss"]).all()
