"""The forecast of one game in; lines for a terminal out, with a picture of the margin."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from dpmf.backtest.metrics import MARGIN
from dpmf.cli.density import axis_lines, density_lines
from dpmf.cli.terminal import plain
from dpmf.likelihoods import PairedGaussian
from dpmf.posterior import Forecast
from dpmf.sports.forecast_table import mixture

WIDTH = 61  # of the picture, in characters
REACH = 3.0  # standard deviations to each side of its middle


def game_lines(
    forecast: Forecast, game: Any, row: Any, interval: float, console: Console
) -> Iterator[str]:
    """What there is to say of one game.

    Args:
        forecast: Of this game alone.
        game: Its row of a `Games` frame.
        row: Its row of the forecast table.
        interval: Of that table, in percent.
        console: Where it will be printed.
    """
    home, away = plain(row["home"]), plain(row["away"])
    where = "neutral ground, " if game["neutral"] else ""
    yield (
        f"[bold]{away} at {home}[/bold], {row['date']} ({where}week {game['week'] + 1:.0f} of "
        f"season {game['season']})"
    )
    if row.get("tired"):
        yield f"  Rest    {plain(row['tired'])} has a game the day before"
    yield (
        f"  Score   {home} {row['home_mean']:.1f} ± {row['home_sd']:.1f}, "
        f"{away} {row['away_mean']:.1f} ± {row['away_sd']:.1f}"
    )
    wins, drawn = row.get("p_win", row["p_home_win"]), row.get("p_draw")
    between = "" if drawn is None else f"draw {_percent(drawn)}, "
    loses = 1 - wins if drawn is None else row["p_loss"]
    yield f"  Winner  {home} {_percent(wins)}, {between}{away} {_percent(loses)}"
    low, high = (_ahead(home, away, row[f"spread_{end}"]) for end in ("low", "high"))
    yield (
        f"  Spread  {_ahead(home, away, row['spread'])}; {interval:g} %: from {low} to {high}"
    )
    yield (
        f"  Total   {row['total']:.1f}; {interval:g} %: from {row['total_low']:.1f} to "
        f"{row['total_high']:.1f}"
    )
    if pd.notna(row.get("p_home_cover")):
        line = f"{home} {game['spread_home']:+g}"
        yield f"  Line    {line} covers in {_percent(row['p_home_cover'])}"
    if pd.notna(row.get("p_over")):
        yield f"  Over    {game['total']:g} in {_percent(row['p_over'])}"
    if isinstance(forecast.likelihood, PairedGaussian):
        yield from _picture(forecast, home, away, console)


def _percent(probability: float) -> str:
    return f"{100 * probability:.0f} %"


def _ahead(home: str, away: str, spread: float) -> str:
    return f"{home if spread < 0 else away} by {abs(spread):.1f}"


def _picture(forecast: Forecast, home: str, away: str, console: Console) -> Iterator[str]:
    """The density of the margin; to the right of 0 the home team wins."""
    pairs = mixture(forecast)
    mean = float((forecast.mean @ MARGIN)[0])
    sd = float(np.sqrt(MARGIN @ forecast.covariance[0] @ MARGIN))
    low, high = mean - REACH * sd, mean + REACH * sd
    margins = np.linspace(low, high, WIDTH)
    density = np.array([pairs.density(MARGIN, np.array([margin]))[0] for margin in margins])
    blocks = (console.encoding or "").lower().startswith("utf")
    split = int((margins < 0).sum())
    yield ""
    for line in density_lines(density, blocks=blocks):
        yield f"  [yellow]{line[:split]}[/yellow][cyan]{line[split:]}[/cyan]"
    step = max(5, 5 * round(sd / 5))
    values = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    for line in axis_lines(low, high, WIDTH, {v: f"{v:+.0f}" if v else "0" for v in values}):
        yield f"  {line}"
    yield f"  margin: [yellow]{away}[/yellow] wins left of 0, [cyan]{home}[/cyan] right of it"
