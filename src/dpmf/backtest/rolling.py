"""Games and forecasters in; every forecast made as if its day were today, scored, out."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpmf.backtest.baselines import Elo538, Home, Line, Melo
from dpmf.backtest.cutoffs import Cutoff, cutoffs
from dpmf.backtest.dispatch import require_usable
from dpmf.backtest.elo import Elo
from dpmf.backtest.forecaster import Forecaster, Plan, plan_of
from dpmf.backtest.pairwise import Kickscore
from dpmf.backtest.parted import Named, divisible, made_by
from dpmf.backtest.records import Records, task, write_table
from dpmf.backtest.scoring import Tables, rank_of, tables
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
    executor: Executor | None = None,
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
        executor: Where models are fitted, each cutoff by itself (by the paper's protocol
            each model): any executor of `concurrent.futures` whose processes are not forked,
            such as `dask.distributed.Client(...).get_executor()`. It does not change the
            results, and stays open. Threads of this process if left out.
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
        WorkerError: Workers of the executor are lost again and again.
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
    if executor is not None:
        require_usable(executor)
    records = None
    if folder is not None:
        records = Records.opened(Path(folder), task(frame, days, settled))
    with _resumable(records), reporting(progress) as report:
        finished = _finished(chosen, frame, days, settled, executor, records, report)
    names = {name for name, _ in chosen}
    against = next((name for name in ("line", "home") if name in names), None)
    every = pd.concat([known.scores for known in finished], ignore_index=True)
    checked = [known.fits for known in finished if len(known.fits)]
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


def _finished(
    chosen: list[Named],
    frame: pd.DataFrame,
    days: list[Cutoff],
    plan: Plan,
    executor: Executor | None,
    records: Records | None,
    report: Report,
) -> list[Tables]:
    """The tables of all forecasters, in their order."""
    found = [records.found(*one) if records else None for one in chosen]
    missing = [number for number, known in enumerate(found) if not known]
    if executor is not None:
        away = [number for number in missing if divisible(chosen[number].forecaster)]
        sent = [chosen[number] for number in away]
        made = made_by(executor, sent, frame, days, plan, records, report)
        for number, own in zip(away, made, strict=True):
            found[number] = _kept(records, chosen[number], own)
        missing = [number for number in missing if number not in away]
    for number in missing:
        own = _here(chosen[number], frame, days, plan, records, report)
        found[number] = _kept(records, chosen[number], own)
    return [known for known in found if known]


def _here(
    one: Named,
    frame: pd.DataFrame,
    days: list[Cutoff],
    plan: Plan,
    records: Records | None,
    report: Report,
) -> Tables:
    """The tables of one forecaster, made in this process."""

    def told(stage: str, done: int, total: int) -> None:
        report(f"{one.name}: {stage}", done, total)

    stem = records.stem(*one) if records else None
    own = dataclasses.replace(plan, report=told, unfinished=stem)
    return tables(*one, frame, days, lambda: one.forecaster.forecasts(frame, days, own))


def _kept(records: Records | None, one: Named, made: Tables) -> Tables:
    if records:
        records.keep(*one, made)
    return made


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
) -> list[Named]:
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
    own = ((name, BASELINES[name]()) for name in baselines)
    chosen = [Named(*one) for one in (*named, *own)]
    if not chosen:
        raise ConfigError("forecasters: there is none, expected a score model or a baseline.")
    keys = [f"{name}, rank {rank_of(one):g}" for name, one in chosen]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise ConfigError(f"forecasters: {twice[0]!r} is there twice; name them apart.")
    for _, one in chosen:
        # Nobody wants to hear of a missing column after the models' hours.
        getattr(one, "require", lambda frame: None)(frame)
    return chosen
