"""Points as `Points.plain` took them apart, put together again."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmf.model.grid import Grid
from dpmf.model.points import Points
from dpmf.model.tracks import Tracks


def points_from(plain: Any, arrays: Sequence[np.ndarray]) -> Points:
    """The points of a saved fit: a list of columns is a grid, others name their kind."""
    if isinstance(plain, dict):
        return Tracks(plain["column"], *arrays)
    return Grid(tuple(tuple(one) for one in plain), tuple(arrays))
