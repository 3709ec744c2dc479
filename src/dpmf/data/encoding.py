"""A frame and a codebook in; arrays out, and the codebook grown by what is new."""

from collections.abc import Mapping
from dataclasses import replace

import narwhals as nw
import numpy as np
from jaxtyping import Float, Int

from dpmf.data import columns, names
from dpmf.data.codebook import Codebook, InputColumn
from dpmf.data.frames import column, misfit
from dpmf.errors import DataError


def members(
    frame: nw.DataFrame, codebook: Codebook, *, source: str
) -> tuple[Codebook, Int[np.ndarray, "events pair"], Int[np.ndarray, "events pair"]]:
    """The rows and columns of every cell; members not seen before are appended."""
    if codebook.pair == 2:
        return _opponents(frame, codebook, source)
    row_series = columns.whole(frame, codebook.row, source=source)
    col_series = columns.whole(frame, codebook.col, source=source)
    row_names, rows = names.codes(row_series, codebook.row_names, source=source)
    col_names, cols = names.codes(col_series, codebook.col_names, source=source)
    codebook = replace(codebook, row_names=row_names, col_names=col_names)
    return codebook, rows[:, None], cols[:, None]


def inputs(
    frame: nw.DataFrame,
    codebook: Codebook,
    recalled: Mapping[str, Float[np.ndarray, " events"]],
    *,
    source: str,
) -> tuple[Codebook, Float[np.ndarray, "events pair columns"]]:
    """The side information of every cell; new category levels are appended.

    Args:
        frame: The events.
        codebook: What its columns mean.
        recalled: Encoded columns that the frame need not have.
        source: Where it came from.
    """
    grown, found = [], np.empty((len(frame), codebook.pair, len(codebook.inputs)))
    for place, known in enumerate(codebook.inputs):
        if known.name in recalled:
            seen, encoded = known, recalled[known.name]
        else:
            series = columns.whole(frame, known.name, source=source)
            seen, encoded = _encoded(series, known, source)
        sign = -1.0 if known.name in codebook.mirrored else 1.0
        found[:, 0, place] = encoded
        found[:, 1:, place] = sign * encoded[:, None]
        grown.append(seen)
    # + 0.0 turns -0.0 into 0.0, so that a mirrored neutral venue equals itself.
    return replace(codebook, inputs=tuple(grown)), found + 0.0


def values(
    frame: nw.DataFrame, codebook: Codebook, *, source: str, optional: bool
) -> Float[np.ndarray, "events pair"]:
    """The observed values; NaN throughout where they are optional and absent."""
    unknown = np.full((len(frame), codebook.pair), np.nan)
    if optional and not set(codebook.value) & set(frame.columns):
        return unknown
    found = [column(frame, name, source=source) for name in codebook.value]
    if optional and all(columns.missing(series).all() for series in found):
        return unknown
    return np.stack([columns.numbers(series, source=source) for series in found], axis=1)


def _opponents(
    frame: nw.DataFrame, codebook: Codebook, source: str
) -> tuple[Codebook, Int[np.ndarray, "events 2"], Int[np.ndarray, "events 2"]]:
    """One set of names for both sides, counted event by event: row, then column."""
    known = codebook.row_names
    sides = [columns.whole(frame, name, source=source) for name in (codebook.row, codebook.col)]
    found = zip(*(names.names(side, known, source=source) for side in sides), strict=True)
    every, index = names.placed((name for event in found for name in event), known)
    rows = index.reshape(-1, 2)
    for row in np.flatnonzero(rows[:, 0] == rows[:, 1])[:1].tolist():
        same = repr(every[rows[row, 0]])
        expected = f"a name other than the one in column {codebook.row!r}"
        raise misfit(sides[1], row, same, expected, "correct or drop the row", source=source)
    return replace(codebook, row_names=every, col_names=every), rows, rows[:, ::-1].copy()


def _encoded(
    series: nw.Series, known: InputColumn, source: str
) -> tuple[InputColumn, Float[np.ndarray, " events"]]:
    """One input column as floats, read as the kind that training found."""
    if known.kind == "category":
        levels, index = names.codes(series, known.levels, source=source)
        return replace(known, levels=levels), index.astype(float)
    found = columns.kind(series, source=source)
    alike = {found, known.kind} <= {"number", "boolean"}
    if found != known.kind and not alike:
        raise DataError(
            f"{source}: column {known.name!r}: found the kind {found!r}, expected "
            f"{known.kind!r} as in training; convert the column first."
        )
    if known.kind == "date":
        return known, columns.days(series)
    encoded = columns.numbers(series, source=source)
    neither = (known.kind == "boolean") & (encoded != 0) & (encoded != 1)
    for row in np.flatnonzero(neither)[:1].tolist():
        expected = "0 or 1, since training held booleans"
        advice = "convert the column first"
        raise misfit(series, row, str(encoded[row]), expected, advice, source=source)
    return known, encoded
