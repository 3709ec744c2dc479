"""Whether every chain visits every part of the posterior."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from scipy.stats import rankdata

from dpmf.plots.invariants import invariants
from dpmf.plots.style import CYCLE, GREY, styled
from dpmf.posterior import Fit

BINS = 20
ROW = 140  # pixels of each quantity


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
    figure = make_subplots(
        rows=len(found), cols=1, shared_xaxes=True, subplot_titles=list(found)
    )
    for row, draws in enumerate(found.values(), start=1):
        counts, edges = rank_counts(draws)
        for chain, own in enumerate(counts):
            figure.add_scatter(
                x=edges,
                y=[*own, own[-1]],
                name=f"chain {chain + 1}",
                line={"color": CYCLE[chain % len(CYCLE)], "width": 1.5, "shape": "hv"},
                showlegend=row == 1,
                legendgroup=str(chain),
                row=row,
                col=1,
            )
        level = {"color": GREY, "dash": "dash", "width": 1}
        figure.add_hline(y=draws.shape[1] / (len(edges) - 1), line=level, row=row, col=1)
    shown = styled(figure, "", "", "", height=120 + ROW * len(found))
    return shown.update_xaxes(title="rank among all draws", row=len(found), col=1)


def rank_counts(
    draws: Float[np.ndarray, "chains draws"],
) -> tuple[np.ndarray, Float[np.ndarray, " edges"]]:
    """How many ranks of each chain are in each bin, and the edges of the bins."""
    places = rankdata(draws, method="average").reshape(draws.shape)
    edges = np.linspace(0.5, draws.size + 0.5, min(BINS, draws.shape[1]) + 1)
    return np.stack([np.histogram(own, edges)[0] for own in places]), edges
