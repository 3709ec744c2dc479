"""`dpmf predict`: forecasts of the games in a file, or of one game."""

import json as json_format
from pathlib import Path
from typing import Any

import pandas as pd

from dpmf.cli.game import game_lines
from dpmf.cli.tables import forecast_rows
from dpmf.cli.terminal import plain, terminal
from dpmf.data.file_bytes import source_of
from dpmf.errors import ConfigError
from dpmf.posterior import load
from dpmf.sports import Games, read_games
from dpmf.sports.calendar import Calendar
from dpmf.sports.forecast_table import forecast_table, tell_turned_lines
from dpmf.sports.notes import games_notes
from dpmf.sports.teams import as_known
from dpmf.sports.unknown_games import told_apart
from dpmf.whole import require_writable, write_whole

WIDE = 110  # characters of a terminal that intervals are shown in
ONE = "this game"  # what messages call the game of the options


def run(
    path: Path,
    upcoming: str | None,
    out: Path | None,
    *,
    interval: float,
    game: dict[str, Any],
    reading: dict[str, Any],
    seed: int,
    quiet: bool,
    json: bool,
) -> None:
    """Run the command.

    Args:
        path: File of the fit.
        upcoming: File of games, or "-"; None where one game is asked for.
        out: CSV file for the forecasts.
        interval: Probability of intervals, in percent.
        game: The one game: home, away, date, neutral, spread_home and total.
        reading: Of `Games`.
        seed: Of what the training games say nothing about.
        quiet: Print nothing.
        json: Print the forecasts as JSON instead of a table.
    """
    console = terminal(quiet=quiet or json, highlight=False)
    given = {name: value for name, value in game.items() if value is not None}
    _require_one_way(upcoming, given)
    if out is not None:
        require_writable(out)
    fit = load(path)
    known = [str(name) for name in fit.data.row_names]
    for side in {"home", "away"} & set(given):  # typed by hand, unlike those of a file
        given[side] = as_known(given[side], known)
    games = _games(upcoming, given, games_notes(fit, source=str(path)).calendar, reading)
    source = ONE if upcoming is None else source_of(upcoming)
    strangers = told_apart(fit, games, source=source)
    forecast = fit.predict(games.frame, seed=seed, source=source)
    rested = "rest" in fit.spec.columns
    table = forecast_table(forecast, games.frame, interval=interval, rested=rested)
    tell_turned_lines(table, games.frame, source=source)
    if out is not None:
        write_whole(out, lambda place: table.to_csv(place, index=False, float_format="%.4f"))
    if upcoming is None:
        for line in game_lines(forecast, games.frame.iloc[0], table.iloc[0], interval, console):
            console.print(line, soft_wrap=True)
    else:
        console.print(forecast_rows(table, games.frame, interval, console.width >= WIDE))
    if out is not None:
        console.print(f"Written: {plain(str(out))}", soft_wrap=True)
    if json:
        print(_as_json(table, interval, strangers))


def _require_one_way(upcoming: str | None, game: dict[str, Any]) -> None:
    if upcoming is not None and game:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in game)
        raise ConfigError(f"found the file {upcoming} and {options}, expected one of both.")
    missing = [name for name in ("home", "away", "date") if name not in game]
    if upcoming is None and missing:
        raise ConfigError(
            f"--{missing[0]} is missing: expected a file of games, or --home, --away and "
            "--date."
        )


def _games(
    upcoming: str | None, game: dict[str, Any], known: Calendar, reading: dict[str, Any]
) -> Games:
    # Whoever asks for a playoff game wants its forecast.
    options = {**reading, "upcoming": True, "after": known, "playoffs": True}
    if upcoming is None:
        columns = {"columns": None}  # the options have their standard names
        return Games(pd.DataFrame([game]), **options | columns, source=ONE)
    return read_games(upcoming, **options)


def _as_json(table: pd.DataFrame, interval: float, strangers: list[str]) -> str:
    rows = json_format.loads(table.to_json(orient="records", double_precision=10))
    return json_format.dumps({"interval": interval, "never_seen": strangers, "games": rows})
