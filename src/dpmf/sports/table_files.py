"""A file of games, or standard input, in; a frame of what it holds out."""

import importlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpmf.data.decoded import decoded
from dpmf.data.delimited import delimited
from dpmf.data.file_bytes import STDIN, file_bytes, source_of
from dpmf.data.places import FileSource
from dpmf.errors import ConfigError, DataError
from dpmf.shown import shown
from dpmf.sports.columns import team_columns, told_apart

NOTHING = {"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"}
_PARQUET = b"PAR1"  # how such files begin


class TableFile(NamedTuple):
    """What a file holds."""

    frame: Any  # pandas or polars
    source: str  # what messages call the file; that of a CSV file knows its lines


def read_table(path: Any, columns: Mapping[str, str] | None = None) -> TableFile:
    """A table as a pandas or polars frame.

    Args:
        path: A CSV file, which may be compressed, a Parquet file, or "-" for standard input.
        columns: Standard name -> name in the file, for the columns that have another.

    Raises:
        UnreadableFile: It cannot be read.
        DataError: It holds no table.
        ConfigError: Nothing is installed that reads such a file.
    """
    source, raw = source_of(path), file_bytes(path)
    named = str(path) != STDIN and Path(path).suffix.lower() in (".parquet", ".pq")
    if named or raw.startswith(_PARQUET):
        return TableFile(_parquet(raw, source), source)
    return _csv(raw, columns, source)


def _parquet(raw: bytes, source: str) -> Any:
    """By whichever package is there: dpmf itself needs none of them."""
    for package, read in (("pyarrow", pd.read_parquet), ("polars", _by_polars)):
        try:
            importlib.import_module(package)
        except ImportError:
            continue
        try:
            return read(io.BytesIO(raw))
        except BaseException as error:  # each has its own; a panic of polars is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise DataError(f"{source}: this is no Parquet table ({error}).") from error
    raise ConfigError(f"{source}: a Parquet file needs pyarrow or polars; pip install pyarrow.")


def _by_polars(place: io.BytesIO) -> Any:
    return importlib.import_module("polars").read_parquet(place)


def _csv(raw: bytes, columns: Mapping[str, str] | None, source: str) -> TableFile:
    """Every field as the text that it is: 01 is not 1, and NA may be a team."""
    table = delimited(decoded(raw, source=source), source=source)
    names = told_apart(table.names)
    _require_once(names, source)
    teams = set(team_columns(names, columns))
    fields = zip(*table.rows, strict=True) if table.rows else [()] * len(names)
    held = {
        name: [
            None if one == "" or (name not in teams and one.strip() in NOTHING) else one
            for one in column
        ]
        for name, column in zip(names, fields, strict=True)
    }
    return TableFile(pd.DataFrame(held, dtype=object), FileSource(source, table.lines))


def _require_once(names: list[str], source: str) -> None:
    """Refuse a name that is there twice."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(
            f"{source}: the column {shown(twice[0])} is there twice, expected it once."
        )
