"""The `dpmf` command: arguments in; output, one-line errors and an exit status out."""

import importlib.metadata
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn, TextIO

import typer

from dpmf.errors import ConfigError, DataError, DpmfError, DpmfWarning

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # `main` words the errors that a user can mend
)

Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", callback=lambda quiet: _hushed(quiet), help="Print nothing but errors."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"dpmf {importlib.metadata.version('dpmf')}")
        raise typer.Exit
    return wanted


@app.callback()
def _dpmf(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Who met whom, when, where, and what happened: forecasts with honest uncertainty."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit the embedded NFL games and forecast the games that follow."""
    from dpmf.cli.demo import run  # jax is imported only when work begins

    run(out, quiet=quiet, json=json)


@app.command()
def backtest(
    games: Annotated[Path, typer.Argument(help="CSV file of games.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the results; finished models are kept.")
    ],
    rank: Annotated[str, typer.Option(help="Latent features, such as 1,2,3.")] = "1",
    side: Annotated[
        str, typer.Option(help="Of none, time, home, time+home; a comma between models.")
    ] = "none,time+home",
    seasons: Annotated[
        str | None, typer.Option(help="To forecast, such as 2002:2008; all but the first.")
    ] = None,
    first_season: Annotated[int | None, typer.Option(help="Where history begins.")] = None,
    block: Annotated[str, typer.Option(help="Time between two cutoffs.")] = "4w",
    window: Annotated[
        int, typer.Option(help="Seasons to learn from, the current included.")
    ] = 3,
    protocol: Annotated[str, typer.Option(help="default, or paper.")] = "default",
    learn_from: Annotated[
        str | None,
        typer.Option(help="Paper: seasons of the long run; the first three forecast ones."),
    ] = None,
    playoffs: Annotated[bool, typer.Option("--playoffs", help="Count playoff games.")] = False,
    kernel: Annotated[
        str | None, typer.Option(help="Over time: se, matern12, matern32, matern52 or rq.")
    ] = None,
    mean: Annotated[str | None, typer.Option(help="constant or pooled.")] = None,
    likelihood: Annotated[
        str | None,
        typer.Option(help="paired-gaussian, or paired-poisson for goals: win, draw and loss."),
    ] = None,
    baselines: Annotated[
        str | None, typer.Option(help="Some of line,elo538,melo,kickscore,home.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="hmc or slice.")] = None,
    chains: Annotated[int | None, typer.Option(help="Of every fit.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps before draws are kept.")] = None,
    draws: Annotated[int | None, typer.Option(help="Kept draws of every chain.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same forecasts.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Forecast past games as if they were to come, and score the forecasts."""
    from dpmf.cli import choices
    from dpmf.cli.backtest import run

    run(
        games,
        out,
        ranks=choices.ranks(rank),
        sides=choices.sides(side),
        kernel=choices.kernel(kernel),
        mean=mean,
        likelihood=choices.likelihood(likelihood),
        playoffs=playoffs,
        quiet=quiet,
        json=json,
        seasons=choices.seasons(seasons),
        first_season=first_season,
        block=block,
        window=window,
        baselines=choices.words(baselines, "--baselines"),
        protocol=protocol,
        learn_from=choices.seasons(learn_from, "--learn-from"),
        engine=engine,
        chains=chains,
        warmup=warmup,
        draws=draws,
        seed=seed,
    )


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command, and exit.

    The status is 0 on success, 2 for input that cannot be used, 1 for any other error
    raised on purpose and 130 when interrupted.

    Args:
        arguments: Words after the command's name; those of the process unless given.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _note
        _run(arguments)
    sys.exit(0)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        app(arguments)
    except (DataError, ConfigError) as error:
        _fail(error, status=2)
    except DpmfError as error:
        _fail(error, status=1)
    except KeyboardInterrupt:
        sys.exit(130)


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line, without the place in our code that it comes from."""
    if issubclass(category, DpmfWarning):
        print(f"dpmf: {' '.join(str(message).splitlines())}", file=sys.stderr)


def _hushed(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", DpmfWarning)
    return quiet


def _fail(error: DpmfError, *, status: int) -> NoReturn:
    line = " ".join(str(error).splitlines())
    print(f"dpmf: {line}", file=sys.stderr)
    sys.exit(status)
