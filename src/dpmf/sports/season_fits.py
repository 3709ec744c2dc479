"""The paper's protocol: warm starts within a season, hyperparameters held.

All seasons run side by side, one block after another. The grid of a season holds all of
its weeks from the start; functions at weeks to come follow the prior, so that the last
state of a chain is a state of the next cutoff as it stands.
"""

import dataclasses
from collections.abc import Sequence
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
from dpmf.inference.identity import digest
from dpmf.inference.problem import Problem
from dpmf.inference.start import starts
from dpmf.model.layout import Layout
from dpmf.model.spec import Spec
from dpmf.model.state import FREE_ALL, Fixed
from dpmf.sports.long_run import learned
from dpmf.sports.tasks import FirstEvents, Found, Task, forecasts_of, laid_out, posed


def forecasts(
    score_model: Any, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
) -> Forecasts:
    """Predictions of a `ScoreModel` at every cutoff."""
    with jax.enable_x64(True):
        spec, every = posed(score_model, frame, cutoffs, plan, whole_season=True)
        tasks = list(every)  # all seasons run side by side
        fixed = learned(score_model, frame, spec, plan)
        found = _kept(spec, fixed, tasks, plan)
    seen = None if fixed is FREE_ALL else max(plan.learn_from)
    return dataclasses.replace(forecasts_of(spec, found), seen=seen)


def _kept(spec: Spec, fixed: Fixed, tasks: list[Task], plan: Plan) -> list[Found]:
    arrays = laid_out(spec, tasks)
    keep = FirstEvents(max(task.upcoming for task in tasks))
    # (blocks, seasons): the number of each task; a season with fewer blocks repeats its
    # last, so that all blocks have one shape, and the repetition is thrown away.
    seasons = sorted({task.cutoff.season for task in tasks})
    own = [[i for i, t in enumerate(tasks) if t.cutoff.season == s] for s in seasons]
    most = max(len(one) for one in own)
    numbers = np.array([one + [one[-1]] * (most - len(one)) for one in own]).T
    keys = jax.vmap(lambda season: jr.fold_in(jr.key(plan.seed), season))(jnp.array(seasons))
    states, tuned = _cold(spec, fixed, arrays, numbers[0], tasks, keys, plan), None
    found: dict[int, Found] = {}
    for block, group in enumerate(numbers):
        # The paper's cold start is at the first block of a season alone.
        sizes = Sizes(plan.rewarm if block else plan.warmup, plan.draws, plan.thin)

        def report(stage: str, done: int, total: int, block: int = block) -> None:
            plan.report(f"block {block + 1} of {most}, {stage}", done, total)

        problems = _problems(spec, fixed, arrays, group)
        place = None
        if plan.unfinished:
            before = {"start": digest((states, tuned)) if block else "cold"}
            place = Place(plan.unfinished.with_suffix(f".block-{block + 1}"), before)
        fresh = jax.vmap(lambda key, b=block: jr.fold_in(key, b + 1))(keys)
        kept = run_many(plan.engine, problems, states, sizes, fresh, keep, report, tuned, place)
        # Forward in time alone: a season's next block goes on from what this one has learned.
        states, tuned = jax.tree.map(jnp.asarray, (kept.last, kept.tuned))
        for season, number in enumerate(group):
            head = tasks[number].cutoff, tasks[number].upcoming
            found.setdefault(int(number), Found(*head, kept.room, season))
    return [found[i] for i in range(len(tasks))]


def _cold(spec, fixed, arrays: Layout, group, tasks: list[Task], keys, plan: Plan):
    by_chain = jax.vmap(lambda key: jr.split(jr.fold_in(key, 0), plan.chains))(keys)
    centres = jnp.asarray([tasks[i].centre(spec) for i in group])
    return jax.vmap(starts)(_problems(spec, fixed, arrays, group), centres, by_chain)


def _problems(spec: Spec, fixed: Fixed, arrays: Layout, group: np.ndarray) -> Problem:
    repeated = jax.tree.map(
        lambda x: jnp.broadcast_to(jnp.asarray(x), (len(group), *np.shape(x))), fixed
    )
    return Problem(jax.tree.map(lambda x: x[group], arrays), repeated, spec)
