"""Dates of games in; seasons, and the time within a season, out."""

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import duration

OFF_SEASON = 45  # days without a game that end a season; a longer break needs a season column


def seasons(dates: pd.Series) -> pd.Series:
    """The year in which each game's season began, found from the gaps between dates."""
    days = np.sort(dates.unique())
    starts = np.concatenate([[True], np.diff(days) > np.timedelta64(OFF_SEASON, "D")])
    labels: list[int] = []
    for year in pd.DatetimeIndex(days[starts]).year:
        labels.append(max(int(year), labels[-1] + 1) if labels else int(year))
    by_day = dict(zip(days, np.array(labels)[np.cumsum(starts) - 1], strict=True))
    return dates.map(by_day).astype(int)


def continued(known: pd.DataFrame, dates: pd.Series) -> np.ndarray:
    """Seasons of later games: those of `known` go on until a gap ends them."""
    last = known.loc[known["date"].idxmax()]
    found = seasons(pd.concat([known["date"], dates], ignore_index=True))
    shift = last["season"] - found.iloc[int(known["date"].to_numpy().argmax())]
    return found.to_numpy()[len(known) :] + int(shift)


def weeks(dates: pd.Series, season: pd.Series, resolution: str = "1w") -> pd.Series:
    """Time since the season's first game, in weeks, rounded down.

    Args:
        dates: Of all games of each season, so that the first one is among them.
        season: Of each game.
        resolution: What time is rounded to, such as "1w" or "1d".
    """
    step = duration(resolution, "resolution")
    first = dates.groupby(season).transform("min")
    return ((dates - first).dt.days // step * step / 7).astype(float)
