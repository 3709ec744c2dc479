"""Games to be forecast in; a word where they are not what a forecast is made of out."""

import warnings

from dpmf.errors import DpmfWarning
from dpmf.posterior import Fit
from dpmf.sports.games import Games
from dpmf.sports.notes import games_notes
from dpmf.sports.rest import days_without, tell_unknown
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
    calendar = games_notes(fit).calendar
    if "rest" in fit.spec.columns:
        _tell_unknown_rest(games, source)
    last = max(one.last for one in calendar.seasons)
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
    own, dates = games.calendar, games.frame["date"]
    others = days_without(own.every_day, dates)
    season = games.frame.loc[dates.idxmin(), "season"]
    (opening,) = (one.first for one in own.seasons if one.number == season)
    tell_unknown(games.frame, others, opening, source=source)
