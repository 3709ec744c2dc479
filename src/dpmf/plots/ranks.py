"""Whether every chain visits every part of the posterior."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from scipy.stats import rankdata

from dpmf.plots.invariants import invariants
from dpmf.plots.panels import panels
from dpmf.plots.style import GREY
from dpmf.posterior import Fit

BINS = 20


def ranks(fit: Fit, names: Sequence[str] | None = None) -> go.Figure:
    """Ranks of each chain's draws among those of all chains.

    Chains that agree have level histograms; one that stays low or high leans to a side.

    Args:
        fit: Of any model.
        names: Diagnosed quantities, such as "sigma"; the six of the largest R-hat if left out.

    Raises:
        DataError: There is no such quantity.

    Example:
        >>> figure = dpmf.plots.ranks(fit, ["sigma"])
    """
    found = invariants(fit, names)
    figure = panels(found, _steps, "rank among all draws", width=1.5, shape="hv")
    for row, draws in enumerate(found.values(), start=1):
        level = draws.shape[1] / _bins(draws)
        line = {"color": GREY, "dash": "dash", "width": 1}
        figure.add_hline(y=level, line=line, row=row, col=1)
    return figure


def _steps(draws: Float[np.ndarray, "chains draws"]) -> list[dict[str, Any]]:
    counts, edges = rank_counts(draws)
    return [{"x": edges, "y": [*own, own[-1]]} for own in counts]


def _bins(draws: Float[np.ndarray, "chains draws"]) -> int:
    return min(BINS, draws.shape[1])


def rank_counts(
    draws: Float[np.ndarray, "chains draws"],
) -> tuple[np.ndarray, Float[np.ndarray, " edges"]]:
    """How many ranks of each chain are in each bin, and the edges of the bins."""
    places = rankdata(draws, method="average").reshape(draws.shape)
    edges = np.linspace(0.5, draws.size + 0.5, _bins(draws) + 1)
    return np.stack([np.histogram(own, edges)[0] for own in places]), edges
