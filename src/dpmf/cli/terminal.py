"""A terminal that prints names from data as they are, and obeys none of them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape

from dpmf.errors import Interrupted
from dpmf.shown import printable


def terminal(*, quiet: bool = False, **options: Any) -> Console:
    """Where a command prints; `:cat:` in a name stays what it is."""
    return Console(quiet=quiet, emoji=False, **options)


def plain(text: Any) -> str:
    """Text that means nothing but itself, neither to rich nor to a terminal."""
    return escape(printable(text))


@contextmanager
def resumable() -> Iterator[None]:
    """Say how to go on with work that the user has stopped; the exit status is 130."""
    try:
        yield
    except Interrupted as stop:
        print(f"dpmf: {printable(stop)}", file=sys.stderr)
        raise
