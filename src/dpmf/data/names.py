"""Names of members and category levels: python scalars, counted in first-seen order."""

import datetime
import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from jaxtyping import Int

from dpmf.data.frames import described, misfit
from dpmf.errors import DataError

Name: TypeAlias = str | bool | int | float | datetime.date  # a datetime is a date too
Names: TypeAlias = tuple[Name, ...]


def codes(
    series: nw.Series, known: Names, *, source: str
) -> tuple[Names, Int[np.ndarray, " events"]]:
    """Count the names of one column, after those already known.

    Args:
        series: The column; no entry may be missing.
        known: Names that keep their places 0, 1, 2, ...
        source: Where the column came from, for messages.

    Returns:
        The known names followed by the new ones, and the place of each entry.
    """
    return placed(names(series, known, source=source), known)


def placed(found: Iterable[Name], known: Names) -> tuple[Names, Int[np.ndarray, " events"]]:
    """The known names and the new ones in first-seen order; where each found one is."""
    place = {name: code for code, name in enumerate(known)}
    index = [place.setdefault(name, len(place)) for name in found]
    return tuple(place), np.array(index, int)


def names(series: nw.Series, known: Names, *, source: str) -> list[Name]:
    """The entries as python scalars of a kind that can meet the known ones."""
    found = []
    for row, entry in enumerate(series.to_list()):
        name = _scalar(entry)
        if name is None:
            expected = "a name (text, finite number, date or boolean)"
            advice = "drop the row, or convert the column to text first"
            raise misfit(series, row, described(entry), expected, advice, source=source)
        found.append(name)
    _refuse_strangers(series, found, known, source)
    return found


def to_json(name: Name) -> Any:
    """A name as JSON can hold it; dates carry their kind."""
    if isinstance(name, datetime.datetime):
        return {"datetime": name.isoformat()}
    if isinstance(name, datetime.date):
        return {"date": name.isoformat()}
    return name


def from_json(stored: Any) -> Name:
    """The name that `to_json` stored."""
    if not isinstance(stored, dict):
        return stored
    ((kind, text),) = stored.items()
    return {"datetime": datetime.datetime, "date": datetime.date}[kind].fromisoformat(text)


def _scalar(entry: Any) -> Name | None:
    """A plain python scalar, or None for what cannot be a name."""
    if type(entry) is str:
        return entry
    if isinstance(entry, np.generic):
        entry = entry.item()
    if hasattr(entry, "to_pydatetime"):  # a pandas Timestamp, or NaT
        entry = entry.to_pydatetime(warn=False) if entry == entry else None
    if isinstance(entry, float) and not math.isfinite(entry):
        return None
    return entry if isinstance(entry, Name) else None


def _refuse_strangers(series: nw.Series, found: list[Name], known: Names, source: str) -> None:
    """Numbers never meet names known as text: 7 and '7' would be two members."""
    old, new = set(map(_family, known)), set(map(_family, found))
    if known and not old & new:
        raise DataError(
            f"{source}: column {series.name!r}: found {_family(found[0])} such as "
            f"{found[0]!r}, expected {_family(known[0])} such as {known[0]!r} as in training; "
            "convert the column first."
        )


def _family(name: Name) -> str:
    if isinstance(name, str):
        return "text"
    return "dates" if isinstance(name, datetime.date) else "numbers"
