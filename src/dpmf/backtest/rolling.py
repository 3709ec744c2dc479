"""Games and forecasters in; every forecast made as if its day were today, scored, out."""

import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpmf.backtest.baselines import Elo538, Home, Line, Melo
from dpmf.backtest.cutoffs import Cutoff, cutoffs
from dpmf.backtest.elo import Elo
from dpmf.backtest.forecaster import SCORES, Forecaster, Forecasts, Plan, plan_of
from dpmf.backtest.metrics import scored
from dpmf.backtest.pairwise import Kickscore
from dpmf.backtest.records import Records, task, write_table
from dpmf.backtest.summary import summary
from dpmf.errors import ConfigError, Interrupted
from dpmf.inference.progress import Report, reporting

BASELINES: dict[str, type] = {
    "line": Line,
    "elo": Elo,
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
    forecasters: Mapping[str, Forecaster] | Sequence[Any],
    *,
    block: str = "4w",
    window: int | None = 3,
    seasons: Iterable[int] | None = None,
    first_season: int | None = None,
    blocks: int | Mapping[int, int] | None = None,
    baselines: Sequence[str] | None = None,
    folder: Any = None,
    progress: bool | Report = True,
    **plan: Any,
) -> Result:
    """Forecast every block of games from what was known before it, and score the forecasts.

    Args:
        games: A `dpmf.Games`.
        forecasters: By name; a score model is one. Score models know their own names, so
            that a list of them will do, also of several ranks.
        block: Length of a block within a season, such as "4w" or "1d"; the last block of a
            season takes the odd days.
        window: Seasons to learn from, the current one included; None is all.
        seasons: Those to forecast; all that have a season before them if left out.
        first_season: Where history begins.
        blocks: How many blocks of each season, from its first, or of some seasons by year;
            all if left out.
        baselines: Some of "line", "elo", "elo538", "melo", "kickscore", "home"; if left out,
            line and elo538 where the table has their columns, and home.
        folder: Where the work is kept, at most ten seconds behind, and the same call goes
            on if it was stopped; and where `scores.csv`, `summary.csv` and `fits.csv` are
            written. Draws are then on disk, not in memory. Nowhere if left out.
        progress: A bar on a terminal, or a function called with (stage, done, total).
        **plan: `protocol` ("default" or "paper"), `engine`, `chains`, `warmup`, `draws`,
            `thin` and `seed`; None takes the protocol's own. For the paper's protocol also
            `rewarm`, `learn_from` (seasons; the first three forecast ones if left out) and
            `long_run` (chains, warm-up and draws).

    Returns:
        Tables of scores, of means by season, and of diagnostics.

    Raises:
        ConfigError: The call has no meaning.
        FileError: The folder cannot be used.
    """
    frame = games.frame
    if first_season is not None:
        frame = frame[frame["season"] >= first_season].reset_index(drop=True)
    known = sorted(frame["season"].unique().tolist())
    wanted = known[1:] if seasons is None else _years(seasons, "seasons")
    if plan.get("learn_from") is not None:
        plan = plan | {"learn_from": tuple(_years(plan["learn_from"], "learn_from"))}
    if not wanted:
        raise ConfigError("seasons: there is none with a season before it to learn from.")
    settled = plan_of(wanted, window, plan)
    days = cutoffs(frame, wanted, block, blocks)
    if not days:
        raise ConfigError(f"blocks={blocks!r} leaves nothing to forecast.")
    _require_history(frame, days, window)
    _require_long_run(frame, settled)
    chosen = _all_forecasters(frame, forecasters, baselines)
    records = None
    if folder is not None:
        records = Records.opened(Path(folder), task(frame, days, settled))
    scores, fits = [], []
    with _resumable(records), reporting(progress) as report:
        for name, forecaster in chosen:

            def told(stage: str, done: int, total: int, name: str = name) -> None:
                report(f"{name}: {stage}", done, total)

            found = records and records.found(name, forecaster)
            if not found:
                stem = records.stem(name, forecaster) if records else None
                own = dataclasses.replace(settled, report=told, unfinished=stem)
                found = _forecast(name, forecaster, frame, days, own)
                if records:
                    records.keep(name, forecaster, *found)
            scores.append(found[0])
            fits.append(found[1])
    names = {name for name, _ in chosen}
    against = next((name for name in ("line", "home") if name in names), None)
    every = pd.concat(scores, ignore_index=True)
    checked = [one for one in fits if len(one)]
    result = Result(
        every,
        summary(every, against),
        pd.concat(checked, ignore_index=True) if checked else pd.DataFrame(),
    )
    if records:
        for name, table in result._asdict().items():
            write_table(records.folder / f"{name}.csv", table)
    return result


@contextmanager
def _resumable(records: Records | None) -> Iterator[None]:
    """Tell a user who has had enough how to go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if records is None:
            raise
        raise Interrupted(
            f"stopped; {records.folder} keeps what was done. Run the same backtest again to go "
            "on."
        ) from stop


def _forecast(
    name: str, forecaster: Forecaster, frame: pd.DataFrame, days: list[Cutoff], plan: Plan
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores and diagnostics of one forecaster."""
    began = time.monotonic()
    made = forecaster.forecasts(frame, days, plan)
    fits = pd.DataFrame()
    if made.fits is not None:
        seconds = time.monotonic() - began  # of all cutoffs that were not on disk
        fits = made.fits.assign(forecaster=name, rank=_rank(forecaster), seconds=seconds)
    return _scores(name, forecaster, frame, days, made), fits


def _years(seasons: Any, name: str) -> list[int]:
    try:
        return [int(season) for season in seasons]
    except (TypeError, ValueError):
        raise ConfigError(f"{name}={seasons!r}, expected years such as [2004, 2005].") from None


def _require_long_run(frame: pd.DataFrame, plan: Plan) -> None:
    missing = [s for s in plan.learn_from if s not in set(frame["season"])]
    if missing:
        raise ConfigError(f"learn_from: there are no games of {missing[0]}.")


def _require_history(frame: pd.DataFrame, days: list[Cutoff], window: int | None) -> None:
    for day in days:
        if not day.past(frame, window).any():
            raise ConfigError(
                f"season {day.season}: no game was played before {day.start:%Y-%m-%d} within "
                f"the window of {window} seasons. Forecast a later season, or widen the window."
            )


def _all_forecasters(
    frame: pd.DataFrame,
    given: Mapping[str, Forecaster] | Sequence[Any],
    baselines: Sequence[str] | None,
) -> list[tuple[str, Forecaster]]:
    if baselines is None:
        lines = {"spread_home", "total"} <= set(frame.columns)
        baselines = ["line"] * lines + ["elo538"] * ("elo_home_prob" in frame) + ["home"]
    unknown = [name for name in baselines if name not in BASELINES]
    if unknown:
        expected = ", ".join(BASELINES)
        raise ConfigError(
            f"baselines: there is no {unknown[0]!r}, expected some of {expected}."
        )
    named = given.items() if isinstance(given, Mapping) else ((one.name, one) for one in given)
    chosen = [*named, *((name, BASELINES[name]()) for name in baselines)]
    if not chosen:
        raise ConfigError("forecasters: there is none, expected a score model or a baseline.")
    keys = [f"{name}, rank {_rank(one):g}" for name, one in chosen]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise ConfigError(f"forecasters: {twice[0]!r} is there twice; name them apart.")
    for _, one in chosen:
        # Nobody wants to hear of a missing column after the models' hours.
        getattr(one, "require", lambda frame: None)(frame)
    return chosen


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


def _rank(forecaster: Forecaster) -> float:
    return float(getattr(forecaster, "rank", float("nan")))
