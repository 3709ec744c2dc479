"""A finite basis for kernels of one column, in place of points: period, order and domain."""

import dataclasses
from typing import Any

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Key

from dpmf.data import Dyads
from dpmf.errors import ConfigError, DataError
from dpmf.kernels import Kernel, Periodic
from dpmf.kernels.factor import JITTER
from dpmf.model.basis_error import Fineness, fineness
from dpmf.model.gather import lookup
from dpmf.model.harmonics import KNOWN, series_of, waves
from dpmf.model.lists import lists
from dpmf.model.points import Points, Widening
from dpmf.model.series import Series
from dpmf.model.state import Theta
from dpmf.model.tables import places, tables
from dpmf.types import pytree_dataclass

HORIZON = 0.25  # of the training range that predictions may lie before or after it
SUMMED = 1  # power of a member's number of inputs that they cost
CLOSE = 4  # values per function at which one basis takes over from another


@pytree_dataclass
class SeriesWidening(Widening):
    """Known members keep their coefficients, whatever the inputs; new ones have fresh ones."""

    members: int = dataclasses.field(metadata={"static": True})

    def widened(
        self,
        white: Float[Array, "rank members functions"],
        kernel: Kernel,
        theta: Theta,
        key: Key[Array, ""],
    ) -> Float[Array, "rank more_members functions"]:
        fresh = jr.normal(key, (white.shape[0], self.members, white.shape[2]))
        return fresh.at[:, : white.shape[1]].set(white)


@dataclasses.dataclass(frozen=True)
class Basis(Points):
    """Waves of one period, as many as the shortest length scale needs."""

    kernel: Kernel
    low: float  # inputs that it serves
    high: float
    period: float
    order: int

    @property
    def column(self) -> str:
        """The column that it reads."""
        return self.kernel.columns[0]

    def laid(
        self, data: Dyads, member: Int[np.ndarray, " cells"], members: int
    ) -> tuple["Basis", Series]:
        at = data.column(self.column).reshape(-1)
        self._require_inside(at)
        own, place = lists((self.column,), member, at[:, None])
        each = tables(own.member, SUMMED)
        first = [np.where(t.point < len(own.member), t.point, t.point[:, :1]) for t in each]
        shown = tuple(jax.device_put(self.waves(own.inputs[point, 0])) for point in first)
        rows = np.concatenate([np.zeros(0, int), *(one.members for one in each)])
        cells = places(each, len(own.member))[place]
        size = sum(one.point.size for one in each)
        laid = lookup(rows, members), lookup(cells, size), members, self.period, self.order
        return self, Series(shown, *laid)

    def waves(self, at: Float[np.ndarray, "*points"]) -> Float[np.ndarray, "*points functions"]:
        """The functions at given inputs."""
        return waves(at - self.middle, self.period, self.order)

    @property
    def middle(self) -> float:
        """Where all sines are 0: precise, however far from 0 the inputs are."""
        return (self.low + self.high) / 2 if np.isfinite(self.low) else 0.0

    def _require_inside(self, at: Float[np.ndarray, " cells"]) -> None:
        outside = at[(at < self.low) | (at > self.high)]
        if outside.size:
            raise DataError(
                f"inputs='basis': column {self.column!r} holds {outside[0]:g}, outside of "
                f"{self.low:g} to {self.high:g}, which the basis serves: the training inputs "
                "and a quarter of their range to either side. Fit again with later events, or "
                "with inputs='member', which has no such limit."
            )

    def over(self, data: Dyads, member: Int[np.ndarray, " cells"]) -> "Basis":
        at = data.column(self.column)
        inside = bool(((at >= self.low) & (at <= self.high)).all())
        return self if inside else basis(self.kernel, data)[0]

    def only(self, members: Int[np.ndarray, " some"]) -> "Basis":
        return self  # all members have the same waves

    def widening(self, wider: "Basis", members: int) -> SeriesWidening:
        return SeriesWidening(members)

    def carried(
        self,
        white: Float[np.ndarray, "rank members functions"],
        kernel: Kernel,
        theta: Theta,
        new: "Basis",
        members: Int[np.ndarray, " new_members"],
        generator: np.random.Generator,
    ) -> Float[np.ndarray, "rank new_members new_functions"]:
        """Coefficients as they are, or drawn given the values on what both bases serve."""
        known = np.flatnonzero(members >= 0)
        fresh = generator.standard_normal((len(white), len(members), 2 * new.order + 1))
        kept = white[:, members[known]]
        same = (self.period, self.order, self.middle) == (new.period, new.order, new.middle)
        fresh[:, known] = kept if same else self._values_kept(kept, theta, new, fresh[:, known])
        return fresh

    def _values_kept(self, white, theta: Theta, new: "Basis", fresh) -> np.ndarray:
        """Matheron's rule, with the jitter as noise of the values."""
        low, high = max(self.low, new.low), min(self.high, new.high)
        if low >= high:
            return fresh
        at = np.linspace(low, high, CLOSE * (2 * new.order + 1))
        old, drawn = (one.matrix(theta, at) for one in (self, new))
        found = []
        for k in range(len(white)):
            error = white[k] @ old[k].T - fresh[k] @ drawn[k].T
            gram = drawn[k].T @ drawn[k] + JITTER * np.eye(drawn.shape[2])
            found.append(fresh[k] + np.linalg.solve(gram, drawn[k].T @ error.T).T)
        return np.stack(found)

    def matrix(
        self, theta: Theta, at: Float[np.ndarray, " values"]
    ) -> Float[np.ndarray, "rank values functions"]:
        """From white of one member to its values."""
        nothing = lookup(np.zeros(0, int), 1)
        series = Series((), nothing, nothing, 1, self.period, self.order)
        scale = np.asarray(series.factors(self.kernel, theta))
        return self.waves(at)[None] * scale[:, None]

    def plain(self) -> tuple[Any, tuple[np.ndarray, ...]]:
        numbers = np.array([self.low, self.high, self.period])
        described = {"kernel": self.kernel.to_dict(), "order": self.order}
        return {"kind": "basis", **described}, (numbers,)


def basis(kernel: Kernel, data: Dyads) -> tuple[Basis, Fineness]:
    """The smallest basis whose correlations are those of the kernel, within a tolerance.

    Args:
        kernel: Of one column, with bounds of its length scale.
        data: Training events.

    Raises:
        ConfigError: The kernel has none, or it would be too large.
    """
    one = series_of(kernel)
    if one is None:
        known = ", ".join(one.__name__ for one in KNOWN)
        raise ConfigError(
            f"inputs='basis': the kernel is {kernel}, expected one of {known} of one "
            "column, such as Matern32('time'). Use inputs='member' or 'grid'."
        )
    if isinstance(one, Periodic):
        found = fineness(one, one.period)
        return Basis(kernel, -np.inf, np.inf, found.period, found.order), found
    at = np.unique(data.column(one.columns[0]))
    beyond = max(HORIZON * np.ptp(at), np.max(np.diff(at), initial=0.0))
    if not beyond and one.length is not None:  # all inputs are equal
        beyond = one.length[0][1]
    low, high = float(at[0] - beyond), float(at[-1] + beyond)
    found = fineness(one, high - low)
    return Basis(kernel, low, high, found.period, found.order), found
