"""Colours and a layout that all pictures share."""

from typing import Any

import plotly.graph_objects as go

# Okabe and Ito's colours, which colour-blind people can tell apart.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"
BANDS = {BLUE: "rgba(0, 114, 178, 0.2)", ORANGE: "rgba(230, 159, 0, 0.25)"}
CYCLE = [BLUE, ORANGE, GREEN, RED, "#CC79A7", "#56B4E9", "#F0E442"]


def styled(figure: go.Figure, title: str, x: str, y: str, **options: Any) -> go.Figure:
    """The figure with its words and the common look."""
    return figure.update_layout(
        # The title at the very top and the legend on the plot: apart at any height.
        title={"text": title, "y": 1, "yanchor": "top", "pad": {"t": 18}},
        margin={"t": 88},
        xaxis_title=x,
        yaxis_title=y,
        template="plotly_white",
        font_family="system-ui, sans-serif",
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        **options,
    )
