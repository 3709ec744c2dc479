"""Where outcomes fell within their forecasts."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpmf.backtest.calibration import BINS, flatness
from dpmf.errors import ConfigError
from dpmf.plots.forecasters import by_forecaster
from dpmf.plots.style import BLUE, GREY, styled

OF = ("margin", "total")


def pit(scores: pd.DataFrame, forecaster: str, of: str = "margin") -> go.Figure:
    """Histogram of the probability that was given to less than what happened.

    Level is right; a hump is too cautious, a valley too sure. Of ten level bins nine lie in
    the shaded band.

    Args:
        scores: One row per event and forecaster, as a backtest gives them.
        forecaster: One of its forecasters.
        of: "margin" or "total".

    Raises:
        ConfigError: There is no such choice.
        DataError: There is no such forecaster, or it says nothing of this.

    Example:
        >>> result = dpmf.backtest(games, [], baselines=["home"], seasons=[2003])
        >>> figure = dpmf.plots.pit(result.scores, "home", of="total")
    """
    if of not in OF:
        raise ConfigError(f"of={of!r}, expected 'margin' or 'total'.")
    [(name, own)] = by_forecaster(scores, forecaster, f"pit_{of}")[:1]
    told = flatness(own[f"pit_{of}"])
    middles = (np.arange(BINS) + 0.5) / BINS
    figure = go.Figure()
    figure.add_bar(x=middles, y=told.counts, name=name, marker_color=BLUE, width=0.94 / BINS)
    figure.add_hrect(y0=told.low, y1=told.high, fillcolor=GREY, opacity=0.2, line_width=0)
    figure.add_hline(y=told.expected, line={"color": GREY, "dash": "dash"})
    return styled(figure, f"{name}: the {of} within its forecast", "PIT", "games")
