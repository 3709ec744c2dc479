"""A file of games, or standard input, in; a frame of what it holds out."""

import importlib
import io
import sys
import warnings
import zlib
from collections.abc import Mapping
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pandas as pd

from dpmf.errors import ConfigError, DataError, UnreadableFile
from dpmf.sports.columns import team_columns, told_apart

NOTHING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"]
STDIN = "-"
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"  # how such files begin


def source_of(path: Any) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == STDIN else str(path)


def read_table(path: Any, columns: Mapping[str, str] | None = None) -> Any:
    """A table as a pandas or polars frame.

    Args:
        path: A CSV file, which may be compressed, a Parquet file, or "-" for standard input.
        columns: Standard name -> name in the file, for the columns that have another.

    Raises:
        UnreadableFile: It cannot be read.
        DataError: It holds no table.
        ConfigError: Nothing is installed that reads such a file.
    """
    source = source_of(path)
    try:
        place = _standard_input() if str(path) == STDIN else Path(path)
        if _is_parquet(place):
            return _parquet(place, source)
        return _csv(place, columns, source)
    except (TypeError, pd.errors.ParserWarning) as error:
        raise DataError(f"{source}: this is no CSV table ({error}).") from error
    except (DataError, ConfigError):
        raise
    except UnicodeDecodeError as error:
        raise DataError(
            f"{source}: found bytes that are no UTF-8 text ({error.reason} at byte "
            f"{error.start}), expected a CSV file in UTF-8; save it so."
        ) from error
    except (OSError, EOFError, ImportError, zlib.error, BadZipFile, LZMAError) as error:
        raise UnreadableFile(f"{source}: cannot be read ({error}).") from error
    except ValueError as error:  # what pandas raises for anything that is no table
        raise DataError(f"{source}: this is no CSV table ({error}).") from error


def _standard_input() -> io.BytesIO:
    given = getattr(sys.stdin, "buffer", None)
    return io.BytesIO(given.read() if given else sys.stdin.read().encode())


def _is_parquet(place: Path | io.BytesIO) -> bool:
    if isinstance(place, io.BytesIO):
        return place.getvalue().startswith(_PARQUET)
    return place.suffix.lower() in (".parquet", ".pq")


def _parquet(place: Path | io.BytesIO, source: str) -> Any:
    """By whichever package is there: dpmf itself needs none of them."""
    for package, read in (("pyarrow", pd.read_parquet), ("polars", _by_polars)):
        try:
            importlib.import_module(package)
        except ImportError:
            continue
        try:
            return read(place)
        except OSError:
            raise
        except Exception as error:  # each package has its own
            raise DataError(f"{source}: this is no Parquet table ({error}).") from error
    raise ConfigError(f"{source}: a Parquet file needs pyarrow or polars; pip install pyarrow.")


def _by_polars(place: Path | io.BytesIO) -> Any:
    return importlib.import_module("polars").read_parquet(place)


def _csv(place: Path | io.BytesIO, columns: Mapping[str, str] | None, source: str) -> Any:
    how: dict[str, Any] = {"index_col": False}
    if isinstance(place, io.BytesIO) and place.getvalue().startswith(_GZIP):
        how["compression"] = "gzip"
    header = pd.read_csv(_again(place), header=None, nrows=1, dtype=str, **how)
    names = told_apart([str(name) for name in header.iloc[0].dropna()])
    _require_once(names, source)
    teams = team_columns(names, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # The name of a team is the text in the file: 01 is not 1, and NA may be a team.
        return pd.read_csv(
            _again(place),
            **how,
            **({"names": names, "header": 0} if len(names) == header.shape[1] else {}),
            dtype=dict.fromkeys(teams, str),
            keep_default_na=False,
            na_values={name: [""] if name in teams else NOTHING for name in names},
        )


def _again(place: Path | io.BytesIO) -> Path | io.BytesIO:
    """The same bytes from their beginning."""
    return io.BytesIO(place.getvalue()) if isinstance(place, io.BytesIO) else place


def _require_once(names: list[str], source: str) -> None:
    """Refuse a name that is there twice; pandas would rename the second."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"{source}: the column {twice[0]!r} is there twice, expected it once.")
