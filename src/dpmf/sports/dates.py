"""A column of dates as people write them in; days out."""

import datetime
import re
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from dpmf.data.columns import whole
from dpmf.data.places import place, spot
from dpmf.errors import DataError
from dpmf.shown import shown

YEARS = range(1700, 2200)  # in which a game may be
ORDERS = {True: "day first", False: "month first"}
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_TIME = (
    r"(?:(?:T|,?\s+)(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:\s*[AaPp]\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_FLAGS = re.IGNORECASE | re.ASCII
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.]?)(\d{{1,2}})\2(\d{{1,2}}){_TIME}", _FLAGS)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}){_TIME}", _FLAGS)
_NAMED = (
    re.compile(
        rf"{_WEEKDAY}{_DAY}[\s-]+(?P<month>[a-z]{{3,9}})\.?,?[\s-]+(?P<year>\d{{4}}){_TIME}",
        _FLAGS,
    ),
    re.compile(
        rf"{_WEEKDAY}(?P<month>[a-z]{{3,9}})\.?[\s-]+{_DAY},?[\s-]+(?P<year>\d{{4}}){_TIME}",
        _FLAGS,
    ),
)


def days(
    table: nw.DataFrame, name: str, *, day_first: bool | None = None, source: str
) -> pd.Series:
    """The days of a column, without the time of day.

    Days are written as 2008-12-25 or 20081225, with the month's name, or as 25/12/2008 or
    12/25/2008 where the column as a whole, or `day_first`, says which number is the day.

    Raises:
        DataError: An entry is no day, or may be one of two.
    """
    entries = [_plain(entry) for entry in whole(table, name, source=source).to_list()]
    first: dict[Any, int] = {}  # most days hold several games
    for row, entry in enumerate(entries):
        first.setdefault(entry, row)
    orders = _orders(first, day_first, name, source)
    found = {entry: _day(entry, orders) for entry in first}
    for entry, (day, _) in found.items():
        if day is None:
            raise DataError(
                f"{place(source, first[entry])}, column {name!r}: found {shown(entry)}, "
                "expected a date such as 2008-12-25; convert the column first."
            )
    _require_one_zone(found, first, name, source)
    return pd.to_datetime(pd.Series([found[one][0] for one in entries]), format="%Y-%m-%d")


def _plain(entry: Any) -> Any:
    """Text without spaces around it, also of a number such as 20081225; days stay."""
    if isinstance(entry, datetime.date):
        return entry
    if isinstance(entry, float | np.floating) and float(entry).is_integer():
        entry = int(entry)
    return str(entry).strip()


def _day(entry: Any, orders: Mapping[str, bool]) -> tuple[str | None, str]:
    """A day as 2008-12-25, None for what is none, and the time zone that it is told in."""
    if isinstance(entry, datetime.date):
        zone = getattr(entry, "tzinfo", None)
        return _spelled(entry.year, entry.month, entry.day), str(zone or "")
    found = _YEAR_FIRST.fullmatch(entry)
    if found:
        short = not found[2] and len(found[3] + found[4]) < 4  # 2008111 may be two days
        year, month, day = int(found[1]), int(found[3]), int(found[4])
        return None if short else _spelled(year, month, day), found["zone"] or ""
    found = _YEAR_LAST.fullmatch(entry)
    if found:
        one, other = int(found[1]), int(found[3])
        day, month = (one, other) if orders[found[2]] else (other, one)
        return _spelled(int(found[4]), month, day), found["zone"] or ""
    found = next((m for m in (one.fullmatch(entry) for one in _NAMED) if m), None)
    word = found["month"].lower() if found else ""
    number = [place + 1 for place, full in enumerate(_MONTHS) if full.startswith(word)]
    if found is None or len(number) != 1:
        return None, ""
    return _spelled(int(found["year"]), number[0], int(found["day"])), found["zone"] or ""


def _spelled(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat() if year in YEARS else None
    except ValueError:  # the 31st of February
        return None


def _orders(
    first: Mapping[Any, int], day_first: bool | None, name: str, source: str
) -> dict[str, bool]:
    """Whether the day comes first, for each separator of days whose year comes last."""
    parts = {
        entry: found
        for entry in first
        if isinstance(entry, str) and (found := _YEAR_LAST.fullmatch(entry))
    }
    orders = {}
    for separator in dict.fromkeys(found[2] for found in parts.values()):
        pairs = {
            entry: (int(found[1]), int(found[3]))
            for entry, found in parts.items()
            if found[2] == separator and min(int(found[1]), int(found[3])) <= 12
        }
        if day_first is None:
            orders[separator] = _day_first(pairs, first, name, source)
        else:
            orders[separator] = day_first
            _require_order(pairs, day_first, first, name, source)
    return orders


def _require_order(
    pairs: Mapping[str, tuple[int, int]],
    day_first: bool,
    first: Mapping[Any, int],
    name: str,
    source: str,
) -> None:
    for entry, (one, other) in pairs.items():
        month = other if day_first else one
        if month > 12:
            raise DataError(
                f"{place(source, first[entry])}, column {name!r}: found {shown(entry)}, "
                f"expected the {ORDERS[day_first]}, as said; there is no month {month}."
            )


def _day_first(
    pairs: Mapping[str, tuple[int, int]], first: Mapping[Any, int], name: str, source: str
) -> bool:
    """What the column says: a number above 12 is a day."""
    firsts = [entry for entry, pair in pairs.items() if pair[0] > 12]
    seconds = [entry for entry, pair in pairs.items() if pair[1] > 12]
    advice = "write days as 2008-12-25, or say which comes first (day_first, --day-first)"
    if firsts and seconds:
        a, b = (
            f"{shown(entries[0])} in {spot(source, first[entries[0]])}"
            for entries in (firsts, seconds)
        )
        later = place(source, max(first[firsts[0]], first[seconds[0]]))
        raise DataError(
            f"{later}, column {name!r}: found {a} and {b}, expected the day or the month "
            "first in all of them; write days as 2008-12-25."
        )
    alike = all(one == other for one, other in pairs.values())
    if not (firsts or seconds or alike):
        entry = next(entry for entry, (one, other) in pairs.items() if one != other)
        one, other = pairs[entry]
        raise DataError(
            f"{place(source, first[entry])}, column {name!r}: found {shown(entry)}, which may "
            f"be day {one} of month {other} or day {other} of month {one}, and no other row "
            f"tells; {advice}."
        )
    return bool(firsts)


def _require_one_zone(
    found: Mapping[Any, tuple[str | None, str]],
    first: Mapping[Any, int],
    name: str,
    source: str,
) -> None:
    """Two time zones may put one game on two days."""
    seen: dict[str, Any] = {}
    for entry, (_, zone) in found.items():
        seen.setdefault(zone, entry)
    if len(seen) > 1:
        entries = list(seen.values())[:2]
        a, b = (f"{shown(one)} in {spot(source, first[one])}" for one in entries)
        raise DataError(
            f"{place(source, first[entries[1]])}, column {name!r}: found {a} and {b}, expected "
            "one time zone for all, or none; write days as 2008-12-25."
        )
