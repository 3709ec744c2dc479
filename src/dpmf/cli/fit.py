"""`dpmf fit`: learn from the games in a file, and keep what was learned."""

import json as json_format
import shlex
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from dpmf.checks import whole_number
from dpmf.cli import choices
from dpmf.cli.info import described, print_words
from dpmf.cli.terminal import plain, resumable, terminal
from dpmf.data.file_bytes import source_of
from dpmf.errors import ConfigError
from dpmf.inference.checkpoint import remove
from dpmf.sports import Games, read_games, score_model
from dpmf.whole import require_writable

# Three seasons of the NFL converge with these; of 1,600 steps some length scales did not.
SIZES: dict[str, Any] = {
    "engine": "hmc",
    "chains": 4,
    "warmup": 400,
    "draws": 1000,
    "thin": 3,
}


def run(
    games: str,
    out: Path,
    *,
    rank: int,
    side: tuple[str, ...],
    kernel: Any,
    mean: str | None,
    likelihood: Any,
    window: int | None,
    reading: dict[str, Any],
    sampling: dict[str, Any],
    checkpoint: Path | None,
    quiet: bool,
    json: bool,
) -> None:
    """Run the command.

    Args:
        games: File of games, or "-".
        out: File for the fit.
        rank: Latent features.
        side: Side information.
        kernel: Over time; None takes Matern 1/2.
        mean: "constant" or "pooled"; None takes the latter.
        likelihood: Noise of both scores; None is the paired Gaussian.
        window: Seasons to learn from; None is all.
        reading: Of `read_games`.
        sampling: Of `DPMF.fit`; None takes the default.
        checkpoint: Folder that a stopped run goes on from; None is one beside `out`.
        quiet: Print nothing.
        json: Print the result as JSON instead of words.
    """
    console = terminal(quiet=quiet or json, highlight=False)
    paper = choices.constant_mean(mean) or False
    kernel = kernel or score_model().time_kernel
    model = score_model(
        whole_number("--rank", rank, 1),
        side,
        kernel=kernel,
        paper=paper,
        likelihood=likelihood,
    )
    if out.suffix != ".nc":
        raise ConfigError(f"--out {out}: expected a name that ends with .nc, such as fit.nc.")
    require_writable(out)
    table = _recent(read_games(games, counts=choices.counts(likelihood), **reading), window)
    console.print(plain(f"{source_of(games)}: {table!r}"), soft_wrap=True)
    began = time.perf_counter()
    given = {name: one for name, one in sampling.items() if one is not None}
    # Whoever says how many draws means steps, unless they say more.
    sizes = SIZES | ({"thin": 1} if "draws" in given else {}) | given
    way = checkpoint or out.with_name(f"{out.name}.checkpoint")
    with resumable():
        fit = model.fit(table, **sizes, progress=not (quiet or json), checkpoint=way)
    fit.save(out)
    remove(way)
    seconds = time.perf_counter() - began
    told = described(fit, out)
    print_words(console, told)
    console.print(plain(f"Written: {out} ({seconds:.0f} s)"), soft_wrap=True)
    for line in _next_steps(out, table):
        console.print(plain(line), soft_wrap=True)
    if json:
        print(json_format.dumps({"seconds": seconds, **told}))


def _next_steps(out: Path, games: Games) -> list[str]:
    """Commands to copy: the last game played again, and the page."""
    last = games.frame.iloc[-1]
    words = [last["home_team"], last["away_team"], f"{last['date'] + timedelta(7):%Y-%m-%d}"]
    home, away, day = (shlex.quote(str(word)) for word in words)
    fit = shlex.quote(str(out))
    return [
        f"Next:    dpmf predict {fit} --home {home} --away {away} --date {day}",
        f"         dpmf report {fit} --out page.html",
    ]


def _recent(games: Games, window: int | None) -> Games:
    if window is None:
        return games
    last = games.seasons[-1]
    return games.between(last - whole_number("--window", window, 1) + 1, last)
