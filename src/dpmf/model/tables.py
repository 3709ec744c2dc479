"""Lists of very different lengths as a few padded tables, a row for each member."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

MOST_TABLES = 4  # each is a program of its own to compile


class Table(NamedTuple):
    """Some members, and their points side by side."""

    members: Int[np.ndarray, " some"]
    point: Int[np.ndarray, "some most"]  # or the number of all points where there is none

    @property
    def width(self) -> int:
        """Places of each member."""
        return self.point.shape[1]


def tables(whose: Int[np.ndarray, " points"], power: int) -> tuple[Table, ...]:
    """Members of about the same number of points together.

    Args:
        whose: The member of each point, in order.
        power: Of its width that a row of a table costs: 3 where it is factored.
    """
    count = np.bincount(whose)
    first = np.cumsum(count) - count
    found, narrower = [], 0
    for width in widths(count, power):
        members = np.flatnonzero((count > narrower) & (count <= width))
        place = np.arange(width)[None]
        filled = place < count[members, None]
        point = np.where(filled, first[members, None] + place, len(whose))
        found.append(Table(members, point))
        narrower = width
    return tuple(found)


def widths(count: Int[np.ndarray, " members"], power: int) -> tuple[int, ...]:
    """Widths of the tables that cost least together; each holds what fits into no other."""
    sizes, number = np.unique(count[count > 0], return_counts=True)
    if not len(sizes):
        return ()
    before = np.concatenate([[0], np.cumsum(number)])
    row = sizes.astype(float) ** power
    # cost[i]: of the members with the i smallest sizes; last[t][i]: where the last of t + 1
    # tables begins.
    cost = before[1:] * row
    last = [np.zeros(len(sizes), int)]
    for _ in range(min(MOST_TABLES, len(sizes)) - 1):
        shorter = np.concatenate([[0.0], cost])[:-1]  # of what comes before the last table
        own = (before[1:, None] - before[None, :-1]) * row[:, None]
        total = np.where(np.tri(len(sizes), dtype=bool), shorter[None] + own, np.inf)
        last.append(np.argmin(total, axis=1))
        cost = np.min(total, axis=1)
    found, end = [], len(sizes)
    for begin in reversed(last):
        if end:
            found.append(int(sizes[end - 1]))
            end = int(begin[end - 1])
    return tuple(reversed(found))


def places(each: tuple[Table, ...], points: int) -> Int[np.ndarray, " points"]:
    """Where every point stands, counted through one table after another, row by row."""
    point = np.concatenate([np.zeros(0, int), *(one.point.reshape(-1) for one in each)])
    filled = np.flatnonzero(point < points)
    found = np.empty(points, int)
    found[point[filled]] = filled
    return found
