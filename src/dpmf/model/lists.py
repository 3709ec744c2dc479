"""Every member's own inputs, in the order in which they were first seen."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Key

from dpmf.data import Dyads
from dpmf.data.distinct import distinct
from dpmf.errors import DataError
from dpmf.kernels import Kernel
from dpmf.model.gather import lookup
from dpmf.model.grid import MOST_LEVELS, points, renumbered
from dpmf.model.own_inputs import OwnInputs, own_inputs
from dpmf.model.points import Points, Widening
from dpmf.model.state import Theta
from dpmf.model.tables import tables
from dpmf.types import pytree_dataclass

FACTORED = 3  # power of a list's length that its factor costs
MOST_ENTRIES = 2**27  # of all factors of one latent function: they take 1 GiB


@pytree_dataclass
class ListWidening(Widening):
    """The factor of a longer list begins with that of the old one: append normals."""

    place: Int[Array, " points"]  # of every old point among all
    count: int = dataclasses.field(metadata={"static": True})

    def widened(
        self,
        white: Float[Array, "rank points"],
        kernel: Kernel,
        theta: Theta,
        key: Key[Array, ""],
    ) -> Float[Array, "rank more_points"]:
        return jr.normal(key, (len(white), self.count)).at[:, self.place].set(white)


@dataclasses.dataclass(frozen=True)
class Lists(Points):
    """Distinct (member, input) pairs: by member, each one's in first-seen order.

    Within a member nothing is ever sorted: new inputs are appended to its list, so that white
    coordinates of old ones keep their meaning.
    """

    columns: tuple[str, ...]
    member: Int[np.ndarray, " points"]
    inputs: Float[np.ndarray, "points columns"]

    @property
    def entries(self) -> int:
        """Entries of all factors of one latent function, padding included."""
        return sum(one.point.size * one.width for one in tables(self.member, FACTORED))

    @property
    def longest(self) -> int:
        """Inputs of the member that has most."""
        return int(np.bincount(self.member).max(initial=0))

    @property
    def cost(self) -> int:
        """Multiply-adds of one latent function: factors made, all members coloured once."""
        each = tables(self.member, FACTORED)
        return sum(one.point.size * one.width * (one.width + 1) for one in each)

    def too_large(self) -> str:
        """Why they cannot be factored; empty where they can."""
        if self.longest <= MOST_LEVELS and self.entries <= MOST_ENTRIES:
            return ""
        return (
            f"one member has {self.longest:,} distinct inputs, expected at most "
            f"{MOST_LEVELS:,}, and the factors of all have {self.entries:,} entries, expected "
            f"at most {MOST_ENTRIES:,}"
        )

    def laid(
        self, data: Dyads, member: Int[np.ndarray, " cells"], members: int
    ) -> tuple["Lists", OwnInputs]:
        wider, place = self.joined(member, points(data, self.columns))
        cells = lookup(place[len(self.member) :], len(wider.member))
        return wider, wider.colouring(cells, members)

    def joined(
        self, member: Int[np.ndarray, " more"], inputs: Float[np.ndarray, "more columns"]
    ) -> tuple["Lists", Int[np.ndarray, " all"]]:
        """These lists and more, and the place of each point: the old ones, then the others."""
        both = np.concatenate([self.member, member])
        return lists(self.columns, both, np.concatenate([self.inputs, inputs]))

    def colouring(self, cells: Any, members: int) -> OwnInputs:
        """The points as arrays.

        Args:
            cells: Lookup of the point that each cell reads.
            members: How many there are.
        """
        whose = lookup(self.member, members)
        each = tables(self.member, FACTORED)
        return own_inputs(self.inputs, each, whose, cells, members)

    def over(self, data: Dyads, member: Int[np.ndarray, " cells"]) -> "Lists":
        return lists(self.columns, member, points(data, self.columns))[0]

    def only(self, members: Int[np.ndarray, " some"]) -> "Lists":
        kept = np.isin(self.member, members)
        renamed = np.searchsorted(members, self.member[kept])
        return Lists(self.columns, renamed, self.inputs[kept])

    def widening(self, wider: "Lists", members: int) -> ListWidening:
        place = wider.joined(self.member, self.inputs)[1][len(wider.member) :]
        return ListWidening(jax.device_put(place), len(wider.member))

    def carried(
        self,
        white: Float[np.ndarray, "rank points"],
        kernel: Kernel,
        theta: Theta,
        new: "Lists",
        members: Int[np.ndarray, " new_members"],
        generator: np.random.Generator,
    ) -> Float[np.ndarray, "rank new_points"]:
        """By way of all points together, where the old ones come first in every list."""
        known = np.flatnonzero(members >= 0)
        most = max(self.member.max(initial=-1), members.max(initial=-1))
        renamed = np.full(most + 1, -1)
        renamed[members[known]] = known
        kept = np.flatnonzero(renamed[self.member] >= 0)
        old = Lists(self.columns, renamed[self.member[kept]], self.inputs[kept])
        every, place = old.joined(new.member, new.inputs)
        both = generator.standard_normal((len(white), len(every.member)))
        both[:, place[: len(kept)]] = white[:, kept]
        nothing = lookup(np.zeros(0, int), 1)
        before, after = (one.colouring(nothing, len(members)) for one in (every, new))

        @jax.jit
        def carry(white):
            functions = before.coloured(white, before.factors(kernel, theta))
            return after.whitened(
                functions[:, place[len(kept) :]], after.factors(kernel, theta)
            )

        return np.asarray(carry(jnp.asarray(both)))

    def recoded(self, numbers: Mapping[str, np.ndarray]) -> "Lists":
        return dataclasses.replace(self, inputs=renumbered(self.columns, self.inputs, numbers))

    def plain(self) -> tuple[Any, tuple[np.ndarray, ...]]:
        return {"kind": "member", "columns": list(self.columns)}, (self.member, self.inputs)


def lists(
    columns: tuple[str, ...],
    member: Int[np.ndarray, " cells"],
    inputs: Float[np.ndarray, "cells columns"],
) -> tuple[Lists, Int[np.ndarray, " cells"]]:
    """The distinct inputs of each member, and the place of each cell among them."""
    found, index = distinct(np.concatenate([member[:, None].astype(float), inputs], axis=1))
    order = np.argsort(found[:, 0], kind="stable")
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    whose, own = found[order, 0].astype(int), found[order, 1:]
    return Lists(columns, whose, own), place[index]


def lists_of(kernel: Kernel, data: Dyads, member: Int[np.ndarray, " cells"]) -> Lists:
    """The lists of a kernel's inputs over the events of `data`, however long."""
    columns = columns_of(kernel)
    return lists(columns, member, points(data, columns))[0]


def own_lists(kernel: Kernel, data: Dyads, member: Int[np.ndarray, " cells"]) -> Lists:
    """The same, where they can be factored.

    Raises:
        DataError: They are too long.
    """
    found = lists_of(kernel, data, member)
    if reason := found.too_large():
        raise DataError(
            f"kernel {kernel}: {reason}. Round the inputs, such as dates to weeks, or let "
            "inputs='auto' find a faster form."
        )
    return found


def columns_of(kernel: Kernel) -> tuple[str, ...]:
    """The columns of a kernel's factors, one factor after another."""
    return tuple(name for one in kernel.factors() for name in one.columns)
