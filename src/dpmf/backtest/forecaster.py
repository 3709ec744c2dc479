"""What every forecaster is: games and cutoffs in, one prediction per cutoff out."""

import dataclasses
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.goals import Goals
from dpmf.backtest.prediction import Prediction
from dpmf.checks import whole_number
from dpmf.errors import ConfigError
from dpmf.inference.progress import Report

SCORES = ["home_score", "away_score"]


def silent(stage: str, done: int, total: int) -> None:
    """A report to nobody."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a backtest is to be run.

    The default protocol starts every cutoff cold and samples its hyperparameters. The
    paper's learns them once, in a long run on some seasons, holds them, and starts each
    cutoff of a season from the chains of the one before.
    """

    window: int | None = 3  # seasons that are learned from, the current one included
    protocol: str = "default"
    engine: str = "hmc"
    chains: int = 4
    warmup: int = 400
    draws: int = 400
    thin: int = 1
    seed: int = 0
    rewarm: int = 100  # paper: warm-up of a warm start
    learn_from: tuple[int, ...] = ()  # paper: seasons of the long run
    long_run: tuple[int, int, int] = (8, 200, 60)  # its chains, warm-up and draws
    report: Report = silent
    unfinished: Path | None = None  # names of a forecaster's own files begin so

    def settings(self) -> dict[str, Any]:
        """All that the results depend on."""
        others = ("report", "unfinished")
        names = [field.name for field in dataclasses.fields(self) if field.name not in others]
        return {name: getattr(self, name) for name in names}


PAPER = {"engine": "slice", "chains": 10, "warmup": 1000, "draws": 100, "thin": 4}
PROTOCOLS: dict[str, dict[str, Any]] = {"default": {}, "paper": PAPER}
# The paper counts sweeps, of which a step of `hmc` does the work of many: with these sizes
# 1,000 draws on the paper's games are worth 772 independent ones, in the median of all models.
BY_ENGINE = {("paper", "hmc"): {"warmup": 250, "rewarm": 50, "thin": 1}}
LEARNED = 3  # paper: the first so many seasons are those of the long run


def plan_of(seasons: Sequence[int], window: int | None, options: dict[str, Any]) -> Plan:
    """The protocol's settings, with those that were asked for.

    Args:
        seasons: To be forecast.
        window: Seasons to learn from; None is all.
        options: Fields of `Plan` by name; None takes the protocol's own.

    Raises:
        ConfigError: There is no such option, or no such choice.
    """
    allowed = set(Plan().settings()) - {"window"}
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise ConfigError(
            f"there is no option {unknown[0]!r}, expected some of {', '.join(sorted(allowed))}."
        )
    given = {name: value for name, value in options.items() if value is not None}
    protocol = given.get("protocol", "default")
    if protocol not in PROTOCOLS:
        raise ConfigError(f"protocol={protocol!r}, expected 'default' or 'paper'.")
    if window is not None and window < 1:
        raise ConfigError(f"window={window!r}, expected a number of seasons, at least 1.")
    least = {"chains": 1, "warmup": 0, "draws": 4, "thin": 1, "rewarm": 0}
    for name in least.keys() & given.keys():
        given[name] = whole_number(name, given[name], least[name])
    steps = BY_ENGINE.get((protocol, given.get("engine", "")), {})
    plan = Plan(window=window, **{**PROTOCOLS[protocol], **steps, **given})
    if plan.engine not in ("hmc", "slice"):
        raise ConfigError(f"engine={plan.engine!r}, expected 'hmc' or 'slice'.")
    if protocol == "paper" and not plan.learn_from:
        first = tuple(sorted(seasons)[:LEARNED])
        plan = dataclasses.replace(plan, learn_from=first)
    return plan


@dataclasses.dataclass(frozen=True, eq=False)
class Forecasts:
    """What a forecaster said, and how sure it is of its own arithmetic."""

    predictions: Sequence[Prediction | Goals]  # one per cutoff
    fits: pd.DataFrame | None = None  # diagnostics, one row per cutoff
    seen: int | None = None  # last season that hyperparameters were learned from


@runtime_checkable
class Part(Protocol):
    """Some cutoffs of a forecaster, as a piece of work that can be done elsewhere.

    Another process can be given it, and it makes the same predictions there.
    """

    @property
    def cutoffs(self) -> Sequence[Cutoff]:
        """When its forecasts are made."""

    def forecasts(self, frame: pd.DataFrame, plan: Plan) -> Forecasts:
        """Predictions at its cutoffs, as all of them together would have made them."""


@dataclasses.dataclass(frozen=True)
class Whole:
    """All cutoffs of a forecaster as one part, where they need each other."""

    forecaster: "Forecaster"
    cutoffs: tuple[Cutoff, ...]

    def forecasts(self, frame: pd.DataFrame, plan: Plan) -> Forecasts:
        """Predictions at every cutoff."""
        return self.forecaster.forecasts(frame, self.cutoffs, plan)


@runtime_checkable
class Forecaster(Protocol):
    """Anything that can forecast the games after a cutoff from those before it.

    One that takes long may also have `parts(frame, cutoffs, plan)`, a list of `Part`, so that
    a backtest can give them to an executor.
    """

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
