"""Which representation the functions of a side have: asked for, or chosen by what it costs."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from dpmf.data import Dyads
from dpmf.errors import ConfigError
from dpmf.kernels import Kernel, Matern12
from dpmf.kernels.warp import Columns
from dpmf.model.basis import basis
from dpmf.model.grid import MOST_LEVELS, Grid, grid, grid_of
from dpmf.model.lists import lists_of, own_lists
from dpmf.model.points import Points
from dpmf.model.tracks import Tracks, tracks

KINDS = ("auto", "grid", "markov", "member", "basis")
CHEAP = 10**8  # multiply-adds for one latent function; a core does them in about 30 ms
EMPTIEST = 7 / 8  # share of a grid's points of members that may have no event

Member = Int[np.ndarray, " cells"]


@dataclasses.dataclass(frozen=True)
class Inputs:
    """A representation, and why it was taken."""

    kind: str  # one of `KINDS`, but never "auto"
    why: str = dataclasses.field(compare=False)  # or programs would be compiled for each

    def __str__(self) -> str:
        return f"{self.kind}, {self.why}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` turns back."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(saved: Mapping[str, Any]) -> "Inputs":
        """What `to_dict` described."""
        return Inputs(**saved)

    def points(self, kernel: Kernel, data: Dyads, member: Member) -> Points:
        """Where the functions live, over the inputs of `data`."""
        return _POINTS[self.kind](kernel, data, member)


ASKED = "as asked for"
GRID = Inputs("grid", ASKED)


def chosen(wanted: str, kernel: Kernel, data: Dyads, member: Member, members: int) -> Inputs:
    """The representation that is asked for, or by "auto" the best that is not too slow.

    A grid serves all members with one factor; it is taken while it is cheap (`grid_cost` at
    most `CHEAP`). Past that, Matern 1/2 of one column becomes Markov chains, whose cost is the
    number of points; so it does where more than seven eighths of a grid would be empty, for
    noisy copies of values that nobody sees keep hyperparameters from moving. Other kernels,
    past that cost, are exact at every member's own inputs while that is cheap. Then it is the
    cheapest of what there is: a basis, which is exact within a tolerance, members' own inputs,
    the grid.

    Args:
        wanted: One of `KINDS`.
        kernel: Kernel of the functions.
        data: Training events.
        member: Whose function each cell reads.
        members: How many there are.

    Raises:
        ConfigError: The kernel has no such representation.
    """
    if wanted == "markov" and not is_markov(kernel):
        raise ConfigError(
            f"inputs='markov': the kernel is {kernel}, expected Matern12 of one column, such "
            "as Matern12('time'). Use inputs='auto' or 'grid'."
        )
    if wanted == "basis":
        return Inputs(wanted, f"{ASKED}, {basis(kernel, data)[1]}")
    if wanted != "auto":
        return Inputs(wanted, ASKED)
    shared = grid_of(kernel, data)
    cost = grid_cost(shared, members)
    size = f"{' x '.join(f'{n:,}' for n in shared.shape)} distinct inputs"
    slow = f"since a grid of {size} would be slow"
    if is_markov(kernel):
        points = len(_tracks(kernel, data, member).at)
        empty = points < (1 - EMPTIEST) * members * shared.size
        if empty or cost > CHEAP:
            share = f"more than seven eighths of a grid of {size} of {members:,} members"
            why = slow if cost > CHEAP else f"since {share} would be empty"
            return Inputs("markov", f"{points:,} points, {why}")
    if cost <= CHEAP:
        return Inputs("grid", f"cheap at {size} of {members:,} members")
    own = lists_of(kernel, data, member)
    apart = Inputs("member", f"{len(own.member):,} inputs of members, {slow}")
    if own.cost <= CHEAP:
        return apart
    # The cheapest of what can be done at all; where two cost the same, the first.
    could: list[tuple[int, Inputs]] = []
    if max(shared.shape) <= MOST_LEVELS:
        best = Inputs("grid", f"{size}, since kernel {kernel} has no faster form")
        could.append((cost, best))
    if not own.too_large():
        could.append((own.cost, apart))
    try:
        found = basis(kernel, data)[1]
        could.append((len(own.member) * found.functions, Inputs("basis", f"{found}, {slow}")))
    except ConfigError as refused:
        no_basis = str(refused)
    if could:
        return min(could, key=lambda one: one[0])[1]
    raise ConfigError(
        f"inputs='auto': kernel {kernel} has {size}, expected at most {MOST_LEVELS:,} in one "
        f"factor of a grid; {own.too_large()}; {no_basis} Or round the inputs, such as dates "
        "to weeks, or take a kernel for many inputs: Matern12 of one column."
    )


def grid_cost(shared: Grid, members: int) -> int:
    """Multiply-adds of one latent function: all members coloured once, and a factor made."""
    return members * shared.size * sum(shared.shape) + sum(n**3 for n in shared.shape)


def is_markov(kernel: Kernel) -> bool:
    """Whether the kernel is Matern 1/2 of one column as it is."""
    parts = kernel.factors()
    if len(parts) > 1 or not isinstance(parts[0], Matern12):
        return False
    warp = parts[0].warp
    return isinstance(warp, Columns) and warp.width == 1


def _tracks(kernel: Kernel, data: Dyads, member: Member) -> Tracks:
    (column,) = kernel.factors()[0].columns
    return tracks(column, member, data.column(column).reshape(-1))[0]


def _grid(kernel: Kernel, data: Dyads, member: Member) -> Points:
    return grid(kernel, data, by_use=not member.any())


def _basis(kernel: Kernel, data: Dyads, member: Member) -> Points:
    return basis(kernel, data)[0]


_POINTS: dict[str, Callable[[Kernel, Dyads, Member], Points]] = {
    "grid": _grid,
    "markov": _tracks,
    "member": own_lists,
    "basis": _basis,
}
