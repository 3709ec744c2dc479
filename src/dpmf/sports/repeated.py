"""Games that are in a table twice: said, and counted as what the table says."""

import warnings

import pandas as pd

from dpmf.data.places import spot
from dpmf.errors import DpmfWarning
from dpmf.shown import shown
from dpmf.sports.columns import SCORES

_GAME = ["date", "home_team", "away_team"]


def tell_repeated(frame: pd.DataFrame, *, source: str) -> None:
    """Warn of games of the same teams in the same place on the same day.

    Two of them may be right, and have two results, where teams meet twice a day; else one
    of them is a slip.

    Args:
        frame: Typed columns of games that were played, in the order of the table.
        source: Where they came from.
    """
    again = frame.duplicated(_GAME, keep=False).to_numpy()
    if not again.any():
        return
    games = frame[again].groupby(_GAME, sort=False)
    (day, home, away), own = next(iter(games))
    first, second = own.index[:2]
    results = [_result(own.loc[row]) for row in (first, second)]
    same = " with the same result" if results[0] == results[1] else ""
    other = f" with the results {results[0]} and {results[1]}" if not same else ""
    told = (
        f"{shown(home)} against {shown(away)} on {day:%Y-%m-%d} is in "
        f"{spot(source, first)} and in {spot(source, second)}{same}{other}"
    )
    rest = f" (and {games.ngroups - 1:,} more)" * (games.ngroups > 1)
    warnings.warn(
        f"{source}: {told}{rest}; each is counted as a game of its own: drop one where that "
        "is wrong.",
        DpmfWarning,
        stacklevel=4,
    )


def _result(game: pd.Series) -> str:
    return "-".join(f"{game[role]:g}" for role in SCORES)
