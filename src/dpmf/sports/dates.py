"""A column of dates as people write them in; days out."""

import re
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from dpmf.data.columns import whole
from dpmf.errors import DataError

_NUMBERS = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:[ T].*)?")
_MONTH = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_YEAR = re.compile(r"\b\d{4}\b")
ORDERS = {True: "day first", False: "month first"}


def days(
    table: nw.DataFrame, name: str, *, day_first: bool | None = None, source: str
) -> pd.Series:
    """The days of a column, without the time of day.

    Days are written as 2008-12-25 or 20081225, with the month's name, or as 25/12/2008 or
    12/25/2008 where the column as a whole, or `day_first`, says which number is the day.

    Raises:
        DataError: An entry is no day, or may be one of two.
    """
    given = pd.Series(whole(table, name, source=source).to_list())
    # As text, so that 20081225 is a day and not a number of nanoseconds.
    given = given.map(lambda x: str(x).strip() if isinstance(x, str | int) else x)
    spelled = _in_order(given, name, day_first, source)
    short = spelled.map(lambda x: isinstance(x, str) and len(x) < 8)  # a year is no day
    try:
        found = pd.to_datetime(spelled.mask(short), errors="coerce", format="ISO8601")
        named = found.isna() & spelled.map(_names_month)
        if named.any():
            read = pd.to_datetime(spelled[named], errors="coerce", format="mixed")
            found = found.where(~named, read)
    except ValueError as error:  # mixed time zones
        raise DataError(
            f"{source}: column {name!r}: {error}; expected days such as 2008-12-25."
        ) from error
    wrong = np.flatnonzero(found.isna())
    if wrong.size:
        raise DataError(
            f"{source}: row {wrong[0] + 1}, column {name!r}: found {given[wrong[0]]!r}, "
            "expected a date such as 2008-12-25; convert the column first."
        )
    return found.dt.tz_localize(None).dt.normalize()


def _names_month(entry: Any) -> bool:
    return isinstance(entry, str) and bool(_MONTH.search(entry) and _YEAR.search(entry))


def _in_order(spelled: pd.Series, name: str, day_first: bool | None, source: str) -> pd.Series:
    """The same days with the year first, where they were three numbers with it last."""
    parts = [_NUMBERS.fullmatch(entry) if isinstance(entry, str) else None for entry in spelled]
    rows = [row for row, part in enumerate(parts) if part]
    if not rows:
        return spelled
    pairs = {row: (int(part[1]), int(part[3])) for row, part in enumerate(parts) if part}
    if day_first is None:
        day_first = _day_first(pairs, spelled, name, source)
    ordered = spelled.copy()
    for row, (first, second) in pairs.items():
        day, month = (first, second) if day_first else (second, first)
        if month > 12:
            raise DataError(
                f"{source}: row {row + 1}, column {name!r}: found {spelled[row]!r}, expected "
                f"the {ORDERS[day_first]}, as said; there is no month {month}."
            )
        part = parts[row]
        assert part is not None
        ordered[row] = f"{part[4]}-{month:02d}-{day:02d}"
    return ordered


def _day_first(
    pairs: dict[int, tuple[int, int]], spelled: pd.Series, name: str, source: str
) -> bool:
    """What the column says: a number above 12 is a day."""
    firsts = [row for row, pair in pairs.items() if pair[0] > 12]
    seconds = [row for row, pair in pairs.items() if pair[1] > 12]
    advice = "write days as 2008-12-25, or say which comes first (day_first, --day-first)"
    if firsts and seconds:
        raise DataError(
            f"{source}: column {name!r}: found {spelled[firsts[0]]!r} in row {firsts[0] + 1} "
            f"and {spelled[seconds[0]]!r} in row {seconds[0] + 1}, expected the day or the "
            "month first in all of them; write days as 2008-12-25."
        )
    alike = all(first == second for first, second in pairs.values())
    if not (firsts or seconds or alike):
        row = next(row for row, (first, second) in pairs.items() if first != second)
        first, second = pairs[row]
        raise DataError(
            f"{source}: row {row + 1}, column {name!r}: found {spelled[row]!r}, which may be "
            f"day {first} of month {second} or day {second} of month {first}, and no other "
            f"row tells; {advice}."
        )
    return bool(firsts)
