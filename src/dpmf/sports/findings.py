"""A fit of games in; what it has learned about the league out, as figures and in words."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float

from dpmf.inference.diagnostics import over_draws
from dpmf.kernels import Kernel
from dpmf.model.noise import noise_at
from dpmf.model.predictor import predictor
from dpmf.model.state import State
from dpmf.posterior import Fit
from dpmf.sports.games import AT_HOME
from dpmf.sports.rest import FRESHER

SIDES = {"rows": "attack", "cols": "defence"}
DRAWS = 100  # of each chain, spread over all that there are
_NOISE = {"sigma": "noise_sd", "rho": "noise_correlation", "shared": "shared_goals"}
FADED = np.exp(-1.0)  # what is left of a correlation when form has faded
WEEKS = np.geomspace(0.1, 1e4, 121)  # apart


class Figure(NamedTuple):
    """What a number is, over all draws."""

    median: float
    low: float  # a tenth of the draws is below
    high: float  # a tenth is above

    @staticmethod
    def of(draws: np.ndarray) -> "Figure":
        """The figure of some draws."""
        low, median, high = np.quantile(draws, [0.1, 0.5, 0.9], method="nearest")
        return Figure(float(median), float(low), float(high))


def findings(fit: Fit) -> dict[str, Figure]:
    """Figures with a meaning, whatever the rank; only those that the model can tell.

    `attack_form_weeks` and `defence_form_weeks`: weeks after which the correlation of a
    team's features with themselves has fallen to 1/e. `..._off_season_weeks`: what an
    off-season counts like. `..._venue_correlation`: of the features at home with those away.
    `home_advantage`: expected margin of home teams, averaged over the games learned from.
    `rest_advantage`: how much of a margin it is worth that the others played the day before,
    in the last week of the games learned from.
    `noise_sd` and `noise_correlation`: how scores scatter around what was expected; of goals
    `shared_goals`: how many of them both teams of a game score together.

    Args:
        fit: Made by `ScoreModel.fit`.
    """
    found: dict[str, Figure] = {}
    for side, name in SIDES.items():
        found |= _of_side(fit, side, name)
    columns = fit.spec.columns
    if "home" in columns and (fit.data.column("home")[:, 0] > 0).any():
        found["home_advantage"] = Figure.of(_home_margins(fit))
    if "rest" in columns and (fit.data.column("rest") != 0).any():
        found["rest_advantage"] = Figure.of(_rest_margins(fit))
    for name, own in _NOISE.items():
        if name in fit.parameters.noise:
            found[own] = Figure.of(fit.parameters.noise[name])
    return found


def in_words(found: dict[str, Figure]) -> list[str]:
    """The same as sentences; in brackets where four draws of five lie."""
    lines = []
    pairs = [
        ("form_weeks", "Form fades (to a correlation of 1/e) over about {}.", _weeks, " weeks"),
        ("off_season_weeks", "An off-season counts like about {}.", _weeks, " weeks"),
        ("venue_correlation", "A team at home and away correlates {}.", "{:.2f}".format, ""),
    ]
    for ending, sentence, shown, unit in pairs:
        each = {name: found.get(f"{name}_{ending}") for name in SIDES.values()}
        told = [f"{_shown(f, shown, unit)} in {name}" for name, f in each.items() if f]
        if told:
            lines.append(sentence.format(", ".join(told)))
    if "home_advantage" in found:
        points = _shown(found["home_advantage"], _points)
        lines.append(f"Home teams are expected to score {points} more than their guests.")
    if "rest_advantage" in found:
        points = _shown(found["rest_advantage"], _points)
        lines.append(f"A team whose opponent played the day before is {points} better for it.")
    if "noise_sd" in found:
        line = f"Scores scatter by {_shown(found['noise_sd'], '{:.1f}'.format)} around that"
        if "noise_correlation" in found:
            rho = _shown(found["noise_correlation"], "{:.2f}".format)
            line += f"; both scores of a game correlate {rho}"
        lines.append(f"{line}.")
    if "shared_goals" in found:
        goals = _shown(found["shared_goals"], _points)
        lines.append(f"An open game lifts both scores: {goals} goals of each are shared.")
    return lines


def _shown(figure: Figure, text: Any, unit: str = "") -> str:
    return f"{text(figure.median)}{unit} ({text(figure.low)} to {text(figure.high)})"


def _points(number: float) -> str:
    return f"{number:.1f}" if abs(number) >= 1 else f"{number:.2f}"


def _weeks(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def _thinned(fit: Fit) -> np.ndarray:
    count = fit.shape[1]
    return np.linspace(0, count - 1, min(DRAWS, count)).astype(int)


def _of_side(fit: Fit, side: str, name: str) -> dict[str, Figure]:
    kernel: Kernel = getattr(fit.spec, side).kernel
    some = _thinned(fit)
    shared = jax.tree.map(
        lambda x: np.asarray(x)[:, some].reshape(-1, *x.shape[2:]),
        getattr(fit.parameters, side),
    )
    # The share of each latent function in the variance of the features.
    factor = shared.sd[..., None] * shared.corr
    weights = (factor**2).sum(axis=1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    here = {"season": float(fit.data.column("season").max()), "week": 0.0, "home": 0.5}
    found = {}
    if "week" in kernel.columns:
        there = [here | {"week": float(weeks)} for weeks in WEEKS]
        left = _correlations(kernel, shared.theta, here, there, weights)
        found[f"{name}_form_weeks"] = Figure.of(_first_below(left))
    gaps = [value for label, value in (shared.theta or {}).items() if label.endswith(".gap")]
    if gaps:
        each = (weights * gaps[0].reshape(weights.shape)).sum(axis=1)
        found[f"{name}_off_season_weeks"] = Figure.of(each)
    if "home" in kernel.columns:
        away = [here | {"home": -0.5}]
        each = _correlations(kernel, shared.theta, here, away, weights)[:, 0]
        found[f"{name}_venue_correlation"] = Figure.of(each)
    return found


def _correlations(
    kernel: Kernel,
    theta: Any,
    here: dict[str, float],
    there: list[dict[str, float]],
    weights: Float[np.ndarray, "draws rank"],
) -> Float[np.ndarray, "draws places"]:
    """Of a member's features at two inputs, all latent functions together."""
    at, others = (
        [[one[c] for c in kernel.columns] for one in rows] for rows in ([here], there)
    )

    def one(values: dict[str, Array]) -> Array:
        return kernel.at(values).gram(jnp.asarray(at), jnp.asarray(others))[0]

    with jax.enable_x64(True):
        each = np.asarray(jax.jit(jax.vmap(jax.vmap(one)))(jax.tree.map(jnp.asarray, theta)))
    return np.einsum("dk,dkp->dp", weights, each)


def _first_below(left: Float[np.ndarray, "draws weeks"]) -> Float[np.ndarray, " draws"]:
    """Weeks until little is left, between the two of the grid where it happens."""
    place = np.where((left < FADED).any(axis=1), (left < FADED).argmax(axis=1), len(WEEKS))
    found = np.full(len(left), WEEKS[-1])
    for row, after in enumerate(place):
        if 0 < after < len(WEEKS):
            pair = slice(after - 1, after + 1)
            logs = np.interp(-FADED, -left[row, pair], np.log(WEEKS[pair]))
            found[row] = np.exp(logs)
        elif after == 0:
            found[row] = WEEKS[0]
    return found


def _home_margins(fit: Fit) -> np.ndarray:
    """Mean expected margin of the home team, of every draw."""
    problem, some = fit.problem, _thinned(fit)
    at_home = jnp.asarray(fit.data.column("home")[:, 0] > 0)

    def one(state: State) -> Array:
        values = problem.parameters(state)
        y = predictor(problem.spec, state.white, values, problem.arrays)
        scores = noise_at(problem.spec, state.white, values, problem.arrays).mean(y)
        return jnp.sum(jnp.where(at_home, scores[:, 0] - scores[:, 1], 0.0)) / jnp.sum(at_home)

    with jax.enable_x64(True):
        return over_draws(one, jax.tree.map(lambda x: x[:, some], fit.draws.states))


def _rest_margins(fit: Fit) -> np.ndarray:
    """What the day before is worth in margin, of some draws, averaged over all teams.

    Every team has the next one as its guest after the last week, fresher and not.
    """
    book, teams = fit.data.codebook, list(fit.data.row_names)
    season = fit.data.column("season")[:, 0].max()
    week = fit.data.column("week")[fit.data.column("season")[:, 0] == season].max()
    meetings = pd.DataFrame({book.row: teams, book.col: teams[1:] + teams[:1]})
    meetings = meetings.assign(season=season, week=week, home=AT_HOME)
    both = pd.concat([meetings.assign(rest=FRESHER), meetings.assign(rest=-FRESHER)])
    forecast = fit.thinned(DRAWS * fit.shape[0]).predict(both, source="findings")

    def one(y: Array, noise: dict[str, Array]) -> Array:
        scores = forecast.noise_at(noise).mean(y)
        fresher, tired = jnp.split(scores[:, 0] - scores[:, 1], 2)
        return jnp.mean(fresher - tired) / 2

    with jax.enable_x64(True):
        noise = {name: jnp.asarray(value) for name, value in forecast.noise.items()}
        return np.asarray(jax.jit(jax.vmap(one))(jnp.asarray(forecast.y), noise))
