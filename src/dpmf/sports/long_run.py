"""The paper's hyperparameters: learned once, in a long run on some seasons, then held."""

import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpmf.backtest.forecaster import Plan
from dpmf.errors import DpmfWarning, FileError
from dpmf.inference.checkpoint import remove
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.model.spec import Spec
from dpmf.model.state import FREE_ALL, Fixed
from dpmf.sports.games import dyads
from dpmf.whole import write_whole


def learned(score_model: Any, frame: pd.DataFrame, spec: Spec, plan: Plan) -> Fixed:
    """The kernel hyperparameters of the central draw of a long run on some seasons.

    They are kept beside the unfinished work of the plan, and not learned again.
    """
    if not (spec.rows.theta() or spec.cols.theta()):
        return FREE_ALL
    path = plan.unfinished and plan.unfinished.with_suffix(".theta.json")
    if path and path.exists():
        return _read(path).fixed(spec)
    way = plan.unfinished and plan.unfinished.with_suffix(".long-run")
    found = _run(score_model, frame, spec, plan, way)
    if path and way:
        text = json.dumps(_plain(dataclasses.asdict(found)), indent=1)
        write_whole(path, lambda place: place.write_text(text))
        remove(way)
    return found.fixed(spec)


def _run(
    score_model: Any, frame: pd.DataFrame, spec: Spec, plan: Plan, way: Path | None
) -> Hyperparameters:
    """The run is one of `hmc`, whatever engine the cutoffs use. It warns if not converged."""
    games = frame[frame["season"].isin(plan.learn_from)]
    lengths = frame.groupby("season")["week"].max().to_dict()
    model = score_model.model(lengths, scale=spec.scale, spread=spec.spread)
    chains, warmup, draws = plan.long_run
    fit = model.fit(
        dyads(games, score_model.inputs),
        chains=chains,
        warmup=warmup,
        draws=draws,
        seed=plan.seed,
        progress=lambda stage, done, total: plan.report(f"long run, {stage}", done, total),
        checkpoint=way,
    )
    if not fit.diagnostics.converged:
        warnings.warn(
            f"{score_model.name}, rank {score_model.rank}: the long run that hyperparameters "
            f"come from: {fit.diagnostics.line()}",
            DpmfWarning,
            stacklevel=2,
        )
    return fit.hyperparameters(sigma=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return None if value is None else np.asarray(value).tolist()


def _read(path: Path) -> Hyperparameters:
    try:
        return Hyperparameters(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise FileError(f"{path}: cannot be read ({error}); remove it.") from error
