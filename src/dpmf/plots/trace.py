"""The way of every chain."""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpmf.plots.invariants import invariants
from dpmf.plots.style import CYCLE, styled
from dpmf.posterior import Fit

ROW = 140  # pixels of each quantity


def trace(fit: Fit, names: Sequence[str] | None = None) -> go.Figure:
    """Draws one after another: chains that agree look like one another, and like noise.

    Args:
        fit: Of any model.
        names: Diagnosed quantities, such as "sigma"; the six of the largest R-hat if left out.

    Raises:
        DataError: There is no such quantity.

    Example:
        >>> figure = dpmf.plots.trace(fit, ["sigma", "rho"])
    """
    found = invariants(fit, names)
    figure = make_subplots(
        rows=len(found), cols=1, shared_xaxes=True, subplot_titles=list(found)
    )
    for row, draws in enumerate(found.values(), start=1):
        for chain, values in enumerate(draws):
            figure.add_scatter(
                y=values,
                name=f"chain {chain + 1}",
                line={"color": CYCLE[chain % len(CYCLE)], "width": 1},
                showlegend=row == 1,
                legendgroup=str(chain),
                row=row,
                col=1,
            )
    shown = styled(figure, "", "", "", height=120 + ROW * len(found))
    return shown.update_xaxes(title="draw", row=len(found), col=1)
