"""What every representation of functions is: white coordinates in, values at the cells out.

A family is the K functions of every member of a side, or those of a pooled mean, whose one
member is the side itself. Its white has the axes (rank, *shape). Whatever the representation,
functions are linear in white, and cells are linear in functions; engines need no more.
"""

import abc
from typing import Any, ClassVar

import jax
from jaxtyping import Array, Bool, Float, Int

from dpmf.kernels import Kernel
from dpmf.model.gather import Lookup
from dpmf.model.state import Theta

Over = Any  # a pytree: all that depends on hyperparameters; leading axis rank, or 1


class Colouring(abc.ABC):
    """How white coordinates become functions, and where the cells read them."""

    members: int
    picked: ClassVar[bool] = True  # whether a cell reads one entry of the functions, as it is

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Axes of white behind the rank; the first holds members, or points (`owner`)."""

    @property
    def owner(self) -> Int[Array, " points"] | None:
        """The member of each entry of that axis; None where it holds the members themselves."""
        return None

    @property
    def points(self) -> Lookup | None:
        """The point that each cell reads, where all members share a few; else None."""
        return None

    @abc.abstractmethod
    def factor(self, kernel: Kernel, theta: Theta) -> Over:
        """What turns white into functions, for one latent function."""

    def factors(self, kernel: Kernel, theta: Theta) -> Over:
        """The same for all of them, or once where nothing varies between them."""
        if not theta:
            return jax.tree.map(lambda x: x[None], self.factor(kernel, {}))
        return jax.vmap(lambda one: self.factor(kernel, one))(theta)

    @abc.abstractmethod
    def coloured(
        self, white: Float[Array, "rank *shape"], over: Over
    ) -> Float[Array, "rank *shape"]:
        """White noise into functions."""

    @abc.abstractmethod
    def whitened(
        self, functions: Float[Array, "rank *shape"], over: Over
    ) -> Float[Array, "rank *shape"]:
        """The inverse of `coloured`."""

    @abc.abstractmethod
    def log_volume(self, over: Over) -> Float[Array, " rank"]:
        """Log determinant of `coloured`, over all members of each latent function."""

    @abc.abstractmethod
    def at_cells(self, functions: Float[Array, "rank *shape"]) -> Float[Array, "rank cells"]:
        """What each cell reads."""

    @abc.abstractmethod
    def per_member(self, values: Float[Array, " members"]) -> Float[Array, "..."]:
        """A number of each member at all its coordinates: it broadcasts against `shape`."""

    @abc.abstractmethod
    def member_sums(self, values: Float[Array, "*shape"]) -> Float[Array, " members"]:
        """Sums over the coordinates of each member."""

    @property
    @abc.abstractmethod
    def first(self) -> Bool[Array, "..."]:
        """The first coordinate of every member; it broadcasts against `shape`."""
