"""Dates of games in; cutoffs out: the days on which forecasts are made."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpmf.errors import ConfigError

DAYS = {"d": 1, "w": 7}


class Cutoff(NamedTuple):
    """A block of games, forecast from everything that was played before its first day."""

    season: int
    block: int  # number within the season, from 1
    start: pd.Timestamp  # first day of the block
    stop: pd.Timestamp  # the day after its last

    def past(self, frame: pd.DataFrame, window: int | None) -> np.ndarray:
        """Which games are known: those of this season and of `window` - 1 before it."""
        known = (frame["date"] < self.start).to_numpy()
        if window is None:
            return known
        return known & (frame["season"] > self.season - window).to_numpy()

    def upcoming(self, frame: pd.DataFrame) -> np.ndarray:
        """Which games are to be forecast."""
        own = frame["season"] == self.season
        return (own & (frame["date"] >= self.start) & (frame["date"] < self.stop)).to_numpy()


def cutoffs(
    frame: pd.DataFrame,
    seasons: Sequence[int],
    block: str = "4w",
    blocks: int | Mapping[int, int] | None = None,
) -> list[Cutoff]:
    """The blocks of each season that hold games; the last one takes the odd days.

    Args:
        frame: Games with the columns date and season.
        seasons: Those to forecast.
        block: Length of a block, such as "4w" or "1d".
        blocks: How many blocks of each season, from its first, or of some seasons by year;
            all if left out.

    Raises:
        ConfigError: A season has no games, or the length is none.
    """
    length = duration(block, "block")
    found = []
    for season in seasons:
        dates = frame.loc[frame["season"] == season, "date"]
        if dates.empty:
            have = f"{frame['season'].min()} to {frame['season'].max()}"
            raise ConfigError(f"seasons: there are no games of {season} (the file has {have}).")
        most = blocks.get(season) if isinstance(blocks, Mapping) else blocks
        found += _season(int(season), dates, length)[:most]
    return found


def _season(season: int, dates: pd.Series, length: int) -> list[Cutoff]:
    first, last = dates.min(), dates.max()
    days = (last - first).days + 1
    number = max(1, days // length)
    if 2 * (days - number * length) > length:  # more than odd days
        number += 1
    found = []
    for place in range(number):
        start = first + pd.Timedelta(days=place * length)
        end = last if place == number - 1 else start + pd.Timedelta(days=length - 1)
        if dates.between(start, end).any():
            found.append(Cutoff(season, place + 1, start, end + pd.Timedelta(days=1)))
    return found


def duration(text: str, name: str) -> int:
    """Days in a duration such as "4w" or "1d".

    Raises:
        ConfigError: It is no such duration.
    """
    found = re.fullmatch(r"([1-9]\d{0,3})([dw])", str(text))
    if not found:
        raise ConfigError(
            f"{name}={text!r}, expected a number of days or weeks, such as '1d' or '4w'."
        )
    return int(found[1]) * DAYS[found[2]]
