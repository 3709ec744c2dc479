"""Bounds of positive hyperparameters: checked where a user gives them, else from the data."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpmf.errors import ConfigError, DataError
from dpmf.priors import LogUniform

Bounds = tuple[float, float]
BoundsArgument = Sequence[Any] | None  # (low, high), or one such pair per column

FEW_LEVELS = 8  # up to this many distinct values, levels may be independent of each other
IF_CONSTANT: Bounds = (0.1, 10.0)  # for the length of a column that never changes


def checked(
    owner: str, name: str, given: BoundsArgument, width: int
) -> tuple[Bounds, ...] | None:
    """One pair of bounds per warped column; a single pair serves for all of them.

    Raises:
        ConfigError: The bounds are no (low, high) with 0 < low < high < infinity.
    """
    if given is None:
        return None
    pairs = [given] * width if _is_pair(given) else _sequence(given)
    if len(pairs) != width or not all(_is_pair(pair) for pair in pairs):
        raise ConfigError(
            f"{owner}: {name} bounds are {given!r}; expected one pair (low, high), or {width} "
            "of them, one per column."
        )
    return tuple(_ordered(owner, name, pair) for pair in pairs)


def log_uniform(owner: str, name: str, bounds: tuple[Bounds, ...] | None) -> LogUniform:
    """The prior within the bounds.

    Raises:
        ConfigError: The bounds are not known yet.
    """
    if bounds is None:
        raise ConfigError(
            f"{owner}: {name} has no bounds yet; give {name}=(low, high), or call "
            "bounded(inputs) to find them from the training inputs."
        )
    low, high = zip(*bounds, strict=True)
    return LogUniform(low, high)


def length_bounds(values: np.ndarray) -> Bounds:
    """Bounds of a length scale: what the spacing can tell, to ten times the range."""
    spread = float(np.ptp(values)) if values.size else 0.0
    if spread == 0:
        return IF_CONSTANT
    return max(shortest_length(values, finest_spacing(values)), spread / 1000), 10 * spread


def shortest_length(values: np.ndarray, spacing: float) -> float:
    """The shortest length scale worth considering.

    A function of time that forgets everything between neighbouring inputs is noise, which
    the likelihood has already: left in, it is a second mode where the noise has gone over
    into the functions. Between a few levels (home and away) independence has a meaning.
    """
    few = len(np.unique(values)) <= FEW_LEVELS
    return spacing / 2 if few else 2 * spacing


def finest_spacing(values: np.ndarray) -> float:
    """Smallest positive difference between two values; infinity if all are equal."""
    return float(np.min(np.diff(np.unique(values)), initial=np.inf))


def training_column(owner: str, inputs: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """The values of one input column at the training cells.

    Raises:
        DataError: The column is missing or has values that are not finite.
    """
    if name not in inputs:
        raise DataError(
            f"{owner}: there is no input column {name!r}; the data have "
            f"{', '.join(map(repr, inputs)) or 'none'}."
        )
    values = np.asarray(inputs[name], dtype=float)
    if not np.isfinite(values).all():
        count = int((~np.isfinite(values)).sum())
        raise DataError(
            f"{owner}: input column {name!r} has {count} values that are missing or infinite; "
            "drop or fill them."
        )
    return values


def _sequence(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else []


def _is_pair(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(isinstance(end, int | float | np.number) for end in given)
    )


def _ordered(owner: str, name: str, pair: Any) -> Bounds:
    low, high = float(pair[0]), float(pair[1])
    if not (0 < low < high and math.isfinite(high)):
        raise ConfigError(
            f"{owner}: {name} bounds are ({low:g}, {high:g}); expected 0 < low < high, both "
            "finite, such as (0.1, 10)."
        )
    return low, high
