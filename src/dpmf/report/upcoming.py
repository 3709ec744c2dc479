"""Games to come in; the rows of their table out."""

import itertools
from typing import Any

import pandas as pd

from dpmf.posterior import Fit
from dpmf.report.features import knows
from dpmf.report.moments import Moment
from dpmf.sports import Games
from dpmf.sports.forecast_table import forecast_table, tell_turned_lines
from dpmf.sports.unknown_games import told_apart

SHOWN = 16  # games that are not folded away


def rows(
    fit: Fit, games: Games, moments: list[Moment], *, seed: int, source: str
) -> list[dict[str, Any]]:
    """One per game, forecast from all draws of the fit, as `dpmf predict` does.

    Args:
        fit: Of a score model.
        games: To come.
        moments: Those that the explorer knows.
        seed: Of what the training games say nothing about.
        source: Where the games came from, for messages.
    """
    told_apart(fit, games, source=source)
    forecast = fit.predict(games.frame, seed=seed, source=source)
    table = forecast_table(forecast, games.frame, rested=knows(fit, "rest"))
    tell_turned_lines(table, games.frame, source=source)
    places = {one.place: number for number, one in enumerate(moments)}
    teams = {str(team): number for number, team in enumerate(fit.data.row_names)}
    found = []
    pairs = zip(table.to_dict("records"), games.frame.to_dict("records"), strict=True)
    for row, game in pairs:
        row |= {
            "day": f"{game['date']:%A}, {game['date'].day} {game['date']:%B}",
            "neutral": bool(game["neutral"]),
            "moment": places.get((int(game["season"]), float(game["week"]))),
            "home_place": teams.get(row["home"]),
            "away_place": teams.get(row["away"]),
            "line": _line(game, "spread_home"),
            "over_under": _line(game, "total"),
        }
        known = None not in (row["moment"], row["home_place"], row["away_place"])
        row["tired"] = row.get("tired", "")
        # The explorer knows the teams as they are when both are rested alike.
        row["playable"] = known and not row["tired"]
        found.append(row)
    return found


def by_day(games: list[dict[str, Any]]) -> dict[str, list[list[dict[str, Any]]]]:
    """The games of each day; whole days until some are shown, and the days after them."""
    days = [list(own) for _, own in itertools.groupby(games, lambda game: game["date"])]
    before = [0, *itertools.accumulate(len(own) for own in days)]
    near = sum(count < SHOWN for count in before[:-1])
    return {"next_days": days[:near], "later_days": days[near:]}


def _line(game: dict[str, Any], name: str) -> float | None:
    value = game.get(name)
    return None if value is None or pd.isna(value) else float(value)
