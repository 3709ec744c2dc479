"""A league small enough to simulate thousands of times: four teams, two seasons, two venues."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.kernels import Kernel, Matern12, SeasonGap, SquaredExponential
from dpmf.likelihoods import Bernoulli, Likelihood, Ordinal
from dpmf.likelihoods.counts import CountLikelihood
from dpmf.model.layout import Grids, grids, layout
from dpmf.model.spec import spec
from dpmf.model.state import FREE_ALL

TEAMS, FILMS = list("ABCD"), list("wxyz")
LENGTHS = {2000: 3.0, 2001: 3.0}  # weeks of each season
SCALE, SPREAD = 2.0, 1.5  # given, so that the prior is known before the values
LOG_SCALE, LOG_SPREAD = 1.0, 0.6  # of counts such as goals
INPUTS = ["season", "week", "home"]
POOLED = SquaredExponential("home", length=(0.3, 7.0))


def kernel(gap: tuple[float, float]) -> Kernel:
    """Time across seasons, times the venue."""
    time = SeasonGap("season", "week", gap=gap, lengths=LENGTHS)
    return Matern12(time, length=(1.0, 30.0)) * SquaredExponential("home", length=(0.3, 7.0))


ROWS, COLS = kernel((1.0, 20.0)), kernel((2.0, 15.0))


def frame(likelihood: Likelihood, count: int, seed: int = 1) -> pd.DataFrame:
    """Events on a full grid of 6 weeks x 2 venues."""
    random = np.random.default_rng(seed)
    home = random.permutation(np.arange(count) % len(TEAMS))
    away = (home + random.integers(1, len(TEAMS), count)) % len(TEAMS)
    pair = likelihood.pair == 2
    columns = {
        "row": np.array(TEAMS)[home],
        "col": np.array(TEAMS)[away] if pair else np.array(FILMS)[away],
        "season": 2000 + np.arange(count) % 2,
        "week": (np.arange(count) // 2 % 3).astype(float),
        "home": 0.5 if pair else random.choice([0.5, -0.5], count),
    }
    start = 0.0 if isinstance(likelihood, Bernoulli) else 1.0  # any level that exists
    return pd.DataFrame({**columns, "one": start, "two": start})


def dyads(likelihood: Likelihood, events: pd.DataFrame) -> Dyads:
    """The events with their roles."""
    pair = likelihood.pair == 2
    return Dyads.from_frame(
        events,
        row="row",
        col="col",
        value=("one", "two") if pair else "one",
        inputs=INPUTS,
        mirrored=["home"] if pair else [],
    )


def scales(likelihood: Likelihood) -> tuple[float, float]:
    """Scale and spread of y: on a link scale, of log rates, or of plain values."""
    if isinstance(likelihood, Bernoulli | Ordinal):
        return 2.5, 2.5
    if isinstance(likelihood, CountLikelihood):
        return LOG_SCALE, LOG_SPREAD
    return SCALE, SPREAD


def league(
    likelihood: Likelihood,
    *,
    pooled: bool = False,
    count: int = 24,
    unseen: int = 0,
    dense: bool | None = None,
    intercepts: bool = False,
) -> Problem:
    """A problem with every hyperparameter free; its values are to be replaced.

    Args:
        likelihood: Noise model.
        pooled: Whether both means are functions of the venue.
        count: Number of events.
        unseen: How many of the last events have weight 0.
        dense: As in `grids`.
        intercepts: Whether members add numbers of their own.
    """
    events = dyads(likelihood, frame(likelihood, count))
    return on(likelihood, events, pooled, unseen, dense, intercepts)[0]


def on(
    likelihood: Likelihood,
    data: Dyads,
    pooled: bool = False,
    unseen: int = 0,
    dense: bool | None = None,
    intercepts: bool = False,
) -> tuple[Problem, Grids]:
    """The league's model on given events, and its grids."""
    shared = POOLED if pooled else None
    sides, known = ((ROWS, shared), (COLS, shared)), scales(likelihood)
    model = spec(2, *sides, likelihood, *known, intercepts=intercepts)
    points, arrays = layout(grids(model, data, dense=dense), data)
    weight = arrays.weight.at[data.events - unseen :].set(0.0)
    return Problem(dataclasses.replace(arrays, weight=weight), FREE_ALL, model), points


def with_values(problem: Problem, values: jnp.ndarray) -> Problem:
    """The same events with other values."""
    return dataclasses.replace(
        problem, arrays=dataclasses.replace(problem.arrays, values=values)
    )
