"""Which column plays which part in; a codebook without names yet out."""

from collections.abc import Iterable, Sequence

import narwhals as nw

from dpmf.data.codebook import Codebook, InputColumn
from dpmf.data.columns import kind, whole
from dpmf.data.frames import column, nearest
from dpmf.errors import DataError


def blank_codebook(
    frame: nw.DataFrame,
    *,
    row: str,
    col: str,
    value: str | Sequence[str],
    inputs: Sequence[str],
    mirrored: Sequence[str],
    row_attributes: Sequence[str],
    col_attributes: Sequence[str],
    source: str,
) -> Codebook:
    """Check that the parts fit each other and the frame; nothing is numbered yet."""
    own = {"row_attributes": row_attributes, "col_attributes": col_attributes}
    _require_lists(inputs=inputs, mirrored=mirrored, **own)
    if not isinstance(value, str | list | tuple):
        raise DataError(f"value={value!r}, expected the name of a column, or a pair of names.")
    values = (value,) if isinstance(value, str) else tuple(value)
    _require_attributes(values, inputs, **own)
    inputs = (*inputs, *row_attributes, *col_attributes)
    _require_parts(row, col, values, inputs)
    for name in (row, col, *values, *inputs):
        column(frame, name, source=source)
    read = tuple(_input_column(frame, name, source) for name in inputs)
    _require_mirrors(read, mirrored, source)
    described = {side: tuple(names) for side, names in own.items()}
    return Codebook(row, col, values, inputs=read, mirrored=tuple(mirrored), **described)


def _input_column(frame: nw.DataFrame, name: str, source: str) -> InputColumn:
    return InputColumn(name, kind(whole(frame, name, source=source), source=source))


def _require_lists(**lists: Sequence[str]) -> None:
    for argument, names in lists.items():
        if not isinstance(names, Iterable):
            raise DataError(f"{argument}={names!r}, expected a list of names of columns.")
        if isinstance(names, str):
            raise DataError(
                f"{argument}={names!r}: found one name, expected a list; "
                f"write {argument}=[{names!r}]."
            )


def _require_parts(row: str, col: str, values: tuple[str, ...], inputs: Sequence[str]) -> None:
    """Each column plays one part; only an input may describe a member by its name."""
    if row == col:
        raise DataError(
            f"row and col are both the column {row!r}, expected two different columns."
        )
    if len(values) not in (1, 2):
        raise DataError(f"value names {len(values)} columns, expected one column or two.")
    if len(values) == 2 and values[0] == values[1]:
        raise DataError(
            f"both values are the column {values[0]!r}, expected two different columns; "
            f"for one value per event write value={values[0]!r}."
        )
    for name in _shared(values, (row, col)):
        raise DataError(f"the column {name!r} is both a value and a name of members.")
    for name in _shared(values, inputs):
        raise DataError(
            f"the column {name!r} is both a value and an input; "
            "an input must be known before the value."
        )
    for name in inputs:
        if list(inputs).count(name) > 1:
            raise DataError(f"inputs names the column {name!r} more than once.")


def _require_attributes(
    values: tuple[str, ...], inputs: Sequence[str], **attributes: Sequence[str]
) -> None:
    """An attribute is named once, and describes one side."""
    rows, cols = attributes.values()
    if len(values) == 2 and (rows or cols):
        raise DataError(
            f"attributes {', '.join(map(repr, (*rows, *cols)))}: events have two values, whose "
            "cells swap row and column, expected one value per event; a column of such an "
            "event describes one of its two members. Name it in inputs= instead."
        )
    for name in _shared((*rows, *cols), inputs):
        raise DataError(
            f"the column {name!r} is both an input and an attribute of a member, expected one "
            "of them; an attribute is an input already."
        )
    for name in _shared(rows, cols):
        raise DataError(
            f"the column {name!r} is both in row_attributes and in col_attributes, expected "
            "one of them: it describes the row or the column."
        )


def _require_mirrors(
    inputs: tuple[InputColumn, ...], mirrored: Sequence[str], source: str
) -> None:
    kinds = {column.name: column.kind for column in inputs}
    for name in mirrored:
        if name not in kinds:
            raise DataError(
                f"mirrored {name!r} is not among the inputs. {nearest(name, kinds)}"
            )
        if kinds[name] != "number":
            raise DataError(
                f"{source}: column {name!r}: found the kind {kinds[name]!r}, expected numbers, "
                "since a mirrored input changes sign; code it as numbers such as 0.5 and -0.5."
            )


def _shared(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return [name for name in first if name in set(second)]
