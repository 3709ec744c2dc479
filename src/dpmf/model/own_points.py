"""Functions at points of each member's own, all of them end to end in one axis of white."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dpmf.model.colouring import Colouring
from dpmf.model.gather import Lookup, sums, take
from dpmf.types import pytree_dataclass


@pytree_dataclass
class OwnPoints(Colouring):
    """Points of one member after those of another; white has the axes (rank, points)."""

    whose: Lookup  # entry = member, of each point; in order
    cells: Lookup  # entry = point
    members: int = dataclasses.field(metadata={"static": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.whose.entry.shape

    @property
    def owner(self) -> Int[Array, " points"]:
        return self.whose.entry

    def at_cells(self, functions: Float[Array, "rank points"]) -> Float[Array, "rank cells"]:
        return take(functions, self.cells)

    def per_member(self, values: Float[Array, " members"]) -> Float[Array, " points"]:
        return take(values, self.whose)

    def member_sums(self, values: Float[Array, " points"]) -> Float[Array, " members"]:
        return sums(self.whose, values, self.members)

    @property
    def first(self) -> Bool[Array, " points"]:
        return jnp.diff(self.whose.entry, prepend=-1) != 0
