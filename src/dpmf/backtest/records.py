"""Finished forecasters on disk, so that a backtest resumes where it stopped."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecaster, Plan
from dpmf.backtest.scoring import Tables
from dpmf.errors import ConfigError, FileError
from dpmf.inference.checkpoint import remove
from dpmf.whole import make_folder, write_whole

TASK = "task.json"
PART = "part-"  # in names of files
MOST = 60  # characters of a forecaster's name in that of its files
DATES = ["cutoff", "date"]
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
# Before version 3.1, pandas read numbers to the last digit only if asked.
EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}


def task(frame: pd.DataFrame, days: Sequence[Cutoff], plan: Plan) -> dict[str, Any]:
    """What all forecasters of a backtest have in common, as plain values."""
    cutoffs = [f"{day.season} {day.start:%Y-%m-%d} {day.stop:%Y-%m-%d}" for day in days]
    return {
        "dpmf": version("dpmf"),
        "games": _digest(frame.to_csv(index=False)),
        "cutoffs": _digest("\n".join(cutoffs)),
        **plan.settings(),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Records:
    """A folder with one pair of tables for each finished forecaster."""

    folder: Path

    @staticmethod
    def opened(folder: Path, wanted: dict[str, Any]) -> "Records":
        """The folder of this very backtest, made if it is not there.

        Raises:
            ConfigError: It holds the results of another one.
            FileError: It cannot be read or written.
        """
        make_folder(folder)
        path = folder / TASK
        plain = json.loads(json.dumps(wanted))
        if path.exists():
            try:
                found = json.loads(path.read_text())
            except (OSError, ValueError) as error:
                raise FileError(f"{path}: cannot be read ({error}).") from error
            known = found if isinstance(found, dict) else {}
            other = [name for name in plain if known.get(name) != plain[name]]
            if other:
                raise ConfigError(
                    f"{folder}: holds a backtest with other {', '.join(other)}; expected the "
                    "same one or an empty folder. Choose another folder, or remove this one."
                )
        write_whole(path, lambda place: place.write_text(json.dumps(plain, indent=1)))
        return Records(folder)

    def found(self, name: str, forecaster: Forecaster, part: str = "") -> Tables | None:
        """Scores and diagnostics of a forecaster that has finished; None if it has not.

        Args:
            name: Of the forecaster.
            forecaster: The one that is meant.
            part: Name of one of its parts, where that alone is meant.
        """
        scores, fits = self._paths(name, forecaster, part)
        if not scores.exists():
            return None
        return Tables(_read(scores), _read(fits) if fits.exists() else pd.DataFrame())

    def keep(self, name: str, forecaster: Forecaster, made: Tables, part: str = "") -> None:
        """Write the tables of a forecaster; that of scores last: it says that all is there."""
        scores_path, fits_path = self._paths(name, forecaster, part)
        if len(made.fits):
            write_table(fits_path, made.fits)
        write_table(scores_path, made.scores)
        if not part:
            self._clear(name, forecaster)

    def _clear(self, name: str, forecaster: Forecaster) -> None:
        """Remove what was kept on the way: checkpoints, and tables of parts."""
        stem = self.stem(name, forecaster)
        for path in stem.parent.glob(f"{stem.name}.*"):
            if path.is_dir():
                remove(path)
            elif path.name.startswith(f"{stem.name}.{PART}"):
                path.unlink()

    def stem(self, name: str, forecaster: Forecaster) -> Path:
        """What the names of a forecaster's files begin with."""
        make_folder(self.folder / "parts")
        spelled = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:MOST]
        own = hashlib.sha256(f"{name} {_identity(forecaster)}".encode()).hexdigest()[:12]
        return self.folder / "parts" / f"{spelled}-{own}"

    def _paths(self, name: str, forecaster: Forecaster, part: str = "") -> tuple[Path, Path]:
        stem, own = self.stem(name, forecaster), f".{PART}{part}" if part else ""
        return stem.with_suffix(f"{own}.scores.csv"), stem.with_suffix(f"{own}.fits.csv")


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, every number with all its digits."""
    write_whole(path, lambda place: table.to_csv(place, index=False))


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, **EXACT)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({error}); remove it.") from error
    for name in DATES:
        if name in table:
            table[name] = pd.to_datetime(table[name])
    return table


def _identity(forecaster: Forecaster) -> str:
    """The settings of a forecaster in words that are the same in every process."""
    if dataclasses.is_dataclass(forecaster):
        # A choice that came later is left out where it is not made: old results stay valid.
        settings = {
            f.name: getattr(forecaster, f.name)
            for f in dataclasses.fields(forecaster)
            if not (f.default is None and getattr(forecaster, f.name) is None)
        }
    else:
        settings = dict(getattr(forecaster, "__dict__", {}))
    parts = [f"{name}={_word(value)}" for name, value in settings.items()]
    return f"{_word(type(forecaster))}({', '.join(parts)})"


def _word(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    if name is None:
        return repr(value)
    if "<lambda>" in name:
        raise ConfigError(
            f"{name}: a function without a name cannot be told apart from another when a "
            "backtest resumes; define it with a name, or leave out the folder."
        )
    return f"{value.__module__}.{name}"
