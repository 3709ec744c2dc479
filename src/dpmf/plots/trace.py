"""The way of every chain."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dpmf.plots.invariants import invariants
from dpmf.plots.panels import panels
from dpmf.posterior import Fit


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
    return panels(found, lambda draws: [{"y": own} for own in draws], "draw", width=1)
