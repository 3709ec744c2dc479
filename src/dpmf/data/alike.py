"""Names in; those that only a slip of the pen may tell apart out."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dpmf.errors import DpmfWarning
from dpmf.shown import shown

MOST = 5  # pairs that a warning names


def alike(names: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Pairs of different names that are the same but for case, spaces or invisible marks."""
    first: dict[str, str] = {}
    for name in dict.fromkeys(one for one in names if isinstance(one, str)):
        other = first.setdefault(_folded(name), name)
        if other != name:
            yield other, name


def tell_alike(
    names: Iterable[Any], where: Callable[[str], str], *, source: str, depth: int = 3
) -> None:
    """Warn of names that are alike.

    Args:
        names: In the order in which they come.
        where: The place at which a name is first found.
        source: Where the names came from.
        depth: Calls between the user and the warning.
    """
    pairs = list(alike(names))
    if not pairs:
        return
    told = "; ".join(
        f"{shown(a)} ({where(a)}) and {shown(b)} ({where(b)})" for a, b in pairs[:MOST]
    )
    more = f"; and {len(pairs) - MOST:,} more" * (len(pairs) > MOST)
    warnings.warn(
        f"{source}: names that differ only in case or spaces are taken as different ones: "
        f"{told}{more}.",
        DpmfWarning,
        stacklevel=depth,
    )


def _folded(name: str) -> str:
    if name.isascii():
        return "".join(name.casefold().split())
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        c for c in plain if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf")
    )
