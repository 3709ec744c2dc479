"""Features in; what each team scores and concedes against an average opponent out."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dpmf.likelihoods import Likelihood
from dpmf.report.features import Features

BAND = (0.1, 0.5, 0.9)  # of all draws: four of five lie between the outer ones


class Ratings(NamedTuple):
    """Expected points a game against all others in turn, half of them at home."""

    attack: Float[np.ndarray, "draws teams moments"]  # points scored
    defence: Float[np.ndarray, "draws teams moments"]  # points conceded: less is better
    home: Float[np.ndarray, "draws teams moments"]  # added to the margin by playing at home

    @property
    def net(self) -> Float[np.ndarray, "draws teams moments"]:
        """Expected margin."""
        return self.attack - self.defence


def ratings(features: Features, likelihood: Likelihood) -> Ratings:
    """The ratings of every draw.

    Args:
        features: At home and away, or at one venue where the model does not know it.
        likelihood: Of the fit; it says what score to expect.
    """

    def one(draw: tuple[Array, Array, Any]) -> tuple[Array, Array, Array]:
        attack, defence, noise = draw
        # Of host m and guest n: what m scores at home, and n away.
        scored = jnp.einsum("kmt,knt->mnt", attack[..., 0], defence[..., 0])
        replied = jnp.einsum("knt,kmt->mnt", attack[..., -1], defence[..., -1])
        pairs = jnp.stack([scored, replied], axis=-1)
        expected = likelihood.at(noise).mean(pairs.reshape(-1, 2)).reshape(pairs.shape)
        at_home, away = _averages(expected, 1), _averages(expected, 0)
        mine = (at_home[..., 0] + away[..., 1]) / 2
        theirs = (at_home[..., 1] + away[..., 0]) / 2
        margins = at_home[..., 0] - at_home[..., 1], away[..., 1] - away[..., 0]
        return mine, theirs, (margins[0] - margins[1]) / 2

    with jax.enable_x64(True):
        venues = slice(0, 2)  # of the home team, and of its guests
        noise = {name: jnp.asarray(value) for name, value in features.noise.items()}
        sides = (jnp.asarray(x[..., venues]) for x in (features.attack, features.defence))
        found = jax.jit(lambda draws: jax.lax.map(one, draws))((*sides, noise))
    return Ratings(*map(np.asarray, found))


def _averages(expected: Float[Array, "hosts guests moments pair"], axis: int) -> Array:
    """Over all opponents; nobody meets himself."""
    own = jnp.moveaxis(jnp.diagonal(expected), -1, 0)
    return (expected.sum(axis=axis) - own) / (len(expected) - 1)


def table(found: Ratings, teams: tuple[str, ...], moment: int) -> list[dict[str, Any]]:
    """One row per team at one moment, the best first."""
    rows = []
    for place, team in enumerate(teams):
        row: dict[str, Any] = {"team": team, "place": place}
        for name in ("net", "attack", "defence", "home"):
            low, middle, high = np.quantile(getattr(found, name)[:, place, moment], BAND)
            row[name] = {"low": float(low), "median": float(middle), "high": float(high)}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["net"]["median"])


def curves(found: Ratings) -> dict[str, list]:
    """Quantiles of every team over time: name -> [low, median, high] x teams x moments."""
    return {
        name: np.round(np.quantile(getattr(found, name), BAND, axis=0), 3).tolist()
        for name in ("net", "attack", "defence")
    }
