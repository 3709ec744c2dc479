"""Days of games in; which teams played the day before out."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from dpmf.errors import DpmfWarning

TEAMS = ["home_team", "away_team"]
EVEN = 0.0  # rest of both teams, if both played the day before or neither
FRESHER = 0.5  # rest of a team that did not play the day before, against one that did
DAY = pd.Timedelta(days=1)

Days = Mapping[str, frozenset[pd.Timestamp]]  # on which each team has a game


def days_of(frame: pd.DataFrame) -> Days:
    """Those of some games, which have date, home_team and away_team."""
    each = [frame[[name, "date"]].set_axis(["team", "date"], axis=1) for name in TEAMS]
    found = pd.concat(each, ignore_index=True).groupby("team")["date"].agg(frozenset)
    return dict(found.items())


def joined(one: Days, other: Days) -> Days:
    """Those of either."""
    both = {team: one[team] | other[team] for team in one.keys() & other.keys()}
    return {**one, **other, **both}


def days_from(days: Days, first: pd.Timestamp) -> Days:
    """Those from a day on."""
    return _those(days, lambda day: day >= first)


def days_before(days: Days, end: pd.Timestamp) -> Days:
    """Those before a day."""
    return _those(days, lambda day: day < end)


def days_without(days: Days, others: Iterable[pd.Timestamp]) -> Days:
    """All but some."""
    left_out = set(others)
    return _those(days, lambda day: day not in left_out)


def _those(days: Days, wanted: Callable[[pd.Timestamp], bool]) -> Days:
    kept = {team: frozenset(filter(wanted, own)) for team, own in days.items()}
    return {team: own for team, own in kept.items() if own}


def rest(frame: pd.DataFrame, days: Days) -> np.ndarray:
    """The edge in rest of each game's home team: 1/2, 0 or -1/2; the visitors' is its negative.

    A team is tired that played the day before. How a game ended is not looked at.

    Args:
        frame: Games with date, home_team and away_team.
        days: On which every team has a game.
    """
    home, away = (
        np.array(
            [
                day - DAY in days.get(team, ())
                for team, day in zip(frame[name], frame["date"], strict=True)
            ],
            dtype=float,
        )
        for name in TEAMS
    )
    return FRESHER * (away - home)


def tired(frame: pd.DataFrame) -> np.ndarray:
    """The team of each game that has one the day before, where the other has not; else ""."""
    edge = frame["rest"]
    return np.select(
        [edge < EVEN, edge > EVEN], [frame[name].astype(str) for name in TEAMS], default=""
    )


def tell_even(frame: pd.DataFrame, inputs: Sequence[str]) -> None:
    """Warn of games in which rest, if it is asked for, says nothing."""
    if "rest" in inputs and not frame["rest"].any():
        warnings.warn(
            "games: no team played the day before a game while its opponent did not, so rest "
            "says nothing here; leave it out of the side information.",
            DpmfWarning,
            stacklevel=3,
        )
