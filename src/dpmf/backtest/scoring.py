"""What a forecaster said in; tables of how good it was and how sure it can be out."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import SCORES, Forecaster, Forecasts
from dpmf.backtest.metrics import scored


class Tables(NamedTuple):
    """What is kept of a forecaster, or of a part of one."""

    scores: pd.DataFrame  # one row per event
    fits: pd.DataFrame  # diagnostics, one row per fit; empty where nothing was fitted


def tables(
    name: str,
    forecaster: Forecaster,
    frame: pd.DataFrame,
    days: Sequence[Cutoff],
    make: Callable[[], Forecasts],
) -> Tables:
    """Scores and diagnostics of forecasts.

    Args:
        name: Of the forecaster.
        forecaster: Whose forecasts they are.
        frame: All games.
        days: When the forecasts are made.
        make: Makes them.
    """
    began = time.monotonic()
    made = make()
    fits = pd.DataFrame()
    if made.fits is not None:
        seconds = time.monotonic() - began  # of all cutoffs that were not on disk
        fits = made.fits.assign(forecaster=name, rank=rank_of(forecaster), seconds=seconds)
    return Tables(_scores(name, forecaster, frame, days, made), fits)


def joined(parts: Sequence[Tables]) -> Tables:
    """The tables of a forecaster from those of its parts, in their order."""
    scores = pd.concat([part.scores for part in parts], ignore_index=True)
    fits = [part.fits for part in parts if len(part.fits)]
    if not fits:
        return Tables(scores, pd.DataFrame())
    seconds = sum(one["seconds"].iloc[0] for one in fits)
    return Tables(scores, pd.concat(fits, ignore_index=True).assign(seconds=seconds))


def rank_of(forecaster: Forecaster) -> float:
    """Number of its features; NaN where it has none."""
    return float(getattr(forecaster, "rank", float("nan")))


def _scores(
    name: str,
    forecaster: Forecaster,
    frame: pd.DataFrame,
    days: Sequence[Cutoff],
    made: Forecasts,
) -> pd.DataFrame:
    tables = []
    for day, prediction in zip(days, made.predictions, strict=True):
        upcoming = day.upcoming(frame)
        games = frame[upcoming]
        head = pd.DataFrame(
            {
                "forecaster": name,
                "rank": rank_of(forecaster),
                "season": day.season,
                "seen": made.seen is not None and day.season <= made.seen,
                "block": day.block,
                "cutoff": day.start,
                "event": games.index,
                "date": games["date"].to_numpy(),
                "home": games["home_team"].to_numpy(),
                "away": games["away_team"].to_numpy(),
                "home_score": games["home_score"].to_numpy(),
                "away_score": games["away_score"].to_numpy(),
            }
        )
        metrics = scored(prediction, games[SCORES].to_numpy(float))
        tables.append(pd.concat([head, metrics], axis=1))
    return pd.concat(tables, ignore_index=True)
