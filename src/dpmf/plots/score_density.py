"""The joint density of both values of one event."""

import jax
import jax.numpy as jnp
import numpy as np
import plotly.graph_objects as go

from dpmf.errors import DataError
from dpmf.plots.style import BLUE, GREY, ORANGE, RED, styled
from dpmf.posterior import Forecast

POINTS = 81  # of the grid, along each axis
DRAWS = 400  # of the mixture, spread over all that there are
REACH = 3.5  # standard deviations shown around the mean
PALE = [[0, "#ffffff"], [1, "#56b4e9"]]  # so that marks are seen where it is densest


def score_density(
    forecast: Forecast,
    event: int = 0,
    *,
    line: tuple[float, float] | None = None,
    outcome: tuple[float, float] | None = None,
) -> go.Figure:
    """Contours of the predictive density of a pair of scores.

    Args:
        forecast: Of events with two values.
        event: Which of them.
        line: What an expert expects, drawn as "o".
        outcome: What happened, drawn as "x".

    Raises:
        DataError: The events have one value, or there is no such event.
    """
    if forecast.y.shape[2] != 2:
        raise DataError("score_density needs pairs, but these events have one value.")
    if not 0 <= event < len(forecast):
        raise DataError(f"event={event}, expected 0 to {len(forecast) - 1}.")
    first, second = _names(forecast, event)
    axes = [_axis(forecast, event, place) for place in (0, 1)]
    figure = go.Figure(
        go.Contour(
            x=axes[0],
            y=axes[1],
            z=density(forecast, event, *axes),
            colorscale=PALE,
            ncontours=12,
            showscale=False,
            hovertemplate=f"{first} %{{x:.0f}}, {second} %{{y:.0f}}<extra></extra>",
        )
    )
    ends = [max(a[0] for a in axes), min(a[-1] for a in axes)]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", name="level", line={"color": GREY, "dash": "dash"}
    )
    mean = forecast.mean[event]
    points = [
        ("forecast", mean, "cross-thin", BLUE),
        ("line", line, "circle-open", ORANGE),
        ("outcome", outcome, "x-thin", RED),
    ]
    for name, place, symbol, colour in points:
        if place is not None:
            stroke = {"width": 3, "color": colour}
            marker = {"symbol": symbol, "size": 14, "color": colour, "line": stroke}
            figure.add_scatter(
                x=[place[0]], y=[place[1]], mode="markers", name=name, marker=marker
            )
    wins = 100 * float(forecast.first_exceeds[event])
    title = f"{first} {mean[0]:.0f}, {second} {mean[1]:.0f}: {first} ahead in {wins:.0f} %"
    figure.update_yaxes(scaleanchor="x", constrain="domain").update_xaxes(constrain="domain")
    return styled(figure, title, first, second, width=620, height=620)


def density(forecast: Forecast, event: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The density of one event on a grid, with axes (y, x), from some of the draws."""
    values = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    count = len(forecast.y)
    some = np.linspace(0, count - 1, min(DRAWS, count)).astype(int)

    def added(total, draw):
        entry, noise = draw
        at = jnp.broadcast_to(entry, values.shape)
        each = forecast.noise_at(noise, owner).log_prob(at, jnp.asarray(values))
        return total + jnp.exp(each), None

    with jax.enable_x64(True):
        every = forecast.owner
        owner = None if every is None else jnp.broadcast_to(every[event], values.shape)
        entries = jnp.asarray(forecast.y[some, event])
        noise = {name: jnp.asarray(value[some]) for name, value in forecast.noise.items()}
        total, _ = jax.lax.scan(added, jnp.zeros(len(values)), (entries, noise))
        mixture = np.asarray(total) / len(some)
    return mixture.reshape(len(y), len(x))


def _axis(forecast: Forecast, event: int, place: int) -> np.ndarray:
    mean, reach = forecast.mean[event, place], REACH * forecast.sd[event, place]
    return np.linspace(mean - reach, mean + reach, POINTS)


def _names(forecast: Forecast, event: int) -> tuple[str, str]:
    data = forecast.data
    row, col = data.rows[event, 0], data.cols[event, 0]
    return str(data.row_names[row]), str(data.col_names[col])
