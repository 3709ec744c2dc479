"""The default protocol: cold starts, every cutoff by itself.

Every cutoff has its own chains, its own hyperparameters and its own tuning.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pandas as pd

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan, silent
from dpmf.data import Dyads
from dpmf.inference.chains import Sizes, run_many
from dpmf.inference.checkpoint import Place
from dpmf.inference.identity import cores
from dpmf.inference.problem import Problem
from dpmf.inference.progress import Report
from dpmf.inference.room import Room
from dpmf.inference.start import starts
from dpmf.model.spec import Spec
from dpmf.model.state import FREE_ALL
from dpmf.sports.games import dyads
from dpmf.sports.side_by_side import side_by_side
from dpmf.sports.tasks import (
    FirstEvents,
    Found,
    Shapes,
    common_shapes,
    forecasts_of,
    laid_out,
    numbers,
    posed,
    task,
)

BYTES = 2**35  # that the fits of one program may take on a GPU
PER_NUMBER = 30 * 8  # bytes that a trajectory takes for each coordinate or cell


@dataclasses.dataclass(frozen=True)
class Program:
    """Cutoffs that run side by side, and all that decides their draws but games and plan.

    Which cutoffs share a program and what their arrays are padded to is decided once, for
    the whole backtest, so that it does not matter who runs the program.
    """

    spec: Spec
    inputs: tuple[str, ...]  # columns of games that it reads
    shapes: Shapes
    most: int  # games to forecast that there is room for
    together: int  # cutoffs that there is room for
    cutoffs: tuple[Cutoff, ...]

    def forecasts(self, frame: pd.DataFrame, plan: Plan) -> Forecasts:
        """Predictions at its cutoffs."""
        with jax.enable_x64(True):
            room = self.run(dyads(frame, self.inputs), frame, plan, silent)
        return forecasts_of(self.spec, self.found(frame, room))

    def run(self, data: Dyads, frame: pd.DataFrame, plan: Plan, report: Report) -> Room:
        """Draws at its cutoffs, from all games, encoded and as they are."""
        # The last program repeats its last cutoff, so that all programs have one shape.
        repeated = [self.cutoffs[-1]] * (self.together - len(self.cutoffs))
        own = [
            task(data, frame, cutoff, plan, whole_season=False)
            for cutoff in (*self.cutoffs, *repeated)
        ]
        problems = Problem(laid_out(self.spec, own, self.shapes), FREE_ALL, self.spec)
        centres = jnp.asarray([one.centre(self.spec) for one in own])
        # Keys by date: they do not depend on which other forecasts are made.
        dates = jnp.asarray([one.cutoff.start.toordinal() for one in own])
        keys = jax.vmap(lambda day: jr.fold_in(jr.key(plan.seed), day))(dates)
        place = plan.unfinished and plan.unfinished.with_suffix(
            f".from-{own[0].cutoff.start:%Y-%m-%d}"
        )
        return _run(problems, centres, keys, FirstEvents(self.most), plan, report, place)

    def found(self, frame: pd.DataFrame, room: Room) -> list[Found]:
        """What each of its cutoffs has left there."""
        return [
            Found(cutoff, int(cutoff.upcoming(frame).sum()), room, place)
            for place, cutoff in enumerate(self.cutoffs)
        ]


def forecasts(
    score_model: Any, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
) -> Forecasts:
    """Predictions of a `ScoreModel` at every cutoff."""
    every = programs(score_model, frame, cutoffs, plan)
    data = dyads(frame, score_model.inputs)

    def one(program: Program, report: Report) -> Room:
        return program.run(data, frame, plan, report)

    workers = cores() if jax.default_backend() == "cpu" else 1
    rooms = side_by_side(one, every, workers, plan.report)
    pairs = zip(every, rooms, strict=True)
    found = [one for program, room in pairs for one in program.found(frame, room)]
    return forecasts_of(every[0].spec, found)


def programs(
    score_model: Any, frame: pd.DataFrame, cutoffs: Sequence[Cutoff], plan: Plan
) -> list[Program]:
    """All cutoffs, some to a program.

    A GPU takes as many cutoffs in one program as its memory allows. On a CPU each cutoff is
    a call of the same program, one for each core at a time: trajectories of one cutoff then
    never wait for the longer ones of another.
    """
    with jax.enable_x64(True):
        spec, tasks = posed(score_model, frame, cutoffs, plan, whole_season=False)
        shapes = common_shapes(spec, tasks)
        size = plan.chains * numbers(spec, laid_out(spec, [tasks[0]], shapes)) * PER_NUMBER
    most = max(int(cutoff.upcoming(frame).sum()) for cutoff in cutoffs)
    cpu = jax.default_backend() == "cpu"
    together = 1 if cpu else max(1, min(len(cutoffs), BYTES // size))
    return [
        Program(
            spec,
            score_model.inputs,
            shapes,
            most,
            together,
            tuple(cutoffs[first : first + together]),
        )
        for first in range(0, len(cutoffs), together)
    ]


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
