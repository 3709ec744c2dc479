"""Points as `Points.plain` took them apart, put together again."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmf.kernels import Kernel
from dpmf.model.basis import Basis
from dpmf.model.grid import Grid
from dpmf.model.lists import Lists
from dpmf.model.points import Points
from dpmf.model.tracks import Tracks


def points_from(plain: Any, arrays: Sequence[np.ndarray]) -> Points:
    """The points of a saved fit: a list of columns is a grid, others name their kind."""
    if not isinstance(plain, dict):
        return Grid(tuple(tuple(one) for one in plain), tuple(arrays))
    if plain["kind"] == "markov":
        return Tracks(plain["column"], *arrays)
    if plain["kind"] == "member":
        return Lists(tuple(plain["columns"]), *arrays)
    low, high, period = map(float, arrays[0])
    return Basis(Kernel.from_dict(plain["kernel"]), low, high, period, plain["order"])
