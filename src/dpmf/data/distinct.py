"""Points in; the distinct ones in first-seen order out, and where each point went."""

import numpy as np
from jaxtyping import Float, Int


def distinct(
    points: Float[np.ndarray, "points columns"],
) -> tuple[Float[np.ndarray, "levels columns"], Int[np.ndarray, " points"]]:
    """The distinct points, in the order in which they are first seen.

    Args:
        points: One point per row. Equality is exact, and -0.0 equals 0.0.

    Returns:
        The distinct points, and for each point its place among them, so that
        `levels[index]` gives the points back.
    """
    key = np.zeros(len(points), int)
    for column in points.T:  # one column at a time: far faster than sorting whole rows
        code = np.unique(column, return_inverse=True)[1]
        key = np.unique(key * (code.max(initial=0) + 1) + code, return_inverse=True)[1]
    _, first, sorted_index = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(first), int)
    place[order] = np.arange(len(first))
    return points[first[order]] + 0.0, place[sorted_index]  # + 0.0 turns -0.0 into 0.0


def extended(
    levels: Float[np.ndarray, "levels columns"],
    points: Float[np.ndarray, "points columns"],
) -> tuple[Float[np.ndarray, "more columns"], Int[np.ndarray, " points"]]:
    """Append the points not yet among `levels`; the old levels keep their places.

    Args:
        levels: Distinct points, as `distinct` returned them.
        points: Points to place; one that equals an old level maps to it.

    Returns:
        The old levels followed by the new ones in first-seen order, and the place of
        each point among them.
    """
    every, index = distinct(np.concatenate([levels, points]))
    return every, index[len(levels) :]
