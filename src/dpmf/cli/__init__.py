"""The `dpmf` command: arguments in; output, one-line errors and an exit status out."""

import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from dpmf.cli.commands import app
from dpmf.cli.programs import keep_programs
from dpmf.errors import ConfigError, DataError, DpmfError, DpmfWarning
from dpmf.shown import printable


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command, and exit.

    The status is 0 on success, 2 for input that cannot be used, 1 for any other error
    raised on purpose and 130 when interrupted.

    Args:
        arguments: Words after the command's name; those of the process unless given.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal may not know all characters
    keep_programs()
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
        print(f"dpmf: {printable(' '.join(str(message).splitlines()))}", file=sys.stderr)


def _fail(error: DpmfError, *, status: int) -> NoReturn:
    line = printable(" ".join(str(error).splitlines()))
    print(f"dpmf: {line}", file=sys.stderr)
    sys.exit(status)
