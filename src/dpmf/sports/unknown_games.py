"""Games to be forecast in; a word where they are not what a forecast is made of out."""

import warnings

from dpmf.errors import DpmfWarning
from dpmf.posterior import Fit
from dpmf.sports.games import Games
from dpmf.sports.notes import games_notes
from dpmf.sports.rest import DAY, days_without
from dpmf.sports.teams import tell_unseen, unseen


def told_apart(fit: Fit, games: Games, *, source: str) -> list[str]:
    """Teams that were never seen, with a warning; and one where games are no longer to come.

    Args:
        fit: Of a score model.
        games: To be forecast.
        source: Where they came from.
    """
    known = [str(name) for name in fit.data.row_names]
    named = games.frame[["home_team", "away_team"]].to_numpy().reshape(-1)
    strangers = unseen(named, known)
    tell_unseen(strangers, known, source=source)
    if "rest" in fit.spec.columns:
        _tell_unknown_rest(games, source)
    last = max(one.last for one in games_notes(fit).calendar.seasons)
    past = int((games.frame["date"] <= last).sum())
    if past:
        warnings.warn(
            f"{source}: {past} of {len(games)} games are not after {last:%Y-%m-%d}, the last "
            "day that was learned from: what is said of them is no forecast.",
            DpmfWarning,
            stacklevel=3,
        )
    return strangers


def _tell_unknown_rest(games: Games, source: str) -> None:
    """Warn where nobody knows who plays the day before the first game.

    A list of games is taken to be whole from its first day to its last: days without games are
    free there, and so are those before a season.
    """
    own, dates = games.calendar, games.frame["date"]
    first = dates.min()
    others = days_without(own.every_day, dates)
    last = max((max(days) for days in others.values()), default=first - DAY)
    if last < first - DAY and first not in {one.first for one in own.seasons}:
        warnings.warn(
            f"{source}: the games of {first:%Y-%m-%d} are forecast with both teams rested "
            "alike, since no game of the day before is known; if there are any, add them, "
            "without scores.",
            DpmfWarning,
            stacklevel=4,
        )
