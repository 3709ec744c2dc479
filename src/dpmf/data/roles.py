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
    source: str,
) -> Codebook:
    """Check that the parts fit each other and the frame; nothing is numbered yet."""
    _require_lists(inputs=inputs, mirrored=mirrored)
    if not isinstance(value, str | list | tuple):
        raise DataError(f"value={value!r}, expected the name of a column, or a pair of names.")
    values = (value,) if isinstance(value, str) else tuple(value)
    _require_parts(row, col, values, inputs)
    for name in (row, col, *values, *inputs):
        column(frame, name, source=source)
    read = tuple(_input_column(frame, name, source) for name in inputs)
    _require_mirrors(read, mirrored, source)
    return Codebook(row, col, values, inputs=read, mirrored=tuple(mirrored))


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
