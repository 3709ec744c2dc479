"""`dpmf demo`: fit the embedded games, forecast those that follow, show both."""

import json as json_format
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table
from scipy.stats import norm

from dpmf import datasets
from dpmf.cli.terminal import plain, terminal
from dpmf.data import Dyads
from dpmf.posterior import Fit, Forecast
from dpmf.sports import Games, score_model
from dpmf.whole import make_folder, write_whole

SEASONS = 3  # the last of which is forecast from its own past and two earlier ones
LAST_WEEKS = 3  # weeks held back
SHOWN = 16  # games in the table
SIZES: dict[str, Any] = {"chains": 4, "warmup": 400, "draws": 1600}


def run(out: Path, *, quiet: bool, json: bool) -> None:
    """Run the demo.

    Args:
        out: Folder to write `forecast.csv` and `fit.nc` to.
        quiet: Print nothing.
        json: Print the result as JSON instead of words.
    """
    console = terminal(quiet=quiet or json)
    make_folder(out)
    played, later = _split(Games(datasets.nfl()))
    known, held_back = played.frame, later.frame
    console.print(
        f"Fitting {len(known):,} NFL games up to week {known['week'].iloc[-1]:.0f} of "
        f"{known['season'].max()}, to forecast the {len(held_back)} that follow."
    )
    began = time.perf_counter()
    fit = score_model().fit(played, **SIZES, seed=1, progress=not (quiet or json))
    seconds = time.perf_counter() - began
    forecast = fit.predict(held_back)
    scores = _scores(fit.data, forecast, held_back)
    _written(out, fit, forecast, held_back)
    console.print(f"{fit.diagnostics.line()} ({seconds:.0f} s)")
    console.print(_table(forecast, held_back))
    console.print(
        f"All {len(held_back)} games: {scores['winner_error_pct']:.0f} % of winners wrong, "
        f"score RMSE {scores['score_rmse']:.1f}, mean log probability "
        f"{scores['mean_log_prob']:.3f} (always the average score: {scores['naive']:.3f}).\n"
        f"Written: {plain(out / 'forecast.csv')}, {plain(out / 'fit.nc')}"
    )
    if json:
        told = {"converged": fit.diagnostics.converged, "seconds": seconds, **scores}
        print(json_format.dumps(told))


def _split(games: Games) -> tuple[Games, Games]:
    season = games.seasons[-1]
    recent = games.between(season - SEASONS + 1, season)
    own = recent.frame["season"] == season
    last = recent.frame.loc[own, "week"].max()
    later = own & (recent.frame["week"] > last - LAST_WEEKS)
    return recent.where(~later), recent.where(later)


def _scores(known: Dyads, forecast: Forecast, games: pd.DataFrame) -> dict[str, int | float]:
    real = games[["home_score", "away_score"]].to_numpy(float)
    margin, guess = real[:, 0] - real[:, 1], forecast.first_exceeds - 0.5
    wrong = np.where(margin * guess == 0, 0.5, margin * guess < 0)
    squared = ((forecast.mean - real) ** 2).sum(axis=1)
    naive = norm.logpdf(real, known.values.mean(), known.values.std()).sum(axis=1)
    return {
        "games": len(real),
        "mean_log_prob": float(forecast.log_prob(real).mean()),
        "winner_error_pct": float(100 * wrong.mean()),
        "score_rmse": float(np.sqrt(squared.mean())),
        "naive": float(naive.mean()),
    }


def _table(forecast: Forecast, games: pd.DataFrame) -> Table:
    shown = Table(title=f"The first {min(SHOWN, len(games))} of {len(games)} games")
    for name in ("date", "home", "away", "forecast", "real", "home wins"):
        shown.add_column(name, justify="left" if name in ("date", "home", "away") else "right")
    chances = forecast.first_exceeds
    for place, game in enumerate(games.head(SHOWN).itertuples()):
        mean, sd = forecast.mean[place], forecast.sd[place]
        shown.add_row(
            f"{game.date:%Y-%m-%d}",
            game.home_team,
            game.away_team,
            f"{mean[0]:.0f}-{mean[1]:.0f} ± {sd.mean():.0f}",
            f"{game.home_score:.0f}-{game.away_score:.0f}",
            f"{100 * chances[place]:.0f} %",
        )
    return shown


def _written(out: Path, fit: Fit, forecast: Forecast, games: pd.DataFrame) -> None:
    frame = forecast.to_frame()
    frame.insert(0, "date", games["date"].dt.date.to_numpy())
    write_whole(
        out / "forecast.csv",
        lambda place: frame.to_csv(place, index=False, float_format="%.4f"),
    )
    fit.save(out / "fit.nc")
