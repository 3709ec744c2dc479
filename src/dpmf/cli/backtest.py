"""`dpmf backtest`: forecast the past as if it were the future, and show the table."""

import json as json_format
import time
from pathlib import Path
from typing import Any

from dpmf.backtest import backtest
from dpmf.backtest.records import write_table
from dpmf.cli import choices
from dpmf.cli.executors import executor
from dpmf.cli.tables import backtest_tables
from dpmf.cli.terminal import plain, resumable, terminal
from dpmf.data.file_bytes import source_of
from dpmf.report import Results, write_page
from dpmf.sports import read_games, score_model
from dpmf.sports.published import with_published

CONVERGED = 1.05  # R-hat of the predicted means


def run(
    games: str,
    out: Path,
    *,
    ranks: list[int],
    sides: list[tuple[str, ...]],
    kernel: Any,
    mean: str | None,
    likelihood: Any,
    reading: dict[str, Any],
    workers: str | None,
    quiet: bool,
    json: bool,
    **options: Any,
) -> None:
    """Run the command.

    Args:
        games: File of games.
        out: Folder for the results.
        ranks: Of every model.
        sides: Side information of every model.
        kernel: Over time; None is that of the protocol.
        mean: "constant" or "pooled"; None is that of the protocol.
        likelihood: Noise of both scores; None is the paired Gaussian.
        reading: Of `read_games`.
        workers: Address of Dask's scheduler, "" for workers on this machine; None is no Dask.
        quiet: Print nothing.
        json: Print the summary as JSON.
        **options: Of `dpmf.backtest`.
    """
    console = terminal(quiet=quiet or json)
    by_paper = options.get("protocol") == "paper"
    constant = choices.constant_mean(mean)
    paper_mean = by_paper if constant is None else constant
    if kernel is None and paper_mean != by_paper:
        kernel = score_model(paper=by_paper).time_kernel
    models = [
        score_model(rank, side, kernel=kernel, paper=paper_mean, likelihood=likelihood)
        for side in sides
        for rank in ranks
    ]
    table = read_games(games, counts=choices.counts(likelihood), **reading)
    console.print(plain(f"{source_of(games)}: {table!r}"), soft_wrap=True)
    began = time.perf_counter()
    progress = not (quiet or json)
    with resumable(), executor(workers) as where:
        found = backtest(
            table, models, folder=out, executor=where, progress=progress, **options
        )
    summary = with_published(found.summary)
    write_table(out / "summary.csv", summary)
    write_page(out / "report.html", results=Results(found.scores, summary, found.fits))
    seconds = time.perf_counter() - began
    for shown in backtest_tables(summary):
        console.print(shown)
    if len(found.fits):
        worst, median = found.fits["rhat_max"].max(), found.fits["ess_median"].median()
        odd = int((~(found.fits["rhat_max"] <= CONVERGED)).sum())  # NaN is odd too
        console.print(
            f"{len(found.fits)} fits in {seconds:.0f} s: R-hat of the predicted means at most "
            f"{worst:.3f} ({odd} above {CONVERGED}), median effective draws {median:.0f}."
        )
        if odd:
            console.print("Raise --warmup and --draws: those fits have not converged.")
    names = ("scores.csv", "summary.csv", "fits.csv", "report.html")
    written = ", ".join(str(out / name) for name in names)
    console.print(plain(f"Written: {written}"), soft_wrap=True)
    if json:
        rows = json_format.loads(summary.to_json(orient="records"))
        print(json_format.dumps({"seconds": seconds, "summary": rows}))
