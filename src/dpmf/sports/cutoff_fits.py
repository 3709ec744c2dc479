"""A score model fitted at every cutoff of a backtest, all of them as one program.

Nothing flows back in time. The constants of the model come from games before the first
cutoff; scores from a cutoff on are replaced by 0 and have weight 0; every cutoff has its own
chains and its own tuning.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from jaxtyping import Array

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan
from dpmf.backtest.prediction import Prediction
from dpmf.data import Dyads
from dpmf.inference.chains import Kept, Sizes, run_many
from dpmf.inference.diagnostics import diagnostics
from dpmf.inference.problem import Problem
from dpmf.inference.start import starts
from dpmf.model.layout import Grids, grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.spec import Spec
from dpmf.model.stacking import lengthened, stacked
from dpmf.model.state import FREE_ALL, State
from dpmf.sports.games import dyads

CELLS = 100  # of each cutoff whose convergence is looked at
BYTES = {"cpu": 2**30, "gpu": 2**35}  # that the fits of one program may take
PER_NUMBER = 30 * 8  # bytes that a trajectory takes for each coordinate or cell


@dataclasses.dataclass(frozen=True)
class FirstEvents:
    """Keeps what forecasts need: y of the first events, and the noise."""

    count: int

    def __call__(self, problem: Problem, state: State) -> dict[str, Array]:
        """Of one draw."""
        values = problem.parameters(state)
        y = predictor(problem.spec, state.white, values, problem.arrays)
        return {"y": y[: self.count], **values.noise}


class _Task(NamedTuple):
    """One cutoff: the games to forecast come first, then those to learn from."""

    data: Dyads
    upcoming: int  # number of games to forecast
    centre: float
    day: int  # of the cutoff


def forecasts(
    score_model: Any, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
) -> Forecasts:
    """Predictions of a score model at every cutoff.

    Args:
        score_model: A `ScoreModel`.
        frame: All games.
        cutoffs: When forecasts are made, and of which games.
        plan: Sizes, engine and seed.
    """
    data = dyads(frame)
    tasks = [_task(data, frame, cutoff, plan) for cutoff in cutoffs]
    with jax.enable_x64(True):
        first = min(cutoffs, key=lambda cutoff: cutoff.start)
        spec = _spec(score_model, frame, data, first, plan)
        found = _kept(spec, tasks, plan)
    predictions = [_prediction(one, task) for one, task in zip(found, tasks, strict=True)]
    rows = [
        {"season": c.season, "block": c.block, "cutoff": c.start, **_checked(one, task)}
        for c, one, task in zip(cutoffs, found, tasks, strict=True)
    ]
    return Forecasts(predictions, pd.DataFrame(rows))


def _spec(score_model, frame, data: Dyads, first: Cutoff, plan: Plan) -> Spec:
    """The model with all its constants, from games before the first cutoff and the calendar."""
    known = data.take(first.past(frame, plan.window))
    lengths = frame.groupby("season")["week"].max().to_dict()
    return score_model.model(lengths).spec(known)


def _task(data: Dyads, frame: pd.DataFrame, cutoff: Cutoff, plan: Plan) -> _Task:
    past, upcoming = cutoff.past(frame, plan.window), cutoff.upcoming(frame)
    places = np.concatenate([np.flatnonzero(upcoming), np.flatnonzero(past)])
    used, count = data.take(places), int(upcoming.sum())
    values = used.values.copy()
    values[:count] = 0.0  # not yet played
    used = dataclasses.replace(used, values=values)
    return _Task(used, count, float(values[count:].mean()), cutoff.start.toordinal())


def _kept(spec: Spec, tasks: list[_Task], plan: Plan) -> list[Kept]:
    """Draws at every cutoff; as many cutoffs in one program as memory allows."""
    points = [grids(spec, task.data, dense=False) for task in tasks]
    sizes = [
        None if grid is None else tuple(max(n) for n in zip(*shapes, strict=True))
        for grid, shapes in zip(points[0], _shapes(points), strict=True)
    ]
    laid = [_laid_out(one, task, sizes) for one, task in zip(points, tasks, strict=True)]
    arrays = stacked(laid)
    most = max(task.upcoming for task in tasks)
    template = Problem(laid[0], FREE_ALL, spec).template()
    numbers = sum(x.size for x in jax.tree.leaves(template)) + arrays.values[0].size * spec.rank
    room = BYTES.get(jax.default_backend(), BYTES["gpu"])
    together = max(1, min(len(tasks), room // (plan.chains * numbers * PER_NUMBER)))
    found: list[Kept] = []
    groups = list(_groups(len(tasks), together))
    for number, group in enumerate(groups):
        problems = Problem(jax.tree.map(lambda x, g=group: x[g], arrays), FREE_ALL, spec)
        centres = jnp.asarray([tasks[i].centre for i in group])
        # Keys by date: a forecast does not depend on which others are made.
        dates = jnp.asarray([tasks[i].day for i in group])
        keys = jax.vmap(lambda day: jr.fold_in(jr.key(plan.seed), day))(dates)

        def report(stage: str, done: int, total: int, number: int = number) -> None:
            plan.report(stage, number * total + done, len(groups) * total)

        kept = _run(problems, centres, keys, FirstEvents(most), plan, report)
        found += [jax.tree.map(lambda x, i=i: x[i], kept) for i in range(len(group))]
    return found[: len(tasks)]


def _run(problems, centres, keys, keep: FirstEvents, plan: Plan, report) -> Kept:
    key_start, key_run = jnp.swapaxes(jax.vmap(jr.split)(keys), 0, 1)
    by_chain = jax.vmap(lambda key: jr.split(key, plan.chains))(key_start)
    states = jax.vmap(starts)(problems, centres, by_chain)
    sizes = Sizes(plan.warmup, plan.draws, plan.thin)
    return run_many(plan.engine, problems, states, sizes, key_run, keep, report)


def _shapes(points: list[Grids]) -> list[list[tuple[int, ...]]]:
    """The shapes of each of the four grids over all cutoffs."""
    return [[grid.shape for grid in one if grid] for one in zip(*points, strict=True)]


def _laid_out(points: Grids, task: _Task, sizes: list) -> Any:
    longer = [
        None if grid is None else lengthened(grid, size)
        for grid, size in zip(points, sizes, strict=True)
    ]
    arrays = layout(Grids._make(longer), task.data)[1]
    return dataclasses.replace(arrays, weight=arrays.weight.at[: task.upcoming].set(0.0))


def _groups(count: int, together: int) -> Iterator[np.ndarray]:
    """Numbers of tasks; the last group repeats its last one, so that all have one shape."""
    for first in range(0, count, together):
        yield np.minimum(np.arange(first, first + together), count - 1)


def _prediction(kept: Kept, task: _Task) -> Prediction:
    y = kept.values["y"][:, :, : task.upcoming]
    sigma, rho = (kept.values[name].reshape(-1) for name in ("sigma", "rho"))
    shape = np.where(np.eye(2, dtype=bool), 1.0, rho[:, None, None])
    return Prediction(y.reshape(-1, *y.shape[2:]), sigma[:, None, None] ** 2 * shape)


def _checked(kept: Kept, task: _Task) -> dict[str, float]:
    """Convergence of the predicted means."""
    y = kept.values["y"][:, :, : task.upcoming]
    cells = y.reshape(*y.shape[:2], -1)
    some = np.unique(np.linspace(0, cells.shape[2] - 1, min(CELLS, cells.shape[2])).astype(int))
    found = diagnostics({"y": cells[:, :, some]}, kept.stats)
    return {
        "rhat_max": float(np.nanmax(found.rhat)),
        "ess_median": float(np.nanmedian(found.ess_bulk)),
        "ess_min": float(np.nanmin(found.ess_bulk)),
        "divergences": found.divergences,
    }
