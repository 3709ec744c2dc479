"""Table 1 of the paper again: every model, every season, the paper's protocol.

    python benchmarks/table1.py [--kernel se] [--mean constant] [--ranks 1,2,3,4,5] ...

A stopped run resumes: finished models are kept in the work folder. The results go to
benchmarks/results/NAME.csv and docs/NAME.md.
"""

import argparse
import multiprocessing
import os
import re
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pandas as pd
from places import NBA, RESULTS, ROOT
from turns import turn
from wall import calls, counted

import dpmf
from dpmf.backtest.cutoffs import duration
from dpmf.backtest.records import Records, write_table
from dpmf.cli import choices, tables
from dpmf.sports import ScoreModel, score_model
from dpmf.sports.published import METRICS, with_published
from dpmf.whole import make_folder, write_whole

SEASONS = range(2002, 2010)
LAST = {2009: 28}  # days: the paper ends four weeks into that season
FIRST_SEASON = 2000  # the betting lines begin there
PMF_TABLE = RESULTS / "table1.csv"
KEPT = 5.0  # seconds; what takes less was read from disk
PARTLY = ", and again with `--so-far` before all of its models were finished"
SPANS = [(2002, 2008), (2004, 2008)]  # whole seasons; and those whose windows are the paper's


def main() -> None:
    """Parse, run what is missing, write the tables."""
    options = _options()
    chosen = models(options)
    if options.so_far:
        chosen = [model for model in chosen if finished(model, options)]
    elif not run(chosen, options):
        print("out of time: run again to go on")
        return
    found = dpmf.backtest(
        dpmf.read_games(options.games), chosen, progress=False, **settings(options)
    )
    summary = _with_closed(with_published(found.summary))
    make_folder(RESULTS)
    write_table(RESULTS / f"{options.name}.csv", summary)
    names = {_named(model) for model in chosen}
    made = calls(options.work / options.name)
    page = _page(options, summary, found.fits, _finished_in(made, names))
    write_whole(ROOT / "docs" / f"{options.name}.md", lambda place: place.write_text(page))


def models(options: argparse.Namespace) -> list[ScoreModel]:
    """As the paper lists them."""
    paper, kernel = options.mean == "constant", choices.kernel(options.kernel)
    return [
        score_model(rank, side, kernel=kernel, paper=paper)
        for side in choices.sides(options.side)
        for rank in choices.ranks(options.ranks)
    ]


def _named(model: ScoreModel) -> str:
    return f"{model.name} K={model.rank}"


def _finished_in(made: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """The calls, each with those of the models that are as it left them."""
    later: set[str] = set()
    found = []
    for call in reversed(made):
        own = [name for name in call["finished"] if name in names - later]
        later.update(call["finished"])
        found.append(call | {"finished": own})
    return found[::-1]


def finished(model: ScoreModel, options: argparse.Namespace) -> bool:
    """Whether the forecasts of a model are on disk."""
    return Records(options.work / options.name).found(model.name, model) is not None


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """Of the backtest."""
    block = duration(options.block, "--block")
    return {
        "seasons": SEASONS,
        "blocks": {year: days // block for year, days in LAST.items()},
        "block": options.block,
        "first_season": FIRST_SEASON,
        "protocol": options.protocol,
        "engine": options.engine,
        "learn_from": (2002, 2003, 2004) if options.protocol == "paper" else None,
        "folder": options.work / options.name,
    }


def run(chosen: list[ScoreModel], options: argparse.Namespace) -> bool:
    """Forecasts of every model, some at a time; whether all were made in time.

    Each model has a process of its own. Their long runs, of a few chains, share the device;
    their seasons (of the paper's protocol) take turns, while others compile: side by side they
    are hardly faster in all, and a call that is stopped leaves all of them unfinished.
    """
    folder, deadline = options.work / options.name, time.monotonic() + 60 * options.minutes
    # All share one GPU, so that none may take its whole memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    spawn = multiprocessing.get_context("spawn")
    complete = True
    with (
        counted(folder, processes=options.processes) as names,
        ProcessPoolExecutor(options.processes, spawn, max_tasks_per_child=1) as pool,
    ):
        longest_first = sorted(chosen, key=lambda one: (len(one.side), one.rank), reverse=True)
        work = [pool.submit(_one, model, options, deadline) for model in longest_first]
        for done in as_completed(work):
            name, seconds = done.result()
            complete &= seconds is not None
            if seconds is not None and seconds > KEPT:
                names.append(name)
                print(f"{name}: {seconds:.0f} s", flush=True)
    return complete


def _one(
    model: ScoreModel, options: argparse.Namespace, deadline: float
) -> tuple[str, float | None]:
    """Forecasts of one model, and the seconds they took; None past the deadline."""
    name, begun = _named(model), time.monotonic()
    if begun >= deadline:
        return name, None
    stages: list[str] = []
    games = dpmf.read_games(options.games)
    with turn(options.work / "turn.lock") as device:

        def told(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages.append(stage)
                print(f"{name}, {stage}, after {time.monotonic() - begun:.0f} s", flush=True)
            if "block" in stage:  # compiled, and the first steps are done
                device.take()
            if stage.endswith("sampling") and done == total and _last_block(stage):
                device.leave()  # what is left is scored on the host

        dpmf.backtest(games, [model], baselines=[], progress=told, **settings(options))
    seconds = time.monotonic() - begun
    print(f"{name}: had the device for {device.held:.0f} of {seconds:.0f} s", flush=True)
    return name, seconds


def _last_block(stage: str) -> bool:
    """Whether a stage such as "DPMF(t): block 6 of 6, sampling" is one of the last block."""
    found = re.search(r"block (\d+) of (\d+)", stage)
    return found is not None and found[1] == found[2]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="table1", help="of the results")
    parser.add_argument("--games", type=Path, default=NBA)
    parser.add_argument("--kernel", default="se")
    parser.add_argument("--mean", default="constant", choices=["constant", "pooled"])
    parser.add_argument("--ranks", default="1,2,3,4,5")
    parser.add_argument("--side", default="none,time,home,time+home")
    parser.add_argument("--block", default="4w")
    parser.add_argument("--protocol", default="paper", choices=["paper", "default"])
    parser.add_argument("--engine", default="hmc", choices=["hmc", "slice"])
    parser.add_argument("--work", type=Path, default=ROOT / "benchmarks" / "unfinished")
    parser.add_argument("--processes", type=int, default=1, help="models at a time")
    parser.add_argument("--so-far", action="store_true", help="only write what is finished")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no model after")
    return parser.parse_args()


def _with_closed(summary: pd.DataFrame) -> pd.DataFrame:
    """With the share of the way from PMF to the line, also where PMF is in another table.

    PMF is that of the rank that does best over all seasons, as in a backtest's summary.
    """
    if "closed_pct" in summary or not PMF_TABLE.exists():
        return summary
    other = pd.read_csv(PMF_TABLE)
    pmf = other[other["forecaster"] == "PMF"]
    over_all = pmf[pmf["season"] == "All"]
    best = over_all.loc[over_all["mean_log_prob"].idxmax(), "rank"]
    start = pmf[pmf["rank"] == best].set_index("season")["mean_log_prob"]
    end = summary[summary["forecaster"] == "line"].set_index("season")["mean_log_prob"]
    first, last = summary["season"].map(start), summary["season"].map(end)
    closed = 100 * (summary["mean_log_prob"] - first) / (last - first)
    return summary.assign(closed_pct=closed)


def _page(
    options: argparse.Namespace,
    summary: pd.DataFrame,
    fits: pd.DataFrame,
    made: list[dict[str, Any]],
) -> str:
    times = [
        f"{one['seconds']:.0f} s on {one['device']}, {one['processes']} processes "
        f"({', '.join(one['finished']) or 'none'})"
        for one in made
        if one["seconds"] > KEPT or one["finished"]
    ]
    lines = [
        f"# {options.name}: {options.kernel} over time, {options.mean} mean",
        "",
        f"Made by `python benchmarks/table1.py --name {options.name} --kernel {options.kernel} "
        f"--mean {options.mean} --ranks {options.ranks} --side {options.side} "
        f"--block {options.block} --protocol {options.protocol}"
        f"{f' --engine {options.engine}' if options.engine else ''}`"
        f"{PARTLY if options.so_far else ''}. Wall time of each call, and those of the models "
        f"below that it finished: {'; '.join(times)}. Compilation and the long runs that learn "
        "hyperparameters are counted.",
        "",
        f"R-hat of the predicted means: median over the {len(fits)} fits "
        f"{fits['rhat_max'].median():.3f}, largest {fits['rhat_max'].max():.3f}; effective "
        f"draws: median {fits['ess_median'].median():.0f}. Beside our figures, in brackets, "
        "the published ones. Seasons marked * were seen by the long run that the "
        "hyperparameters come from, as in the paper. `closed` is the share of the distance "
        "from the best PMF (of table1, in blocks of four weeks, where this table has none) to "
        "the betting line that a model closes, in log probability.",
    ]
    seasons = list(dict.fromkeys(summary["season"]))
    seen = set(summary.loc[summary["seen"] & (summary["season"] != "All"), "season"])
    summary = pd.concat([summary, *(_mean_of(summary, *span) for span in SPANS)])
    seasons += [f"{first}-{last}" for first, last in SPANS]
    for metric in METRICS:
        lines += ["", *_table(summary, metric, seasons, seen)]
    return "\n".join(lines) + "\n"


def _mean_of(summary: pd.DataFrame, first: int, last: int) -> pd.DataFrame:
    """The plain mean over some seasons, as rows of their own."""
    own = summary[summary["season"].isin([str(year) for year in range(first, last + 1)])]
    columns = [*METRICS, *(f"{name}_published" for name in METRICS)]
    grouped = own.groupby(["forecaster", "rank"], sort=False, dropna=False)[columns]
    means = grouped.agg(lambda values: values.mean(skipna=False)).reset_index()
    return means.assign(season=f"{first}-{last}", seen=False)


def _table(summary: pd.DataFrame, metric: str, seasons: list[str], seen: set[str]) -> list[str]:
    title, layout = tables.METRICS[metric]
    closed = metric == "mean_log_prob" and "closed_pct" in summary
    marked = [f"{season}*" if season in seen else season for season in seasons]
    head = ["model", "K", *marked, *(["closed"] if closed else [])]
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    shown = summary[summary[metric].notna()]
    for key, own in shown.groupby(["forecaster", "rank"], sort=False, dropna=False):
        rows = own.set_index("season")
        cells = []
        for season in seasons:
            ours = layout.format(rows.loc[season, metric])
            theirs = rows.loc[season, f"{metric}_published"]
            cells.append(ours if pd.isna(theirs) else f"{ours} ({layout.format(theirs)})")
        rank = "" if pd.isna(key[1]) else f"{key[1]:.0f}"
        share = [f"{round(rows.loc['All', 'closed_pct'])} %"] if closed else []
        lines.append(f"| {' | '.join([str(key[0]), rank, *cells, *share])} |")
    return lines


if __name__ == "__main__":
    main()
