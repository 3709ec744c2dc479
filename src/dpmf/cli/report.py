"""`dpmf report`: a page to look at, and to show to a friend."""

import json as json_format
from pathlib import Path
from typing import Any

from dpmf.cli.terminal import plain, terminal
from dpmf.data.file_bytes import source_of
from dpmf.errors import ConfigError
from dpmf.posterior import load
from dpmf.report import Results, write_page
from dpmf.sports import read_games
from dpmf.sports.notes import games_notes
from dpmf.whole import require_writable


def run(
    source: Path,
    out: Path,
    *,
    upcoming: str | None,
    backtest: Path | None,
    title: str | None,
    draws: int | None,
    reading: dict[str, Any],
    seed: int,
    quiet: bool,
    json: bool,
) -> None:
    """Run the command.

    Args:
        source: File of a fit, or folder of a backtest.
        out: HTML file.
        upcoming: File of games to come, or "-".
        backtest: Folder of a backtest to show beside the fit.
        title: Of the page.
        draws: Behind the matchup explorer.
        reading: Of `read_games`, for the upcoming games.
        seed: Of what the training games say nothing about.
        quiet: Print nothing.
        json: Print where the page is as JSON.
    """
    if out.suffix not in (".html", ".htm"):
        raise ConfigError(f"--out {out}: expected a name that ends with .html.")
    require_writable(out)
    options: dict[str, Any] = {"title": title}
    if source.is_dir():
        _refuse(source, {"--upcoming": upcoming, "--backtest": backtest, "--draws": draws})
        write_page(out, results=Results.read(source), **options)
    else:
        results = None if backtest is None else Results.read(backtest)
        fit = load(source)
        if upcoming is not None:
            known = games_notes(fit, source=str(source)).calendar
            how = {**reading, "upcoming": True, "after": known, "playoffs": True}
            options["upcoming"] = read_games(upcoming, **how)
            options["upcoming_source"] = source_of(upcoming)
        options |= {"results": results, "draws": draws, "seed": seed, "source": str(source)}
        write_page(out, fit, **options)
    size = out.stat().st_size
    console = terminal(quiet=quiet or json, highlight=False)
    console.print(plain(f"Written: {out} ({size / 1e6:.1f} MB)"), soft_wrap=True)
    if json:
        print(json_format.dumps({"page": str(out), "bytes": size}))


def _refuse(source: Path, given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value is not None:
            raise ConfigError(
                f"{source}: found a folder and {option}, which needs the file of a fit, such "
                "as fit.nc."
            )
