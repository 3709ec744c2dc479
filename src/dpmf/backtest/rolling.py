"""Games and forecasters in; every forecast made as if its day were today, scored, out."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from dpmf.backtest.baselines import Elo538, Home, Line, Melo
from dpmf.backtest.cutoffs import Cutoff, cutoffs
from dpmf.backtest.forecaster import SCORES, Forecaster, Forecasts, Plan
from dpmf.backtest.metrics import scored
from dpmf.backtest.pairwise import Kickscore
from dpmf.backtest.summary import summary
from dpmf.errors import ConfigError
from dpmf.inference.progress import reporting

BASELINES: dict[str, type] = {
    "line": Line,
    "elo538": Elo538,
    "melo": Melo,
    "kickscore": Kickscore,
    "home": Home,
}


class Result(NamedTuple):
    """What came of a backtest."""

    scores: pd.DataFrame  # one row per event and forecaster
    summary: pd.DataFrame  # by season, and "All"
    fits: pd.DataFrame  # diagnostics of every fit


def backtest(
    games: Any,
    forecasters: Mapping[str, Forecaster],
    *,
    block: str = "4w",
    window: int | None = 3,
    seasons: Iterable[int] | None = None,
    first_season: int | None = None,
    blocks: int | None = None,
    baselines: Sequence[str] | None = None,
    progress: bool = True,
    **plan: Any,
) -> Result:
    """Forecast every block of games from what was known before it, and score the forecasts.

    Args:
        games: A `dpmf.Games`.
        forecasters: By name; a score model is one.
        block: Length of a block within a season, such as "4w" or "1d"; the last block of a
            season takes the odd days.
        window: Seasons to learn from, the current one included; None is all.
        seasons: Those to forecast; all that have a season before them if left out.
        first_season: Where history begins.
        blocks: How many blocks of each season, from its first; all if left out.
        baselines: Some of "line", "elo538", "melo", "kickscore", "home"; those that need
            neither a package nor a missing column if left out.
        progress: A bar on a terminal.
        **plan: `engine`, `chains`, `warmup`, `draws`, `thin` and `seed`.

    Returns:
        Tables of scores, of means by season, and of diagnostics.

    Raises:
        ConfigError: The call has no meaning.
    """
    settled = _plan(window, plan)
    frame = games.frame
    if first_season is not None:
        frame = frame[frame["season"] >= first_season].reset_index(drop=True)
    known = sorted(frame["season"].unique().tolist())
    wanted = known[1:] if seasons is None else list(seasons)
    if not wanted:
        raise ConfigError("seasons: there is none with a season before it to learn from.")
    days = cutoffs(frame, wanted, block, blocks)
    _require_history(frame, days, window)
    chosen = _all_forecasters(frame, forecasters, baselines)
    tables, fits = [], []
    with reporting(progress) as report:
        for name, forecaster in chosen.items():

            def told(stage: str, done: int, total: int, name: str = name) -> None:
                report(f"{name}: {stage}", done, total)

            made = forecaster.forecasts(frame, days, dataclasses.replace(settled, report=told))
            tables.append(_scores(name, forecaster, frame, days, made))
            if made.fits is not None:
                fits.append(made.fits.assign(forecaster=name, rank=_rank(forecaster)))
    scores = pd.concat(tables, ignore_index=True)
    against = "line" if "line" in chosen else "home" if "home" in chosen else None
    kept = pd.concat(fits, ignore_index=True) if fits else pd.DataFrame()
    return Result(scores, summary(scores, against), kept)


def _plan(window: int | None, options: dict[str, Any]) -> Plan:
    allowed = {field.name for field in dataclasses.fields(Plan)} - {"report", "window"}
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise ConfigError(
            f"there is no option {unknown[0]!r}, expected some of {', '.join(sorted(allowed))}."
        )
    if window is not None and window < 1:
        raise ConfigError(f"window={window!r}, expected a number of seasons, at least 1.")
    plan = Plan(window=window, **options)
    if plan.engine not in ("hmc", "slice"):
        raise ConfigError(f"engine={plan.engine!r}, expected 'hmc' or 'slice'.")
    return plan


def _require_history(frame: pd.DataFrame, days: list[Cutoff], window: int | None) -> None:
    for day in days:
        if not day.past(frame, window).any():
            raise ConfigError(
                f"season {day.season}: no game was played before {day.start:%Y-%m-%d} within "
                f"the window of {window} seasons. Forecast a later season, or widen the window."
            )


def _all_forecasters(
    frame: pd.DataFrame, given: Mapping[str, Forecaster], baselines: Sequence[str] | None
) -> dict[str, Forecaster]:
    if baselines is None:
        lines = {"spread_home", "total"} <= set(frame.columns)
        baselines = ["line"] * lines + ["elo538"] * ("elo_home_prob" in frame) + ["home"]
    unknown = [name for name in baselines if name not in BASELINES]
    if unknown:
        expected = ", ".join(BASELINES)
        raise ConfigError(
            f"baselines: there is no {unknown[0]!r}, expected some of {expected}."
        )
    return {**given, **{name: BASELINES[name]() for name in baselines}}


def _scores(
    name: str,
    forecaster: Forecaster,
    frame: pd.DataFrame,
    days: list[Cutoff],
    made: Forecasts,
) -> pd.DataFrame:
    tables = []
    for day, prediction in zip(days, made.predictions, strict=True):
        upcoming = day.upcoming(frame)
        games = frame[upcoming]
        head = pd.DataFrame(
            {
                "forecaster": name,
                "rank": _rank(forecaster),
                "season": day.season,
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


def _rank(forecaster: Forecaster) -> float:
    return float(getattr(forecaster, "rank", float("nan")))
