"""Small problems: a league of four teams over two seasons, or films and their viewers."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.kernels import Kernel, Matern12, SeasonGap, SquaredExponential
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
)
from dpmf.model.layout import Grids, Layout, grids, layout
from dpmf.model.simulate import simulate_state
from dpmf.model.spec import Spec, spec
from dpmf.model.state import State

LENGTHS = {2000: 3.0, 2001: 4.0}  # weeks of each season
TEAMS = ["Bulls", "Jazz", "Magic", "Suns"]
FILMS = ["Alien", "Brazil", "Casablanca"]
LIKELIHOODS: list[Likelihood] = [PairedGaussian(), Gaussian(), Bernoulli(), Ordinal(4)]


class Problem(NamedTuple):
    spec: Spec
    data: Dyads
    grids: Grids
    arrays: Layout


def kernel(gap: tuple[float, float]) -> Kernel:
    """Time across seasons, and the venue; `gap` tells the kernels of the two sides apart."""
    time = SeasonGap("season", "week", gap=gap, lengths=LENGTHS)
    return Matern12(time, length=(1, 90)) * SquaredExponential("home", length=(0.2, 9))


ROWS, COLS = kernel(gap=(1, 50)), kernel(gap=(2, 40))
POOLED = SquaredExponential("home", length=(0.3, 7))


def problem(
    likelihood: Likelihood | None = None,
    rank: int = 2,
    pooled: bool = False,
    dense: bool | None = None,
    data: Dyads | None = None,
    intercepts: bool = False,
) -> Problem:
    """The model on a few events, with constants as large as the values."""
    likelihood = likelihood or PairedGaussian()
    data = data or events(likelihood)
    shared = POOLED if pooled else None
    scale, spread = likelihood.scales(data.values)
    sides = (ROWS, shared), (COLS, shared)
    model = spec(rank, *sides, likelihood, scale, spread, intercepts=intercepts)
    return Problem(model, data, *layout(grids(model, data, dense=dense), data))


def events(likelihood: Likelihood, count: int = 14) -> Dyads:
    """Events whose values the likelihood could produce."""
    random = np.random.default_rng(1)
    pair = likelihood.pair == 2
    rows = random.integers(len(TEAMS), size=count)
    away = (rows + random.integers(1, len(TEAMS), size=count)) % len(TEAMS)
    cols = np.array(TEAMS)[away] if pair else random.choice(FILMS, count)
    frame = {
        "row": np.array(TEAMS)[rows],
        "col": cols,
        "season": np.sort(random.choice(list(LENGTHS), count)),
        "week": random.integers(0, 3, count).astype(float),
        "home": random.choice([0.5, 0.0], count),
    }
    if pair:
        scores = random.normal(30.0, 9.0, (2, count))
        if isinstance(likelihood, PairedPoisson):
            scores = random.poisson(2.0, scores.shape).astype(float)
        frame["one"], frame["two"] = scores
        value, mirrored = ("one", "two"), ["home"]
    else:
        frame["one"] = values(likelihood, count, random)
        value, mirrored = "one", []
    return Dyads.from_frame(
        pd.DataFrame(frame),
        row="row",
        col="col",
        value=value,
        inputs=["season", "week", "home"],
        mirrored=mirrored,
    )


def values(likelihood: Likelihood, count: int, random: np.random.Generator) -> np.ndarray:
    if isinstance(likelihood, Bernoulli):
        return random.integers(0, 2, count).astype(float)
    if isinstance(likelihood, Ordinal):
        return random.integers(1, likelihood.levels + 1, count).astype(float)
    if isinstance(likelihood, Poisson | NegativeBinomial):
        return random.poisson(3.0, count).astype(float)
    return random.normal(3.0, 2.0, count)


def state(problem: Problem, seed: int = 0, spread: float = 0.7) -> State:
    """A state with every coordinate around 0."""
    random = np.random.default_rng(seed)
    shapes = jax.eval_shape(lambda: simulate_state(problem.spec, problem.arrays, jr.key(0)))
    return jax.tree.map(lambda x: jnp.asarray(random.normal(0, spread, x.shape)), shapes)
