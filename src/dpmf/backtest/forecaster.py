"""What every forecaster is: games and cutoffs in, one prediction per cutoff out."""

import dataclasses
import importlib
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.prediction import Prediction
from dpmf.errors import ConfigError
from dpmf.inference.progress import Report

SCORES = ["home_score", "away_score"]


def silent(stage: str, done: int, total: int) -> None:
    """A report to nobody."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a backtest is to be run."""

    window: int | None = 3  # seasons that are learned from, the current one included
    engine: str = "hmc"
    chains: int = 4
    warmup: int = 400
    draws: int = 250
    thin: int = 1
    seed: int = 0
    report: Report = silent


@dataclasses.dataclass(frozen=True, eq=False)
class Forecasts:
    """What a forecaster said, and how sure it is of its own arithmetic."""

    predictions: list[Prediction]  # one per cutoff
    fits: pd.DataFrame | None = None  # diagnostics, one row per cutoff


@runtime_checkable
class Forecaster(Protocol):
    """Anything that can forecast the games after a cutoff from those before it."""

    def forecasts(
        self, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
    ) -> Forecasts:
        """Predictions at every cutoff.

        Args:
            frame: All games, also those after the cutoffs, whose scores may not be used.
            cutoffs: When forecasts are made, and of which games.
            plan: How.
        """


def package(name: str) -> Any:
    """A package that only this forecaster needs.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(f"{name}: not installed; pip install {name}.") from error


def known_scores(frame: pd.DataFrame, past: np.ndarray) -> np.ndarray:
    """Both scores of the games of the past."""
    return frame.loc[past, SCORES].to_numpy(float)


def error_covariance(errors: np.ndarray) -> np.ndarray:
    """Covariance of errors around 0, from those that are known."""
    usable = errors[np.isfinite(errors).all(axis=1)]
    if len(usable) < 3:
        return np.full((2, 2), np.nan)
    return usable.T @ usable / len(usable)
