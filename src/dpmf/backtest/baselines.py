"""Forecasters to be measured against: the betting line, Elo, a constant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import (
    SCORES,
    Forecasts,
    Plan,
    error_covariance,
    known_scores,
    package,
)
from dpmf.backtest.prediction import Prediction
from dpmf.errors import ConfigError


class Home:
    """Every home team scores as much as home teams did, and every visitor likewise."""

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        def one(cutoff: Cutoff) -> Prediction:
            past = cutoff.past(frame, plan.window)
            values, neutral = known_scores(frame, past), frame["neutral"].to_numpy(bool)
            at_home = values[~neutral[past]] if (~neutral[past]).any() else values
            means = at_home.mean(axis=0)
            guess = np.where(neutral[:, None], means.mean(), means[None])
            covariance = error_covariance(values - guess[past])
            return Prediction.normal(guess[cutoff.upcoming(frame)], covariance)

        return Forecasts([one(cutoff) for cutoff in cutoffs])


class Line:
    """The score that spread and total imply, with the covariance of earlier line errors."""

    def require(self, frame: pd.DataFrame) -> list[np.ndarray]:
        """Spread and total.

        Raises:
            ConfigError: They are not in the file.
        """
        return [_column(frame, name) for name in ("spread_home", "total")]

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        spread, total = self.require(frame)
        implied = np.stack([total - spread, total + spread], axis=1) / 2

        def one(cutoff: Cutoff) -> Prediction:
            past = cutoff.past(frame, None)  # all earlier lines, whatever the window
            covariance = error_covariance(known_scores(frame, past) - implied[past])
            return Prediction.normal(implied[cutoff.upcoming(frame)], covariance)

        return Forecasts([one(cutoff) for cutoff in cutoffs])


class Elo538:
    """The probability that the file gives, from before each game: it knows yesterday's."""

    def require(self, frame: pd.DataFrame) -> np.ndarray:
        """The probabilities.

        Raises:
            ConfigError: They are not in the file.
        """
        return _column(frame, "elo_home_prob")

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        chance = self.require(frame)
        return Forecasts([Prediction.only_winner(chance[c.upcoming(frame)]) for c in cutoffs])


class Melo:
    """Margin-dependent Elo of the package `melo`, once for margins and once for totals."""

    LINES = 61  # handicaps at which ratings are kept
    RATE = 0.1  # update of a rating after a game

    def require(self, frame: pd.DataFrame) -> Any:
        """The package."""
        return package("melo")

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        Rated = self.require(frame).Melo

        def rated(games: pd.DataFrame, values: np.ndarray, commutes: bool):
            reach = 4 * values.std()
            lines = np.linspace(-reach, reach, self.LINES) + (values.mean() if commutes else 0)
            model = Rated(self.RATE, lines=lines, sigma=0.1 * values.std(), commutes=commutes)
            model.fit(games["date"], games["home_team"], games["away_team"], values)
            return model

        def one(cutoff: Cutoff) -> Prediction:
            known = frame[cutoff.past(frame, plan.window)]
            values = known[SCORES].to_numpy(float)
            upcoming = frame[cutoff.upcoming(frame)]
            asked = np.full(len(upcoming), np.datetime64(cutoff.start))
            means, errors = [], []
            for sign, commutes in ((-1, False), (1, True)):
                outcome = values[:, 0] + sign * values[:, 1]
                model = rated(known, outcome, commutes)
                mean = model.mean(asked, *_as_rated(known, upcoming))
                means.append(np.atleast_1d(mean))
                errors.append(np.asarray(model.residuals()))
            margin, total = means
            guess = np.stack([total + margin, total - margin], axis=1) / 2
            off = np.stack([errors[1] + errors[0], errors[1] - errors[0]], axis=1) / 2
            return Prediction.normal(guess, error_covariance(off))

        return Forecasts([one(cutoff) for cutoff in cutoffs])


def _as_rated(known: pd.DataFrame, upcoming: pd.DataFrame) -> list[pd.Series]:
    """The teams of games; those that have never played are average ones, as `melo` says it."""
    seen = {*known["home_team"], *known["away_team"]}
    teams = (upcoming[name] for name in ("home_team", "away_team"))
    return [one.where(one.isin(seen), "average") for one in teams]


def _column(frame: pd.DataFrame, name: str) -> np.ndarray:
    if name not in frame:
        raise ConfigError(f"there is no column {name!r}, which this forecaster reads.")
    return frame[name].to_numpy(float)
