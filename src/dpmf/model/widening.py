"""White coordinates of what has grown, a grid or a set of members: old ones stay."""

import dataclasses
import math

import jax.random as jr
from jaxtyping import Array, Float, Key

from dpmf.kernels import Kernel
from dpmf.model.points import Widening
from dpmf.model.state import Theta
from dpmf.types import pytree_dataclass


@pytree_dataclass
class GridWidening(Widening):
    """A Cholesky factor of more inputs begins with that of the old ones: append normals."""

    # Levels of each factor of the grid.
    before: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    after: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    members: int = dataclasses.field(metadata={"static": True})

    def widened(
        self,
        white: Float[Array, "rank members inputs"],
        kernel: Kernel,
        theta: Theta,
        key: Key[Array, ""],
    ) -> Float[Array, "rank more_members more_inputs"]:
        rank, known = white.shape[:2]
        fresh = jr.normal(key, (rank, self.members, *self.after))
        corner = tuple(slice(0, count) for count in self.before)
        old = white.reshape(rank, known, *self.before)
        filled = fresh.at[(slice(None), slice(0, known), *corner)].set(old)
        return filled.reshape(rank, self.members, math.prod(self.after))


@pytree_dataclass
class MoreMembers:
    """How the numbers of each member grow: those of new members are fresh."""

    members: int = dataclasses.field(metadata={"static": True})

    def widened(
        self, white: Float[Array, "members *each"], key: Key[Array, ""]
    ) -> Float[Array, "more_members *each"]:
        """Old numbers, then new ones."""
        fresh = jr.normal(key, (self.members, *white.shape[1:]))
        return fresh.at[: len(white)].set(white)
