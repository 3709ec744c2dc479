"""One column of a frame in; finite floats out, one per event."""

import datetime
import decimal
import numbers as abstract
import re
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from jaxtyping import Bool, Float

from dpmf.data.frames import column, described, misfit
from dpmf.errors import DataError

Kind: TypeAlias = Literal["number", "date", "category", "boolean"]

_WORDS = {"number": "a number", "date": "a date", "category": "text", "boolean": "a boolean"}
_DAY = datetime.timedelta(days=1) // datetime.timedelta(microseconds=1)  # in microseconds
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def whole(frame: nw.DataFrame, name: str, *, source: str) -> nw.Series:
    """The column `name`, without a missing entry."""
    series = column(frame, name, source=source)
    require_present(series, source=source)
    return series


def kind(series: nw.Series, *, source: str) -> Kind:
    """What the entries of a column without missing entries mean."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_numeric():
        return "number"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "category"
    if dtype == nw.Object:
        return _kind_of_objects(series, source)
    raise DataError(
        f"{source}: column {series.name!r}: found {dtype}, "
        "expected numbers, dates, text or booleans; convert the column first."
    )


def numbers(
    series: nw.Series, *, source: str, absent: Bool[np.ndarray, " events"] | None = None
) -> Float[np.ndarray, " events"]:
    """Finite floats; text is read as numbers when every entry is one.

    Args:
        series: The column.
        source: Where it is from, for messages.
        absent: Entries that are missing and may be: they become NaN.
    """
    nowhere = np.zeros(len(series), bool) if absent is None else absent
    require_present(series, source=source, absent=nowhere)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        found = np.asarray(series.cast(nw.Float64).to_numpy(), float)
    else:
        found = np.array(
            [
                np.nan if nowhere[row] else number(series, row, entry, source=source)
                for row, entry in enumerate(series.to_list())
            ]
        )
    for row in np.flatnonzero(~np.isfinite(found) & ~nowhere)[:1].tolist():
        advice = "drop the row or give it a finite value"
        raise misfit(series, row, str(found[row]), "a finite number", advice, source=source)
    return found


def days(series: nw.Series) -> Float[np.ndarray, " events"]:
    """Days since 1970-01-01 in UTC; the time of day is the fraction."""
    if series.dtype == nw.Object:
        return np.array([_microseconds(entry) for entry in series.to_list()]) / _DAY
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    return np.asarray(series.dt.timestamp("us").to_numpy(), float) / _DAY


def missing(series: nw.Series) -> Bool[np.ndarray, " events"]:
    """Where an entry is None, NaN, NA or NaT."""
    absent = series.is_null()
    if series.dtype.is_float():
        absent = absent | series.is_nan()
    return np.asarray(absent.to_numpy(), bool)


def require_present(
    series: nw.Series, *, source: str, absent: Bool[np.ndarray, " events"] | bool = False
) -> None:
    """Refuse the first missing entry, but for those that may be absent."""
    for row in np.flatnonzero(missing(series) & ~np.asarray(absent))[:1].tolist():
        advice = "drop the row or fill it in"
        raise misfit(series, row, "a missing entry", "a value", advice, source=source)


def _kind_of_objects(series: nw.Series, source: str) -> Kind:
    """The one kind that all python objects of a column share."""
    first: Kind | None = None
    for row, entry in enumerate(series.to_list()):
        each = _kind_of(entry)
        first = first or each
        if each is None or each != first:
            expected = _WORDS[first] if first else "a number, date, text or boolean"
            advice = "make the whole column one type first"
            raise misfit(series, row, described(entry), expected, advice, source=source)
    assert first is not None  # a frame without events never comes here
    return first


def _kind_of(entry: Any) -> Kind | None:
    if isinstance(entry, bool | np.bool_):
        return "boolean"
    if isinstance(entry, abstract.Real | decimal.Decimal):
        return "number"
    if isinstance(entry, datetime.date):
        return "date"
    return "category" if isinstance(entry, str) else None


def number(series: nw.Series, row: int, entry: Any, *, source: str) -> float:
    """One entry as a float, which may be infinite or NaN."""
    try:
        if isinstance(entry, str) and "_" in entry:  # python reads 1_0 as ten
            raise ValueError
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        raise misfit(
            series, row, described(entry), "a number", _advice(entry), source=source
        ) from None


def _advice(entry: Any) -> str:
    if isinstance(entry, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", entry):
        return "write a point for the decimal comma"
    if isinstance(entry, str) and re.match(r"\s*\d", entry):
        return "convert the column first, or write the number alone"
    return "convert the column first"


def _microseconds(entry: datetime.date) -> int:
    if not isinstance(entry, datetime.datetime):
        entry = datetime.datetime(entry.year, entry.month, entry.day)
    if entry.tzinfo is None:
        entry = entry.replace(tzinfo=datetime.UTC)
    return (entry - _EPOCH) // datetime.timedelta(microseconds=1)
