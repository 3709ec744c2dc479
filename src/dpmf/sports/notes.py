"""What a fit of games keeps beside its draws: the calendar, and what the games were."""

from typing import Any, NamedTuple

from dpmf.errors import DataError
from dpmf.posterior import Fit
from dpmf.sports.calendar import Calendar
from dpmf.sports.games import Games

KEY = "games"  # among the notes of a fit


class GamesNotes(NamedTuple):
    """What is known of the games that a fit learned from."""

    model: str  # as the paper calls it
    calendar: Calendar
    playoffs: bool  # whether playoff games were among them


def notes(model: str, games: Games) -> dict[str, Any]:
    """The notes of a fit.

    Args:
        model: Name of the model.
        games: What it learned from.
    """
    own = {
        "model": model,
        "calendar": games.calendar.to_dict(),
        "playoffs": bool(games.frame["is_playoff"].any()),
    }
    return {KEY: own}


def games_notes(fit: Fit, *, source: str = "fit") -> GamesNotes:
    """What a fit says about its games.

    Args:
        fit: Made by `ScoreModel.fit` or `dpmf fit`.
        source: What messages call it.

    Raises:
        DataError: It was not made from games, or its notes are damaged.
    """
    if KEY not in fit.notes:
        raise DataError(
            f"{source}: this fit was not made from a table of games, so nobody knows how its "
            "time was counted; make it with `dpmf fit` or `ScoreModel.fit`."
        )
    own = fit.notes[KEY]
    try:
        calendar = Calendar.from_dict(own["calendar"])
        return GamesNotes(str(own["model"]), calendar, bool(own["playoffs"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{source}: the notes about its games are damaged ({error!r})."
        ) from error
