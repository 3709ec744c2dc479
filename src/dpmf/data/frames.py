"""A pandas or polars frame in; its columns by name out, or an error that helps."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import narwhals as nw
from narwhals.dependencies import is_pandas_dataframe

from dpmf.data.places import place
from dpmf.errors import DataError
from dpmf.shown import listed, shown


def opened(frame: Any, *, source: str) -> nw.DataFrame:
    """The frame behind one interface, with at least one event and unambiguous columns."""
    if is_pandas_dataframe(frame):  # the only one where a name may come twice
        _require_different(frame.columns, source)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(_not_a_frame(frame, source)) from None
    if not (table.implementation.is_pandas() or table.implementation.is_polars()):
        raise DataError(_not_a_frame(frame, source))
    if len(table) == 0:
        raise DataError(
            f"{source}: there are no events, expected one in each row of the frame."
        )
    return table


def column(frame: nw.DataFrame, name: str, *, source: str) -> nw.Series:
    """The column `name`, or an error that helps to find the right one."""
    if name not in frame.columns:
        hint = nearest(name, frame.columns)
        raise DataError(f"{source}: there is no column {name!r}. {hint}")
    return frame[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that points from a name that does not exist to one that does."""
    names = [str(each) for each in known]
    close = difflib.get_close_matches(str(name), [n for n in names if len(n) < 200], n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"It has {listed(names)}." if names else "It has none."


def misfit(
    series: nw.Series, row: int, found: str, expected: str, advice: str, *, source: str
) -> DataError:
    """The error for one bad entry; `row` counts from 0."""
    return DataError(
        f"{place(source, row)}, column {series.name!r}: found {found}, "
        f"expected {expected}; {advice}."
    )


def described(entry: Any) -> str:
    """An entry as a message shows it, with its type."""
    kind = "text" if isinstance(entry, str) else type(entry).__name__
    return f"{shown(entry)} ({kind})"


def _require_different(names: Iterable[str], source: str) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise DataError(
                f"{source}: {times} columns are named {name!r}, expected different names; "
                "rename or drop all but one of them."
            )


def _not_a_frame(frame: Any, source: str) -> str:
    kind = type(frame)
    hint = " Call .collect() first." if kind.__name__ == "LazyFrame" else ""
    return (
        f"{source}: found {kind.__module__}.{kind.__qualname__}, "
        f"expected a pandas or polars DataFrame.{hint}"
    )
