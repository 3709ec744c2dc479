"""`dpmf demo`: fit the embedded games, measure the forecasts, and write a page to look at."""

import json as json_format
import time
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table

from dpmf import datasets
from dpmf.backtest import Result, backtest
from dpmf.cli.tables import season_table
from dpmf.cli.terminal import plain, terminal
from dpmf.posterior import Fit, Forecast
from dpmf.report import Results, write_page
from dpmf.sports import Games, score_model
from dpmf.whole import make_folder, write_whole

SEASONS = 3  # the last of which is forecast from its own past and two earlier ones
LAST_WEEKS = 3  # weeks held back
SHOWN = 8  # games in the table
# Length scales mix slowly: many steps, of which every third is kept.
SIZES: dict[str, Any] = {"chains": 4, "warmup": 400, "draws": 1000, "thin": 3}
# A block of the backtest is forecast from one fit: fewer fits than in a serious one.
MEASURED: dict[str, Any] = {
    "window": 3,
    "block": "8w",
    "chains": 4,
    "warmup": 200,
    "draws": 200,
}
CONVERGED = 1.05  # R-hat of the predicted means


def run(out: Path, *, quiet: bool, json: bool) -> None:
    """Run the demo.

    Args:
        out: Folder to write `report.html`, `forecast.csv` and `fit.nc` to.
        quiet: Print nothing.
        json: Print the result as JSON instead of words.
    """
    console, began = terminal(quiet=quiet or json, highlight=False), time.perf_counter()
    make_folder(out)
    games, watched = Games(datasets.nfl()), not (quiet or json)
    played, later = _split(games)
    known, season = played.frame, games.seasons[-1]
    console.print(
        f"Fitting {len(known):,} NFL games up to week {known['week'].iloc[-1] + 1:.0f} of "
        f"{season}, to forecast the {len(later)} that follow."
    )
    fit = score_model().fit(played, **SIZES, seed=1, progress=watched)
    forecast = fit.predict(later.frame)
    _written(out, fit, forecast, later.frame)
    console.print(fit.diagnostics.line(), soft_wrap=True)
    console.print(_table(forecast, later.frame))
    console.print(f"Forecasting all of {season} from what was known at the time.")
    found = _measured(games, season, watched)
    console.print(season_table(found.summary))
    worst = float(found.fits["rhat_max"].max())
    doubt = "" if worst <= CONVERGED else ", which is too much to trust the last digits"
    console.print(f"{len(found.fits)} fits, R-hat at most {worst:.3f}{doubt}.")
    title = f"NFL {season}, after week {known['week'].iloc[-1] + 1:.0f}"
    write_page(out / "report.html", fit, upcoming=later, results=Results(*found), title=title)
    seconds = time.perf_counter() - began
    console.print(
        f"Written in {seconds:.0f} s: {plain(out / 'forecast.csv')} and "
        f"{plain(out / 'fit.nc')}.",
        soft_wrap=True,
    )
    shown = plain(out / "report.html")
    console.print(f"The page to look at: [bold]{shown}[/bold]", soft_wrap=True)
    if json:
        print(json_format.dumps(_told(fit, found, later, out, seconds)))


def _split(games: Games) -> tuple[Games, Games]:
    season = games.seasons[-1]
    recent = games.between(season - SEASONS + 1, season)
    own = recent.frame["season"] == season
    last = recent.frame.loc[own, "week"].max()
    later = own & (recent.frame["week"] > last - LAST_WEEKS)
    return recent.where(~later), recent.where(later)


def _measured(games: Games, season: int, progress: bool) -> Result:
    """The last season against a model without side information, Elo, and a constant."""
    return backtest(
        games,
        [score_model(), score_model(side=())],
        seasons=[season],
        baselines=["elo", "home"],
        progress=progress,
        **MEASURED,
    )


def _told(fit: Fit, found: Result, later: Games, out: Path, seconds: float) -> dict[str, Any]:
    columns = ["forecaster", "games", "mean_log_prob", "winner_error_pct", "score_rmse"]
    rows = found.summary.loc[found.summary["season"] != "All", columns]
    return {
        "converged": fit.diagnostics.converged,
        "seconds": seconds,
        "games": len(later),
        "backtest": json_format.loads(rows.to_json(orient="records")),
        "backtest_max_rhat": float(found.fits["rhat_max"].max()),
        "report": str(out / "report.html"),
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
