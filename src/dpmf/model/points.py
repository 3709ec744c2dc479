"""Where functions live, as the host keeps it: what grows with new events, and is saved."""

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int, Key

from dpmf.data import Dyads
from dpmf.kernels import Kernel
from dpmf.model.colouring import Colouring
from dpmf.model.state import Theta


class Widening(abc.ABC):
    """How white coordinates grow where new points or members are added; a pytree."""

    @abc.abstractmethod
    def widened(
        self,
        white: Float[Array, "rank *shape"],
        kernel: Kernel,
        theta: Theta,
        key: Key[Array, ""],
    ) -> Float[Array, "rank *wider"]:
        """White of the old functions and of what is new, drawn given them."""


class Points(abc.ABC):
    """The points, or other places, at which one family of functions has coordinates."""

    @abc.abstractmethod
    def laid(
        self, data: Dyads, member: Int[np.ndarray, " cells"], members: int
    ) -> "tuple[Points, Colouring]":
        """These points with those of `data` that are new, and the cells laid out on them.

        Args:
            data: Events.
            member: Whose function each cell reads.
            members: How many there are; those that were known keep their numbers.
        """

    @abc.abstractmethod
    def over(self, data: Dyads, member: Int[np.ndarray, " cells"]) -> "Points":
        """Points of the same kind for other events."""

    @abc.abstractmethod
    def only(self, members: Int[np.ndarray, " some"]) -> "Points":
        """The points of some members alone, who are numbered anew in the same order.

        White on them is that of these members, cut out of the whole.

        Args:
            members: Ascending.
        """

    @abc.abstractmethod
    def widening(self, wider: Any, members: int) -> Widening:
        """How white grows from these points to `wider`, which `laid` returned."""

    @abc.abstractmethod
    def carried(
        self,
        white: Float[np.ndarray, "rank *shape"],
        kernel: Kernel,
        theta: Theta,
        new: Any,
        members: Int[np.ndarray, " new_members"],
        generator: np.random.Generator,
    ) -> Float[np.ndarray, "rank *new_shape"]:
        """White on other points of functions that keep their values where both have them.

        Args:
            white: On these points.
            kernel: Kernel of the functions.
            theta: Its hyperparameters, one set per latent function.
            new: Points to carry to, of the same kind.
            members: For each new member its old place, or -1.
            generator: Source of whatever has no old value.
        """

    def recoded(self, numbers: Mapping[str, np.ndarray]) -> "Points":
        """The points with the levels of text columns numbered otherwise.

        Args:
            numbers: By column, the new number of each level.
        """
        return self

    @abc.abstractmethod
    def plain(self) -> tuple[Any, tuple[np.ndarray, ...]]:
        """What JSON can hold, and arrays; `saved_points.points_from` puts them together."""
