"""The `dpmf` command: arguments in; output, one-line errors and an exit status out."""

import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from dpmf.errors import ConfigError, DataError, DpmfError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # `main` words the errors that a user can mend
)

Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command, and exit.

    The status is 0 on success, 2 for input that cannot be used, 1 for any other error
    raised on purpose and 130 when interrupted.

    Args:
        arguments: Words after the command's name; those of the process unless given.
    """
    try:
        app(arguments)
    except (DataError, ConfigError) as error:
        _fail(error, status=2)
    except DpmfError as error:
        _fail(error, status=1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _fail(error: DpmfError, *, status: int) -> NoReturn:
    line = " ".join(str(error).splitlines())
    print(f"dpmf: {line}", file=sys.stderr)
    sys.exit(status)
