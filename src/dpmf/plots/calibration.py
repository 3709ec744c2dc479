"""Whether chances meant what they said."""

import pandas as pd
import plotly.graph_objects as go

from dpmf.backtest.calibration import reliability
from dpmf.plots.forecasters import by_forecaster
from dpmf.plots.style import CYCLE, GREY, styled


def calibration(scores: pd.DataFrame, forecaster: str | None = None) -> go.Figure:
    """Of games where home teams were given some chance, how many they won.

    On the diagonal chances are right; bars hold the true share with 90 %.

    Args:
        scores: One row per event and forecaster, as a backtest gives them.
        forecaster: One of its forecasters; all of them if left out.

    Raises:
        DataError: There is no such forecaster, or none that gave chances.

    Example:
        >>> result = dpmf.backtest(games, [], baselines=["home"], seasons=[2003])
        >>> figure = dpmf.plots.calibration(result.scores, "home")
    """
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="right", line={"color": GREY, "dash": "dash"}
    )
    for place, (name, own) in enumerate(by_forecaster(scores, forecaster, "p_home")):
        told = reliability(own)
        figure.add_scatter(
            x=told.said,
            y=told.won,
            name=name,
            mode="lines+markers",
            marker={"color": CYCLE[place % len(CYCLE)], "size": 8},
            error_y={
                "type": "data",
                "array": told.high - told.won,
                "arrayminus": told.won - told.low,
            },
            text=[f"{count} games" for count in told.games],
            hovertemplate="said %{x:.0%}, won %{y:.0%}, %{text}",
        )
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    title = "Did chances mean what they said?"
    return styled(figure, title, "chance given to the home team", "share that it won")
