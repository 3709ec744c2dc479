"""A fit in; the features of every team at some moments and venues, of some draws, out."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
import pandas as pd
from jaxtyping import Float

from dpmf.errors import DataError
from dpmf.posterior import Fit
from dpmf.posterior.extension import feature_draws
from dpmf.report.moments import Moment
from dpmf.sports.rest import EVEN

VENUES = (0.5, -0.5, 0.0)  # of the attacking team: at home, away, neutral


@dataclasses.dataclass(frozen=True, eq=False)
class Features:
    """What a team's attack and a defence are worth; their product is a score.

    `defence[..., n, t, v]` faces an attack whose venue is v. Axes of moments and venues have
    length 1 where the model does not know them.
    """

    teams: tuple[str, ...]
    moments: tuple[Moment, ...]
    attack: Float[np.ndarray, "draws rank teams moments venues"]
    defence: Float[np.ndarray, "draws rank teams moments venues"]
    noise: dict[str, np.ndarray]  # parameters of the likelihood, one per draw

    def at(self, moments: Sequence[Moment]) -> "Features":
        """Those at some of the moments."""
        if self.attack.shape[3] == 1:
            return dataclasses.replace(self, moments=tuple(moments))
        places = [self.moments.index(one) for one in moments]
        return dataclasses.replace(
            self,
            moments=tuple(moments),
            attack=self.attack[:, :, :, places],
            defence=self.defence[:, :, :, places],
        )


def knows(fit: Fit, *columns: str) -> bool:
    """Whether the model reads one of these inputs."""
    return not fit.spec.columns.isdisjoint(columns)


def meetings(fit: Fit, moments: Sequence[Moment]) -> pd.DataFrame:
    """Games such that every team attacks and defends at every moment and venue.

    Each team has the next one as its guest, and meets it on neutral ground.

    Raises:
        DataError: There is one team only.
    """
    book, teams = fit.data.codebook, _teams(fit)
    if len(teams) < 2:
        raise DataError(f"found {len(teams)} team(s), expected at least two.")
    venues = (0.5, 0.0) if knows(fit, "home") else (0.5,)
    rows = [
        (home, away, moment.season, moment.week, venue, EVEN)
        for venue in venues
        for moment in (moments if knows(fit, "season", "week") else moments[-1:])
        for home, away in zip(teams, teams[1:] + teams[:1], strict=True)
    ]
    return pd.DataFrame(rows, columns=[book.row, book.col, "season", "week", "home", "rest"])


def features(fit: Fit, moments: Sequence[Moment], *, seed: int = 0) -> Features:
    """The features of all teams, of every draw of the fit.

    Args:
        fit: Of a score model; thin it first if it has many draws.
        moments: In any order.
        seed: Of what the training games say nothing about, as in `Fit.predict`, which gives
            products of the same features for the games of `meetings`.
    """
    upcoming = fit.data.encode(meetings(fit, moments), source="report", values=False)
    with jax.enable_x64(True):
        found = feature_draws(fit.problem, fit.grids, fit.draws.states, upcoming, seed)
    count = fit.shape[0] * fit.shape[1]
    noise = {name: v.reshape(count, *v.shape[2:]) for name, v in fit.parameters.noise.items()}
    attack, defence = (_by_venue(one.reshape(count, *one.shape[2:]), fit) for one in found)
    # The second cell of a game is that of the guests: the next team, and the host's defence.
    return Features(
        tuple(_teams(fit)),
        tuple(moments),
        _turned(attack, guests=1),
        _turned(defence, guests=0),
        noise,
    )


def _teams(fit: Fit) -> list[str]:
    return [str(name) for name in fit.data.row_names]


def _by_venue(cells: np.ndarray, fit: Fit) -> np.ndarray:
    """Axes (draws, rank, venues of the game, moments, hosts, cells of the game)."""
    venues = 2 if knows(fit, "home") else 1
    return cells.reshape(*cells.shape[:2], venues, -1, len(_teams(fit)), 2)


def _turned(cells: np.ndarray, *, guests: int) -> np.ndarray:
    """By team instead of by host: one cell of each game is that of the next team."""
    pair = [cells[..., 0], cells[..., 1]]
    pair[guests] = np.roll(pair[guests], 1, axis=-1)
    found = [pair[0][:, :, 0]]
    if cells.shape[2] == 2:
        found = [pair[0][:, :, 0], pair[1][:, :, 0], pair[0][:, :, 1]]
    return np.moveaxis(np.stack(found, axis=-1), 2, 3)
