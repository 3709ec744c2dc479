"""The default protocol: cold starts, every cutoff by itself.

Every cutoff has its own chains, its own hyperparameters and its own tuning.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan
from dpmf.inference.chains import Sizes, run_many
from dpmf.inference.checkpoint import Place
from dpmf.inference.identity import threads
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report
from dpmf.inference.room import Room
from dpmf.inference.start import starts
from dpmf.model.spec import Spec
from dpmf.model.state import FREE_ALL
from dpmf.sports.side_by_side import side_by_side
from dpmf.sports.tasks import (
    FirstEvents,
    Found,
    Task,
    common_shapes,
    forecasts_of,
    laid_out,
    numbers,
    posed,
)

BYTES = 2**35  # that the fits of one program may take on a GPU
PER_NUMBER = 30 * 8  # bytes that a trajectory takes for each coordinate or cell


def forecasts(
    score_model: Any, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
) -> Forecasts:
    """Predictions of a `ScoreModel` at every cutoff."""
    with jax.enable_x64(True):
        spec, tasks = posed(score_model, frame, cutoffs, plan, rest=False)
        found = _kept(spec, tasks, plan)
    return forecasts_of(spec, found)


def _kept(spec: Spec, tasks: Sequence[Task], plan: Plan) -> list[Found]:
    """Draws at every cutoff.

    A GPU takes as many cutoffs in one program as its memory allows. On a CPU each cutoff is
    a call of the same program, one for each core at a time: trajectories of one cutoff then
    never wait for the longer ones of another.
    """
    cpu = jax.default_backend() == "cpu"
    shapes = common_shapes(spec, tasks)
    fits = BYTES // (
        plan.chains * numbers(spec, laid_out(spec, [tasks[0]], shapes)) * PER_NUMBER
    )
    together = 1 if cpu else max(1, min(len(tasks), fits))
    groups = list(_groups(len(tasks), together))
    heads = [(task.cutoff, task.upcoming) for task in tasks]
    keep = FirstEvents(max(upcoming for _, upcoming in heads))

    def one(group: np.ndarray, report: Report) -> Room:
        own = [tasks[i] for i in group]
        problems = Problem(laid_out(spec, own, shapes), FREE_ALL, spec)
        centres = jnp.asarray([task.centre(spec) for task in own])
        # Keys by date: they do not depend on which other forecasts are made.
        dates = jnp.asarray([task.cutoff.start.toordinal() for task in own])
        keys = jax.vmap(lambda day: jr.fold_in(jr.key(plan.seed), day))(dates)
        place = plan.unfinished and plan.unfinished.with_suffix(
            f".from-{own[0].cutoff.start:%Y-%m-%d}"
        )
        return _run(problems, centres, keys, keep, plan, report, place)

    rooms = side_by_side(one, groups, threads() if cpu else 1, plan.report)
    places = [(room, place) for room in rooms for place in range(together)]
    return [Found(*head, *place) for head, place in zip(heads, places, strict=False)]


def _run(problems, centres, keys, keep: FirstEvents, plan: Plan, report, folder) -> Room:
    key_start, key_run = jnp.swapaxes(jax.vmap(jr.split)(keys), 0, 1)
    by_chain = jax.vmap(lambda key: jr.split(key, plan.chains))(key_start)
    states = jax.vmap(starts)(problems, centres, by_chain)
    sizes = Sizes(plan.warmup, plan.draws, plan.thin)
    place = folder and Place(folder, {})
    kept = run_many(
        plan.engine, problems, states, sizes, key_run, keep, report, checkpoint=place
    )
    return kept.room


def _groups(count: int, together: int) -> Iterator[np.ndarray]:
    """Numbers of tasks; the last group repeats its last one, so that all have one shape."""
    for first in range(0, count, together):
        yield np.minimum(np.arange(first, first + together), count - 1)
