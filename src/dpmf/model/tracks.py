"""Every member's own points in one column, in order: where Markov chains live."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Bool, Float, Int

from dpmf.data import Dyads
from dpmf.kernels import Kernel
from dpmf.model.bridge import Bridge
from dpmf.model.gather import lookup
from dpmf.model.markov import MarkovChains, Track
from dpmf.model.points import Points
from dpmf.model.state import Theta


@dataclasses.dataclass(frozen=True)
class Tracks(Points):
    """Distinct (member, input) pairs, sorted by member and then by input."""

    column: str
    member: Int[np.ndarray, " points"]
    at: Float[np.ndarray, " points"]

    @property
    def start(self) -> Bool[np.ndarray, " points"]:
        """Whether a point is the first of its member."""
        return np.diff(self.member, prepend=-1) != 0

    def track(self) -> Track:
        """The points as the recurrence needs them."""
        gap = np.where(self.start, 1.0, np.diff(self.at, prepend=0.0))
        return Track(jnp.asarray(gap), jnp.asarray(self.start))

    def laid(
        self, data: Dyads, member: Int[np.ndarray, " cells"], members: int
    ) -> tuple["Tracks", MarkovChains]:
        at = data.column(self.column).reshape(-1)
        both = np.concatenate([self.member, member]), np.concatenate([self.at, at])
        wider, place = tracks(self.column, *both)
        cells = lookup(place[len(self.at) :], len(wider.at))
        whose = lookup(wider.member, members)
        return wider, MarkovChains(whose, cells, members, wider.track())

    def over(self, data: Dyads, member: Int[np.ndarray, " cells"]) -> "Tracks":
        return tracks(self.column, member, data.column(self.column).reshape(-1))[0]

    def only(self, members: Int[np.ndarray, " some"]) -> "Tracks":
        kept = np.isin(self.member, members)
        renamed = np.searchsorted(members, self.member[kept])
        return Tracks(self.column, renamed, self.at[kept])

    def widening(self, wider: "Tracks", members: int) -> Bridge:
        return self.bridge(wider, np.arange(members))

    def bridge(self, new: "Tracks", members: Int[np.ndarray, " new_members"]) -> Bridge:
        """The way to other points.

        Args:
            new: Other points.
            members: For each new member its old place, or -1.
        """
        known = np.flatnonzero(members >= 0)
        most = max(self.member.max(initial=-1), members.max(initial=-1))
        renamed = np.full(most + 1, -1)
        renamed[members[known]] = known
        owner = renamed[self.member]
        kept = np.flatnonzero(owner >= 0)
        member = np.concatenate([owner[kept], new.member])
        every, place = tracks(self.column, member, np.concatenate([self.at[kept], new.at]))
        before, after, since, until = _neighbours(every, place[: len(kept)])
        arrays = (kept, place[: len(kept)], before, after, since, until, place[len(kept) :])
        tracked = self.track(), every.track(), new.track()
        return Bridge(*tracked, *(jnp.asarray(one) for one in arrays))

    def carried(
        self,
        white: Float[np.ndarray, "rank points"],
        kernel: Kernel,
        theta: Theta,
        new: "Tracks",
        members: Int[np.ndarray, " new_members"],
        generator: np.random.Generator,
    ) -> Float[np.ndarray, "rank new_points"]:
        key = jr.key(int(generator.integers(2**63)))
        bridge = self.bridge(new, members)
        carry = jax.jit(lambda w: bridge.widened(w, kernel, theta, key))
        return np.asarray(carry(jnp.asarray(white)))

    def plain(self) -> tuple[Any, tuple[np.ndarray, ...]]:
        return {"kind": "markov", "column": self.column}, (self.member, self.at)


def tracks(
    column: str, member: Int[np.ndarray, " cells"], at: Float[np.ndarray, " cells"]
) -> tuple[Tracks, Int[np.ndarray, " cells"]]:
    """The distinct points of each member, and the place of each cell among them."""
    at = at + 0.0  # -0.0 into 0.0
    order = np.lexsort((at, member))
    member_in_order, at_in_order = member[order], at[order]
    new = np.ones(len(at), bool)
    same = (np.diff(member_in_order) == 0) & (np.diff(at_in_order) == 0)
    new[1:] = ~same
    place = np.empty(len(at), int)
    place[order] = np.cumsum(new) - 1
    return Tracks(column, member_in_order[new], at_in_order[new]), place


def _neighbours(every: Tracks, known: Int[np.ndarray, " known"]):
    """For each point the known ones before and after it in its member, and how far they are.

    Where there is none, its place is their number and it is infinitely far. A known point is
    before itself.
    """
    count, points = len(known), len(every.at)
    order = np.argsort(known)
    spots = known[order]
    left = np.searchsorted(spots, np.arange(points), side="right") - 1
    right = np.searchsorted(spots, np.arange(points), side="left")
    is_known = np.zeros(points, bool)
    is_known[spots] = True
    places, distances = [], []
    for side, sign in ((left, 1.0), (np.where(is_known, count, right), -1.0)):
        inside = (side >= 0) & (side < count)
        spot = spots[np.where(inside, side, 0)] if count else np.zeros(points, int)
        near = inside & (every.member[spot] == every.member)
        places.append(np.where(near, order[np.where(inside, side, 0)] if count else 0, count))
        distances.append(np.where(near, sign * (every.at - every.at[spot]), np.inf))
    return *places, *distances
