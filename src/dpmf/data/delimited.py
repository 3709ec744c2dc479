"""The text of a CSV file in; names, fields and the lines they are on out.

Nothing is guessed from what is in the fields: they stay text. A row that has more or fewer
fields than the header is refused, and so is a quote that nothing closes.
"""

import contextlib
import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dpmf.errors import DataError
from dpmf.shown import shown

SEPARATORS = ",;\t|"
_QUOTE = '"'


class Delimited(NamedTuple):
    """A table of text."""

    names: list[str]  # of the columns, without spaces around them
    rows: list[list[str]]  # each as long as `names`
    lines: list[int]  # on which each row begins, counted from 1


class _Broken(NamedTuple):
    line: int  # of the record
    column: int  # counted from 0
    found: str


def delimited(text: str, *, source: str) -> Delimited:
    """Read a table of text.

    The separator is the comma; a header that has no comma may have semicolons, tabs or
    vertical bars. Lines without anything in them are left out.

    Args:
        text: Of a whole file.
        source: Its name, for messages.

    Raises:
        DataError: It is no table; the message says where.
    """
    if "\0" in text:
        raise DataError(
            f"{source}: {ending(text[: text.index(chr(0))])}: found a NUL character, expected "
            "text; save the file in UTF-8."
        )
    records = _records(text, _separator(text), source)
    header = next(records, None)
    if header is None:
        raise DataError(f"{source}: this is no CSV table (it is empty).")
    names = [name.strip() or f"column {place + 1}" for place, name in enumerate(header[1])]
    unnamed = {place for place, name in enumerate(header[1]) if not name.strip()}
    rows, lines = [], []
    for line, fields in records:
        if len(fields) != len(names):
            fields = _mended(fields, names, unnamed, line, source)
        rows.append(fields)
        lines.append(line)
    return Delimited(names, rows, lines)


def ending(text: str) -> str:
    """Where a text that breaks off ends, as messages say it."""
    records: list[list[str]] = [[""]]
    lines = sum(1 for _ in io.StringIO(text + "?", newline=""))
    with contextlib.suppress(csv.Error):  # a field that is too long: there is still the line
        records = [fields for _, fields in _read(text + "?", _separator(text), strict=False)]
    names = records[0] if len(records) > 1 else []
    return f"line {lines}, column {_named(names, len(records[-1]) - 1)}"


def _separator(text: str) -> str:
    """The one that splits the header, which is the first line with something in it."""
    header = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    parts = {}
    for one in SEPARATORS:
        try:
            parts[one] = len(next(csv.reader([header], delimiter=one), []))
        except csv.Error:  # a field that is too long
            parts[one] = 1
    return "," if parts[","] > 1 else max(SEPARATORS, key=lambda one: parts[one])


def _read(text: str, separator: str, *, strict: bool) -> Iterator[tuple[int, list[str]]]:
    """Records that hold anything, each with the line on which it begins."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        strict=strict,
    )
    line = 1
    for fields in reader:
        if any(fields) and any(map(str.strip, fields)):
            yield line, fields
        line = reader.line_num + 1


def _records(text: str, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    names: list[str] = []
    after = 0  # lines that were read
    try:
        for line, fields in _read(text, separator, strict=True):
            names = names or [name.strip() for name in fields]
            after = line
            yield line, fields
    except csv.Error:
        broken = _broken(text, after, separator)
        raise DataError(
            f"{source}: line {broken.line}, column {_named(names, broken.column)}: found "
            f"{broken.found}, expected text within one pair of quotes, or none; a quote inside "
            "of a quoted text is written twice."
        ) from None


def _named(names: Sequence[str], column: int) -> str:
    return shown(names[column]) if column < len(names) else str(column + 1)


def _mended(
    fields: list[str], names: list[str], unnamed: set[int], line: int, source: str
) -> list[str]:
    """The fields of a row that has empty ones too many, or none for columns without names."""
    count = len(names)
    if len(fields) > count and not any(map(str.strip, fields[count:])):
        return fields[:count]
    if len(fields) < count and unnamed.issuperset(range(len(fields), count)):
        return fields + [""] * (count - len(fields))
    if len(fields) > count:
        place = next(place for place in range(count, len(fields)) if fields[place].strip())
        raise DataError(
            f"{source}: line {line}, column {place + 1}: found {shown(fields[place])} after "
            f"the last column {shown(names[-1])}, expected {count} fields as in the header; "
            "put quotes around a field that holds the separator."
        )
    raise DataError(
        f"{source}: line {line}, column {shown(names[len(fields)])}: found the end of the row "
        f"after {len(fields)} fields, expected {count} as in the header."
    )


def _broken(text: str, after: int, separator: str) -> _Broken:
    """The first field from a line on that follows no rule of quoting, found slowly."""
    before = itertools.islice(io.StringIO(text, newline=""), max(after - 1, 0))
    line, opened, column, length, state = max(after, 1), 1, 0, 0, "start"
    limit, previous = csv.field_size_limit(), ""
    for character in itertools.islice(text, sum(map(len, before)), None):
        if state == "quoted":
            state = "closed" if character == _QUOTE else "quoted"
        elif state == "closed" and character == _QUOTE:
            state = "quoted"
        elif character in "\r\n":
            column, state, length = 0, "start", 0
        elif character == separator:
            column, state, length = column + 1, "start", 0
        elif state == "closed":
            return _Broken(opened, column, f"{character!r} after a closing quote")
        elif state == "start" and character == _QUOTE:
            state, opened = "quoted", line
        elif not (state == "start" and character == " "):
            state = "plain"
        length += 1
        if length > limit:
            where = line if state == "plain" else opened
            return _Broken(where, column, f"more than {limit:,} characters")
        if character == "\r" or (character == "\n" and previous != "\r"):
            line += 1
        previous = character
    return _Broken(opened, column, "a quote that is never closed")
