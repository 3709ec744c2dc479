"""A team's attack and defence over time."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpmf.errors import DataError
from dpmf.plots.style import BANDS, BLUE, ORANGE, styled
from dpmf.posterior import Fit
from dpmf.sports.rest import EVEN

BAND = (5, 95)  # percent
NEITHER = {"home": 0.0, "rest": EVEN}  # has an edge


def ratings(fit: Fit, team: str) -> go.Figure:
    """What a team would score, and let others score, against an average opponent.

    Both are averages over all opponents, on neutral ground and equally rested, week by week.

    Args:
        fit: Of a score model.
        team: One of its teams.
    """
    curves = rating_draws(fit, team)
    figure = go.Figure()
    for name, colour in (("scores", BLUE), ("concedes", ORANGE)):
        low, high = np.percentile(curves[name], BAND, axis=0)
        places = np.arange(len(low))
        figure.add_scatter(
            x=np.concatenate([places, places[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=BANDS[colour],
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=places,
            y=curves[name].mean(axis=0),
            name=name,
            line={"color": colour, "width": 3},
            text=curves["when"],
            hovertemplate="%{text}: %{y:.1f}",
        )
    changes = np.flatnonzero(np.diff([when.season for when in curves["weeks"]])) + 0.5
    for place in changes:
        figure.add_vline(x=place, line={"color": "#bbbbbb", "width": 1})
    shown = np.linspace(0, len(curves["when"]) - 1, min(8, len(curves["when"]))).astype(int)
    figure.update_xaxes(tickvals=shown, ticktext=[curves["when"][i] for i in shown])
    title = f"{team} against an average opponent, 90 % bands"
    return styled(figure, title, "", "points a game")


def rating_draws(fit: Fit, team: str) -> dict:
    """Both curves of every draw, and the weeks they belong to.

    Raises:
        DataError: There is no such team, or the fit is not one of games.
    """
    book = fit.data.codebook
    names = set(fit.data.row_names) | set(fit.data.col_names)
    missing = {"season", "week", "home"} - set(fit.data.input_names)
    if missing:
        raise DataError(f"the fit has no input {sorted(missing)[0]!r}: it is not one of games.")
    known = ", ".join(sorted(map(str, names))[:8])
    if team not in names:
        raise DataError(f"team={team!r}, expected one of {known}, ...")
    inputs = pd.DataFrame(
        {name: fit.data.column(name)[:, 0] for name in ("season", "week")}
    ).drop_duplicates()
    inputs = inputs.sort_values(["season", "week"], ignore_index=True)
    opponents = pd.DataFrame({book.col: sorted(names - {team})})
    meetings = inputs.merge(opponents, how="cross").assign(**{book.row: team}, **NEITHER)
    y = fit.predict(meetings, source="ratings").y
    weeks = list(inputs.itertuples(index=False))
    average = y.reshape(len(y), len(weeks), len(opponents), 2).mean(axis=2)
    return {
        "scores": average[:, :, 0],
        "concedes": average[:, :, 1],
        "weeks": weeks,
        "when": [f"{when.season:.0f}, week {when.week + 1:.0f}" for when in weeks],
    }
