"""Cutoffs as training problems of one shape, and their draws as predictions.

Nothing flows back in time. The constants of the model come from games before the first
cutoff; scores from a cutoff on are replaced by 0 and have weight 0.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from jaxtyping import Array, Float

from dpmf.backtest.cutoffs import Cutoff
from dpmf.backtest.forecaster import Forecasts, Plan
from dpmf.backtest.goals import Goals
from dpmf.backtest.prediction import Prediction
from dpmf.data import Dyads
from dpmf.inference.diagnostics import diagnostics
from dpmf.inference.problem import Problem
from dpmf.inference.room import Room
from dpmf.likelihoods import Likelihood, PairedPoisson
from dpmf.model.layout import Grids, Layout, grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.spec import Spec
from dpmf.model.stacking import Shape, common_shape, lengthened, on_the_host, stacked
from dpmf.model.state import FREE_ALL, State
from dpmf.sports.games import dyads

CELLS = 100  # of each cutoff whose convergence is looked at


@dataclasses.dataclass(frozen=True)
class FirstEvents:
    """Keeps what forecasts need: y of the first events, and the noise."""

    count: int

    def __call__(self, problem: Problem, state: State) -> dict[str, Array]:
        """Of one draw."""
        values = problem.parameters(state)
        y = predictor(problem.spec, state.white, values, problem.arrays)
        return {"y": y[: self.count], **values.noise}


class Each(Sequence):
    """A sequence whose items are made when they are asked for: all at once would not fit."""

    def __init__(self, count: int, one: Callable[[int], Any]) -> None:
        self._count, self._one = count, one

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        places = range(self._count)[number]
        return self._one(places) if isinstance(places, int) else [*map(self._one, places)]


class Task(NamedTuple):
    """One cutoff: the games to forecast come first, then all others."""

    cutoff: Cutoff
    data: Dyads
    upcoming: int  # number of games to forecast
    known: Float[np.ndarray, " events"]  # 1 for games to learn from, 0 for all others
    order: Dyads  # the same games in the order of play, which is that of the grid's levels

    def centre(self, spec: Spec) -> float:
        """Where y starts, from the known scores."""
        return spec.likelihood.centre(self.data.values[self.known > 0])


class Found(NamedTuple):
    """What the chains of one task left behind, of some that ran side by side."""

    cutoff: Cutoff
    upcoming: int  # number of games to forecast
    room: Room
    place: int  # in it

    @property
    def values(self) -> dict[str, np.ndarray]:
        """What was kept of every draw; axes (chains, draws, ...)."""
        return {name: x[self.place] for name, x in self.room.tree[0].items()}

    @property
    def stats(self) -> dict[str, np.ndarray]:
        """What is known of every draw besides."""
        return {name: x[self.place] for name, x in self.room.tree[1]._asdict().items()}


def spec_before(score_model: Any, frame: pd.DataFrame, first: Cutoff, plan: Plan) -> Spec:
    """The model with all its constants, from games before a cutoff and the calendar."""
    known = dyads(frame, score_model.inputs).take(first.past(frame, plan.window))
    lengths = frame.groupby("season")["week"].max().to_dict()
    return score_model.model(lengths).spec(known)


def posed(
    score_model: Any,
    frame: pd.DataFrame,
    cutoffs: Sequence[Cutoff],
    plan: Plan,
    *,
    whole_season: bool,
) -> tuple[Spec, Sequence[Task]]:
    """The model with its constants, and every cutoff as a task, as `task` makes it."""
    data = dyads(frame, score_model.inputs)
    first = min(cutoffs, key=lambda cutoff: cutoff.start)
    spec = spec_before(score_model, frame, first, plan)
    spec.likelihood.check(data.values)  # those to come too: they are scored

    def one(number: int) -> Task:
        return task(data, frame, cutoffs[number], plan, whole_season=whole_season)

    return spec, Each(len(cutoffs), one)


def task(
    data: Dyads, frame: pd.DataFrame, cutoff: Cutoff, plan: Plan, *, whole_season: bool
) -> Task:
    """A cutoff with the games it may learn from and those it must forecast.

    Args:
        data: All games, encoded.
        frame: The same.
        cutoff: When the forecast is made.
        plan: Holds the window.
        whole_season: Whether its later games are there too, unknown, so that all cutoffs of
            a season have the same games.
    """
    past, upcoming = cutoff.past(frame, plan.window), cutoff.upcoming(frame)
    unknown = np.zeros_like(past)
    if whole_season:
        unknown = (frame["season"] == cutoff.season).to_numpy() & ~past & ~upcoming
    groups = (upcoming, past, unknown)
    places = np.concatenate([np.flatnonzero(group) for group in groups])
    known = np.repeat([0.0, 1.0, 0.0], [group.sum() for group in groups])
    used = data.take(places)
    used = dataclasses.replace(used, values=np.where(known[:, None] > 0, used.values, 0.0))
    return Task(cutoff, used, int(upcoming.sum()), known, data.take(np.sort(places)))


class Shapes(NamedTuple):
    """What the arrays of tasks are padded to, so that one program runs them all."""

    levels: list[tuple[int, ...]]  # of each grid
    shape: Shape


def common_shapes(spec: Spec, tasks: Sequence[Task]) -> Shapes:
    """The least that hold all tasks; one is looked at at a time."""

    def sizes(own: Any) -> list[tuple[int, ...] | None]:
        return [grid and grid.shape for grid in own]

    every = [sizes(grids(spec, one.order, dense=False)) for one in tasks]
    each = [[size for size in own if size] for own in zip(*every, strict=True)]
    levels = [tuple(max(n) for n in zip(*own, strict=True)) for own in each]
    with on_the_host():
        return Shapes(levels, common_shape(_layout(spec, one, levels) for one in tasks))


def laid_out(spec: Spec, tasks: Sequence[Task], shapes: Shapes | None = None) -> Layout:
    """The arrays of tasks, padded to one shape and stacked.

    Args:
        spec: The model.
        tasks: Cutoffs.
        shapes: What they are padded to; the least that hold them if left out.
    """
    levels, shape = shapes or common_shapes(spec, tasks)
    with on_the_host():
        every = [_layout(spec, one, levels) for one in tasks]
    return stacked(every, shape)


def _layout(spec: Spec, task: Task, levels: list[tuple[int, ...]]) -> Layout:
    own: Any = grids(spec, task.order, dense=False)
    longer = [
        None if grid is None else lengthened(grid, size)
        for grid, size in zip(own, levels, strict=True)
    ]
    arrays = layout(Grids._make(longer), task.data)[1]
    return dataclasses.replace(arrays, weight=jax.device_put(task.known))


def forecasts_of(spec: Spec, found: Sequence[Found]) -> Forecasts:
    """Predictions and diagnostics, one of each per task."""
    rows = [
        {
            "season": one.cutoff.season,
            "block": one.cutoff.block,
            "cutoff": one.cutoff.start,
            **_checked(one),
        }
        for one in found
    ]
    told = Each(len(found), lambda number: _prediction(spec.likelihood, found[number]))
    return Forecasts(told, pd.DataFrame(rows))


def numbers(spec: Spec, arrays: Layout) -> int:
    """Coordinates and cells of one chain of one task: its memory, in numbers."""
    one = Problem(jax.tree.map(lambda x: x[0], arrays), FREE_ALL, spec)
    return sum(x.size for x in jax.tree.leaves(one.template())) + (
        one.arrays.values.size * spec.rank
    )


def _prediction(likelihood: Likelihood, found: Found) -> Prediction | Goals:
    values = found.values
    y = values["y"][:, :, : found.upcoming]
    if isinstance(likelihood, PairedPoisson):
        return Goals(y.reshape(-1, *y.shape[2:]), values["shared"].reshape(-1))
    sigma, rho = (values[name].reshape(-1) for name in ("sigma", "rho"))
    return Prediction.pairs(y.reshape(-1, *y.shape[2:]), sigma, rho)


def _checked(one: Found) -> dict[str, float]:
    """Convergence of the predicted means."""
    y = one.values["y"][:, :, : one.upcoming]
    cells = y.reshape(*y.shape[:2], -1)
    some = np.unique(np.linspace(0, cells.shape[2] - 1, min(CELLS, cells.shape[2])).astype(int))
    found = diagnostics({"y": cells[:, :, some]}, one.stats, tails=False)
    return {
        "rhat_max": _over(np.max, found.rhat),
        "ess_median": _over(np.median, found.ess_bulk),
        "ess_min": _over(np.min, found.ess_bulk),
        "divergences": found.divergences,
    }


def _over(function: Any, values: Any) -> float:
    """Over what is known; NaN where nothing is."""
    known = np.asarray(values)[np.isfinite(values)]
    return float(function(known)) if known.size else float("nan")
