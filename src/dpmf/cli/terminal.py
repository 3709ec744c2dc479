"""A terminal that prints names from data as they are, and obeys none of them."""

from typing import Any

from rich.console import Console
from rich.markup import escape

from dpmf.shown import printable


def terminal(*, quiet: bool = False, **options: Any) -> Console:
    """Where a command prints; `:cat:` in a name stays what it is."""
    return Console(quiet=quiet, emoji=False, **options)


def plain(text: Any) -> str:
    """Text that means nothing but itself, neither to rich nor to a terminal."""
    return escape(printable(text))
