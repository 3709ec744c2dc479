"""Forecasts of games in; the answers to what people ask about a game out."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from dpmf.backtest.metrics import MARGIN, TOTAL
from dpmf.backtest.prediction import Prediction
from dpmf.checks import positive_number
from dpmf.errors import ConfigError, DpmfWarning
from dpmf.likelihoods import PairedGaussian, PairedPoisson
from dpmf.posterior import Forecast
from dpmf.sports.rest import tired

SPREAD = -MARGIN  # as lines are written: negative where the home team is ahead
SAMPLES = 20_000  # behind what has no closed form
LINES, TURNED = 8, -0.3  # so many lines tell whether they go against the forecasts


class Sampled:
    """Sums of scores drawn from a forecast, for noise models without a formula."""

    def __init__(self, samples: Float[np.ndarray, "events samples 2"]) -> None:
        self.samples = samples

    def cdf(
        self, direction: Float[np.ndarray, " 2"], at: Float[np.ndarray, " events"]
    ) -> Float[np.ndarray, " events"]:
        """Share of samples below `at`; one that is there counts half: stakes go back."""
        drawn = self.samples @ direction
        below, there = drawn < at[:, None], drawn == at[:, None]
        return np.where(np.isnan(at), np.nan, below.mean(axis=1) + there.mean(axis=1) / 2)

    def quantile(
        self, direction: Float[np.ndarray, " 2"], probability: float
    ) -> Float[np.ndarray, " events"]:
        """The value that samples stay at or below with some probability."""
        return np.quantile(self.samples @ direction, probability, axis=1)


def sums(forecast: Forecast) -> Prediction | Sampled:
    """Distributions of sums of both scores, each times a number.

    Exact where every draw says a normal pair, from samples otherwise.
    """
    if not isinstance(forecast.likelihood, PairedGaussian):
        return Sampled(forecast.sample(SAMPLES))
    return mixture(forecast)


def mixture(forecast: Forecast) -> Prediction:
    """The forecast of a `PairedGaussian` model as one normal pair for each draw."""
    return Prediction.pairs(forecast.y, forecast.noise["sigma"], forecast.noise["rho"])


def forecast_table(
    forecast: Forecast, games: pd.DataFrame, *, interval: float = 80.0, rested: bool = False
) -> pd.DataFrame:
    """One row per game: expected scores, who wins, spread, total, and bets on lines.

    Where scores are counts a game may be drawn: p_win, p_draw and p_loss of the home team
    follow, and p_home_win counts half of the draws.

    `spread` has the sign of a line: negative where the home team is expected to win. The
    intervals hold spread and total with the given probability, as much of it below as above.

    Args:
        forecast: Of these games.
        games: The frame of a `Games`; where it has spread_home or total, p_home_cover or
            p_over follow.
        interval: Probability of the intervals, in percent.
        rested: Whether the model knows of rest; `tired` then says which team has a game the
            day before, where the other has not.

    Raises:
        ConfigError: The interval is none.
    """
    tail = _tail(interval)
    mean, sd, covariance = forecast.mean, forecast.sd, forecast.covariance
    whole, drawn = sums(forecast), draws_probability(forecast)
    columns: dict[str, Any] = {
        "date": games["date"].dt.strftime("%Y-%m-%d").to_numpy(),
        "home": games["home_team"].to_numpy(),
        "away": games["away_team"].to_numpy(),
        "home_mean": mean[:, 0],
        "away_mean": mean[:, 1],
        "home_sd": sd[:, 0],
        "away_sd": sd[:, 1],
        "correlation": covariance[:, 0, 1] / sd.prod(axis=1),
        "p_home_win": forecast.first_exceeds,
        **({} if drawn is None else _outcomes(forecast.first_exceeds, drawn)),
        "spread": mean @ SPREAD,
        "total": mean @ TOTAL,
    }
    for name, direction in (("spread", SPREAD), ("total", TOTAL)):
        columns[f"{name}_low"] = whole.quantile(direction, tail)
        columns[f"{name}_high"] = whole.quantile(direction, 1 - tail)
    if "spread_home" in games:
        # Home covers where its margin and the line together are above 0.
        columns["p_home_cover"] = whole.cdf(SPREAD, games["spread_home"].to_numpy(float))
    if "total" in games:
        columns["p_over"] = 1 - whole.cdf(TOTAL, games["total"].to_numpy(float))
    if rested:
        columns["tired"] = tired(games)
    return pd.DataFrame(columns)


def draws_probability(forecast: Forecast) -> Float[np.ndarray, " events"] | None:
    """The chance of a draw; None where scores are no counts, so that there are no draws."""
    return forecast.equal if isinstance(forecast.likelihood, PairedPoisson) else None


def _outcomes(
    exceeds: Float[np.ndarray, " events"], drawn: Float[np.ndarray, " events"]
) -> dict[str, np.ndarray]:
    won = np.clip(exceeds - drawn / 2, 0.0, 1.0)
    return {"p_win": won, "p_draw": drawn, "p_loss": np.clip(1 - won - drawn, 0.0, 1.0)}


def tell_turned_lines(table: pd.DataFrame, games: pd.DataFrame, *, source: str) -> None:
    """Warn where lines look as if they had the other sign.

    Args:
        table: What `forecast_table` gives.
        games: The frame of the same `Games`.
        source: Where the games came from.
    """
    if "spread_home" not in games:
        return
    both = pd.DataFrame({"line": games["spread_home"], "spread": table["spread"]}).dropna()
    if len(both) >= LINES and both["line"].corr(both["spread"]) < TURNED:
        warnings.warn(
            f"{source}: spread_home looks as if its sign were turned, expected negative "
            "numbers where home is the favourite; p_home_cover means nothing otherwise.",
            DpmfWarning,
            stacklevel=2,
        )


def _tail(interval: float) -> float:
    percent = positive_number("interval", interval)
    if not 1 <= percent < 100:
        raise ConfigError(f"interval={interval!r}, expected percent from 1 to 99, such as 80.")
    return (1 - percent / 100) / 2
