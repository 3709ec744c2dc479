"""Time across seasons, where an off-season lasts as long as the data say it does."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dpmf.errors import ConfigError, DataError
from dpmf.kernels.bounds import (
    IF_CONSTANT,
    Bounds,
    BoundsArgument,
    checked,
    finest_spacing,
    log_uniform,
    shortest_length,
    training_column,
)
from dpmf.kernels.labels import label
from dpmf.kernels.registry import replaced
from dpmf.kernels.warp import Warp, named_columns
from dpmf.priors import Prior
from dpmf.types import pytree_dataclass

Lengths = tuple[tuple[float, float], ...]  # (season, its length), by season


@pytree_dataclass
class SeasonClock:
    """From (season, week) to time: the week plus all earlier known seasons and their gaps."""

    seasons: Float[Array, " seasons"]
    lengths: Float[Array, " seasons"]  # in the unit of the week
    last: Float[Array, ""]  # of the seasons; infinite where there is none
    typical: Float[Array, ""]  # of the lengths
    gap: Float[Array, ""]  # of every off-season, in the unit of the week

    def __call__(self, row: Float[Array, " 2"]) -> Float[Array, " 1"]:
        season, week = row
        start = jnp.sum(jnp.where(self.seasons < season, self.lengths + self.gap, 0.0))
        # Seasons between the last known one and this one count like the typical one.
        unknown = jnp.maximum(season - self.last - 1, 0.0)
        return (start + week + unknown * (self.typical + self.gap))[None]


@dataclasses.dataclass(frozen=True, init=False)
class SeasonGap(Warp):
    """Weeks since the season's first game, plus every earlier season and a learned gap.

    Seasons seen in training keep their place when later ones come.
    """

    season: str
    week: str
    gap: tuple[Bounds, ...]
    lengths: Lengths | None  # None: not known yet

    def __init__(
        self,
        season: str,
        week: str,
        gap: BoundsArgument = (0.5, 150.0),
        lengths: Mapping[Any, Any] | Sequence[Any] | None = None,
    ) -> None:
        """Name what it reads.

        Args:
            season: Column with the season, a number that grows.
            week: Column with the time since the season's first game, from 0.
            gap: Bounds of the off-season's effective length, in the unit of `week`.
            lengths: Length of each known season; found from the training inputs if left out.
        """
        owner = type(self).__name__
        named_columns(owner, (season, week))
        object.__setattr__(self, "season", season)
        object.__setattr__(self, "week", week)
        object.__setattr__(
            self, "gap", checked(owner, "gap", (0.5, 150.0) if gap is None else gap, 1)
        )
        object.__setattr__(self, "lengths", _checked_lengths(owner, lengths))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.season, self.week)

    @property
    def width(self) -> int:
        return 1

    def priors(self) -> dict[str, Prior]:
        return {label(self.columns, "gap"): log_uniform(str(self), "gap", self.gap)}

    def at(self, theta: Mapping[str, Array]) -> SeasonClock:
        if self.lengths is None:
            raise ConfigError(
                f"{self}: the lengths of the seasons are not known yet; give "
                "lengths={season: length}, or call bounded(inputs) to find them."
            )
        seasons, lengths = np.array(self.lengths, dtype=float).reshape(-1, 2).T
        # Found here rather than by the clock: sorting takes long to compile.
        last, typical = (seasons.max(), np.median(lengths)) if seasons.size else (np.inf, 0.0)
        return SeasonClock(
            jnp.asarray(seasons),
            jnp.asarray(lengths),
            jnp.asarray(last),
            jnp.asarray(typical),
            theta[label(self.columns, "gap")][0],
        )

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> "SeasonGap":
        if self.lengths is not None:
            return self
        return replaced(self, lengths=season_lengths(*self._training(inputs)))

    def length_bounds(self, inputs: Mapping[str, np.ndarray]) -> tuple[Bounds, ...]:
        season, week = self._training(inputs)
        time = self._typical_time(season, week)
        spread = float(np.ptp(time)) if time.size else 0.0
        if spread == 0:
            return (IF_CONSTANT,)
        spacing = min(finest_spacing(week[season == s]) for s in np.unique(season))
        if math.isinf(spacing):  # one week in each season
            spacing = finest_spacing(time)
        return ((shortest_length(time, spacing), 10 * spread),)

    def _typical_time(self, season: np.ndarray, week: np.ndarray) -> np.ndarray:
        """Warped time with the gap in the middle of its bounds, on the log scale."""
        (low, high) = self.gap[0]
        known, lengths = np.array(self.lengths or (), dtype=float).reshape(-1, 2).T
        earlier = known[None] < season[:, None]
        return week + (earlier * (lengths + math.sqrt(low * high))[None]).sum(axis=1)

    def _training(self, inputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        season, week = (training_column(str(self), inputs, name) for name in self.columns)
        if (week < 0).any():
            raise DataError(
                f"{self}: column {self.week!r} goes down to {week.min():g}; expected the time "
                "since the season's first game, from 0."
            )
        return season, week


def season_lengths(season: np.ndarray, week: np.ndarray) -> Lengths:
    """Each season's last week seen; for the latest, which may go on, at least the median."""
    lengths = {float(s): float(week[season == s].max()) for s in np.unique(season)}
    if len(lengths) > 1:
        *earlier, latest = lengths
        lengths[latest] = max(lengths[latest], float(np.median([lengths[s] for s in earlier])))
    return tuple(lengths.items())


def _checked_lengths(owner: str, given: Any) -> Lengths | None:
    if given is None:
        return None
    try:
        pairs = given.items() if isinstance(given, Mapping) else given
        lengths = tuple(sorted((float(season), float(length)) for season, length in pairs))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{owner}: lengths is {given!r}; expected the length of each season, such as "
            "{2008: 24, 2009: 24}."
        ) from None
    for season, length in lengths:
        if not (math.isfinite(season) and math.isfinite(length) and length >= 0):
            raise ConfigError(
                f"{owner}: season {season:g} has length {length:g}; expected a finite length, "
                "0 or more."
            )
    if len(dict(lengths)) < len(lengths):
        raise ConfigError(f"{owner}: lengths {given!r} repeat a season; expected each once.")
    return lengths
