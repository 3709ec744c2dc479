"""A picture per quantity, one below the other, with a line for every chain."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from dpmf.plots.style import CYCLE, styled

ROW = 140  # pixels of each quantity

Draws = Float[np.ndarray, "chains draws"]


def panels(
    found: Mapping[str, Draws],
    lines: Callable[[Draws], list[dict[str, Any]]],
    along: str,
    **line: Any,
) -> go.Figure:
    """Lines of all chains, in the chain's colour and named once.

    Args:
        found: Draws of each quantity.
        lines: Of the draws of one: x and y of every chain.
        along: Title of the common axis.
        line: How they are drawn.
    """
    figure = make_subplots(
        rows=len(found), cols=1, shared_xaxes=True, subplot_titles=list(found)
    )
    for row, draws in enumerate(found.values(), start=1):
        for chain, own in enumerate(lines(draws)):
            figure.add_scatter(
                **own,
                name=f"chain {chain + 1}",
                line={"color": CYCLE[chain % len(CYCLE)], **line},
                showlegend=row == 1,
                legendgroup=str(chain),
                row=row,
                col=1,
            )
    shown = styled(figure, "", "", "", height=120 + ROW * len(found))
    return shown.update_xaxes(title=along, row=len(found), col=1)
