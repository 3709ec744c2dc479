"""What was learned about how fast things change."""

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from dpmf.errors import DataError
from dpmf.plots.style import BLUE, ORANGE, styled
from dpmf.posterior import Fit

SIDES = {"rows": ("attack", BLUE), "cols": ("defence", ORANGE)}


def gaps(fit: Fit) -> go.Figure:
    """How long an off-season is to the teams, in weeks; every function has its own.

    Args:
        fit: Of a model whose kernel has a `SeasonGap`.

    Raises:
        DataError: The functions of members have none; a mean of all is not shown.
    """
    figure = go.Figure()
    found = list(_learned(fit, ".gap"))
    if not found:
        raise DataError(
            "the functions of members have no gap between seasons: their kernel needs a "
            "SeasonGap."
        )
    for side, (name, colour) in SIDES.items():
        values = [draws.reshape(-1) for own, _, draws in found if own == side]
        if values:
            figure.add_histogram(
                x=np.concatenate(values), name=name, marker_color=colour, opacity=0.6, nbinsx=50
            )
    figure.update_layout(barmode="overlay")
    return styled(figure, "An off-season counts like so many weeks", "weeks", "draws")


def length_scales(fit: Fit) -> go.Figure:
    """Length scales of every latent function and side.

    Functions have no order, so each draw's are sorted: the first box is the shortest.

    Args:
        fit: Of a model whose kernel has length scales.

    Raises:
        DataError: The functions of members have none; a mean of all is not shown.
    """
    figure = go.Figure()
    for side, label, draws in _learned(fit, ".length"):
        name, colour = SIDES[side]
        ordered = np.sort(draws.reshape(-1, draws.shape[2]), axis=1)
        for place, values in enumerate(ordered.T):
            column = label.removesuffix(".length")
            figure.add_box(
                y=values,
                name=f"{name}, {column}, {place + 1}",
                marker_color=colour,
                boxpoints=False,
                showlegend=False,
            )
    if not figure.data:
        raise DataError(
            "the functions of members have no length scales: their kernel is constant."
        )
    figure.update_yaxes(type="log")
    return styled(figure, "Length scales, shortest first", "", "length scale (log)")


def _learned(fit: Fit, suffix: str) -> Iterator[tuple[str, str, np.ndarray]]:
    """Side, label and draws (chains, draws, rank) of hyperparameters with some ending."""
    for side in SIDES:
        theta = getattr(fit.parameters, side).theta or {}
        for label, draws in theta.items():
            if label.endswith(suffix):
                yield side, label, np.asarray(draws).reshape(*draws.shape[:2], -1)
