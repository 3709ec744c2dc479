"""Small fits of games, and pages of them."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpmf import Games
from dpmf.posterior import Fit
from dpmf.report import Results, write_page
from dpmf.sports import score_model
from league import league

SIZES = {"chains": 2, "warmup": 6, "draws": 15, "engine": "slice", "progress": False}
# What a careless page would stumble over.
NAMES = {
    "A": "</script><script>window.broken = 1</script>",
    "B": 'O\'Brien "FC" & <b>Sons</b>',
    "C": "<!--<script>",
    "D": "São Paulo \u2028 ${broken}",
    "E": "{{ 7 * 7 }}",
    "F": "Plain",
}


class Made(NamedTuple):
    fit: Fit
    games: Games  # all of them; the fit learned from those before the last weeks
    upcoming: Games
    page: Path


def odd_league() -> pd.DataFrame:
    return league().replace({"home": NAMES, "away": NAMES})


def made_of(frame: pd.DataFrame, page: Path, **model: Any) -> Made:
    games = Games(frame)
    fit = score_model(**model).fit(games.before("2003-10-05"), **SIZES)
    later = frame[frame["date"] >= "2003-10-05"].drop(columns=["home_score", "away_score"])
    later.iloc[2, later.columns.get_loc("date")] += pd.Timedelta(days=1)  # within its week
    upcoming = Games(later, upcoming=True, after=games.before("2003-10-05"))
    write_page(page, fit, upcoming=upcoming, results=results())
    return Made(fit, games, upcoming, page)


def results() -> Results:
    """Of a backtest that nobody ran: chances that mean what they say."""
    random = np.random.default_rng(0)
    count = 300
    chance = random.uniform(0.1, 0.9, count)
    won = random.uniform(size=count) < chance
    scores = pd.DataFrame(
        {
            "forecaster": np.repeat(["DPMF(t)", "line", "</td><script>"], 100),
            "rank": np.repeat([2.0, np.nan, np.nan], 100),
            "home_score": np.where(won, 20.0, 10.0),
            "away_score": 15.0,
            "p_home": chance,
            "pit_margin": random.uniform(size=count),
            "pit_total": random.uniform(size=count),
        }
    )
    rows = [
        (name, rank, season, 50.0, log, 40.0 - 10 * (name == "line"), 14.0)
        for name, rank, log in (
            ("DPMF(t)", 2.0, -7.5),
            ("line", np.nan, -7.4),
            ("</td><script>", np.nan, -7.6),
        )
        for season in ("2002", "2003", "All")
    ]
    names = [
        "forecaster",
        "rank",
        "season",
        "games",
        "mean_log_prob",
        "winner_error_pct",
        "score_rmse",
    ]
    summary = pd.DataFrame(rows, columns=names).assign(
        seen=False, mean_log_prob_published=np.nan
    )
    summary.loc[summary["forecaster"] == "DPMF(t)", "mean_log_prob_published"] = -7.575
    fits = pd.DataFrame({"rhat_max": [1.01, 1.2], "ess_median": [100.0, 300.0]})
    return Results(scores, summary, fits)
