"""Points in; the distinct ones in first-seen order out, and where each point went."""

import numpy as np
import pandas as pd
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
    points = points + 0.0  # turns -0.0 into 0.0
    index = np.zeros(len(points), int)
    for column in points.T:  # pandas numbers what it sees in order, and sorts nothing
        code = pd.factorize(column, use_na_sentinel=False)[0]
        index = pd.factorize(index * (code.max(initial=0) + 1) + code)[0]
    first = np.empty(index.max(initial=-1) + 1, int)
    first[index[::-1]] = np.arange(len(points))[::-1]  # the last one written is the first seen
    return points[first], index


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
