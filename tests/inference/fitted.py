"""Tiny problems and their fits, each sampled once however many tests look at it."""

import dataclasses
import functools
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

from dpmf import DPMF, PMF, Dyads
from dpmf.inference import chains
from dpmf.inference.problem import Problem
from dpmf.kernels import (
    Categorical,
    Constant,
    Matern12,
    Matern32,
    Matern52,
    SeasonGap,
    SquaredExponential,
)
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Noise,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.model.layout import grids, layout
from dpmf.model.simulate import simulate_state
from dpmf.model.state import FREE_ALL
from dpmf.posterior import Fit
from dpmf.priors import HalfNormal
from dpmf.types import pytree_dataclass

TEAMS = ["Bulls", "Heat", "Jazz", "Magic", "Suns"]
FILMS = ["Alien", "Brazil", "Casablanca"]
CHUNK = 10  # one compiled size, whatever the number of draws
SIZES: dict[str, Any] = {"chains": 2, "draws": 20, "progress": False}
WARMUP = {"hmc": 50, "slice": 10}  # an hmc chain with fewer steps behind it does not move


@pytree_dataclass
class LaplaceNoise(Noise):
    width: object

    def log_prob(self, y, values):
        return jnp.sum(-jnp.abs(values - y) / self.width - jnp.log(2 * self.width), axis=1)

    def sample(self, key, y):
        return y + self.width * jr.laplace(key, y.shape)


@dataclasses.dataclass(frozen=True)
class Laplace(Likelihood):
    """As in the documentation: no `split`, so members move one after another."""

    def priors(self, spread):
        return {"width": HalfNormal(spread)}

    def at(self, parameters):
        return LaplaceNoise(parameters["width"])


def games(likelihood: Likelihood | None = None) -> pd.DataFrame:
    """Two seasons of four weeks, two games a week."""
    random = np.random.default_rng(0)
    rows = []
    for season in (2000, 2001):
        for week in range(4):
            a, b, c, d, _ = random.permutation(TEAMS)
            home = 0.0 if week == 2 else 0.5
            rows += [(a, b, season, float(week), 0.5), (c, d, season, float(week), home)]
    frame = pd.DataFrame(rows, columns=["host", "guest", "season", "week", "home"])
    scores = np.round(random.normal(100, 10, (2, len(frame))))
    if isinstance(likelihood, PairedPoisson):
        scores = random.poisson(1.5, scores.shape).astype(float)
    frame["ours"], frame["theirs"] = scores
    return frame


def ratings(likelihood: Likelihood) -> pd.DataFrame:
    """Viewers and films, with values that the likelihood could produce."""
    random = np.random.default_rng(1)
    count = 24
    frame = pd.DataFrame(
        {
            "viewer": random.choice(TEAMS, count),
            "film": random.choice(FILMS, count),
            "week": random.integers(0, 4, count).astype(float),
            "genre": random.choice(["comedy", "drama", "horror"], count),
        }
    )
    if isinstance(likelihood, Bernoulli):
        frame["value"] = random.integers(0, 2, count)
    elif isinstance(likelihood, Ordinal):
        frame["value"] = random.integers(1, likelihood.levels + 1, count)
    elif isinstance(likelihood, Poisson | NegativeBinomial):
        frame["value"] = random.poisson(3.0, count)
    else:
        frame["value"] = random.normal(3.0, 2.0, count)
    return frame


def game_dyads(frame: pd.DataFrame) -> Dyads:
    return Dyads.from_frame(
        frame,
        row="host",
        col="guest",
        value=("ours", "theirs"),
        inputs=["season", "week", "home"],
        mirrored=["home"],
    )


def rating_dyads(frame: pd.DataFrame) -> Dyads:
    return Dyads.from_frame(
        frame, row="viewer", col="film", value="value", inputs=["week", "genre"]
    )


class Case(NamedTuple):
    model: DPMF
    engine: str

    @property
    def paired(self) -> bool:
        return self.model.likelihood in (None, PairedGaussian(), PairedPoisson())

    @property
    def frame(self) -> pd.DataFrame:
        likelihood = self.model.likelihood
        return games(likelihood) if self.paired else ratings(likelihood)

    @property
    def data(self) -> Dyads:
        return (game_dyads if self.paired else rating_dyads)(self.frame)


FORM = Matern12(SeasonGap("season", "week")) * SquaredExponential("home")
LONG = SquaredExponential("week", length=(1, 5))
CASES = {  # likelihoods with both engines; ranks, means and kernels in between
    "games hmc": Case(DPMF(2, FORM), "hmc"),
    "games slice": Case(
        DPMF(1, (SquaredExponential("week"), Constant()), mean="pooled"), "slice"
    ),
    "values hmc": Case(DPMF(3, Constant(), Gaussian()), "hmc"),
    "values slice": Case(PMF(2, Gaussian()), "slice"),
    "stars hmc": Case(PMF(1, Ordinal(2)), "hmc"),
    "stars slice": Case(
        DPMF(
            2,
            (Matern12("week"), Categorical("genre")),
            Ordinal(4),
            mean=("pooled", "constant"),
            mean_kernel=(Matern32("week"), None),
        ),
        "slice",
    ),
    "links hmc": Case(DPMF(1, Matern12("week"), Bernoulli(), mean="pooled"), "hmc"),
    "links slice": Case(PMF(1, Bernoulli()), "slice"),
    "outliers hmc": Case(PMF(2, StudentT()), "hmc"),
    "counts hmc": Case(PMF(1, Poisson()), "hmc"),
    "counts slice": Case(PMF(2, NegativeBinomial()), "slice"),
    "goals hmc": Case(DPMF(1, FORM, PairedPoisson()), "hmc"),
    "goals slice": Case(PMF(1, PairedPoisson()), "slice"),
    "own times hmc": Case(DPMF(2, Matern12("week"), Gaussian(), inputs="markov"), "hmc"),
    "own times slice": Case(
        DPMF(1, (Matern12("week"), Constant()), Ordinal(4), inputs=("markov", "grid")), "slice"
    ),
    "own inputs hmc": Case(
        DPMF(2, Matern32("week") * Categorical("genre"), Gaussian(), inputs="member"), "hmc"
    ),
    "own inputs slice": Case(
        DPMF(1, (Matern52("week"), Constant()), Ordinal(4), inputs="member"), "slice"
    ),
    "series hmc": Case(DPMF(2, LONG, Gaussian(), inputs="basis"), "hmc"),
    "series slice": Case(
        DPMF(1, (LONG, Constant()), Ordinal(4), inputs=("basis", "grid")), "slice"
    ),
    "intercepts hmc": Case(PMF(2, Ordinal(4), intercepts=True), "hmc"),
    "intercepts slice": Case(
        DPMF(1, Matern12("week"), Bernoulli(), inputs="markov", intercepts=True), "slice"
    ),
    "own cuts hmc": Case(
        DPMF(1, Matern12("week"), Ordinal(4, own_cuts=True), intercepts=True), "hmc"
    ),
    "own cuts slice": Case(PMF(2, Ordinal(3, own_cuts=True)), "slice"),
    "own likelihood": Case(PMF(1, Laplace()), "slice"),
}


@functools.cache
def fitted(name: str, **options: Any) -> Fit:
    """The fit of a case; options given are those of `DPMF.fit`."""
    case = CASES[name]
    options = {"warmup": WARMUP[case.engine], **SIZES, **options}
    with mock.patch.object(chains, "CHUNK", CHUNK):
        return case.model.fit(case.data, engine=case.engine, **options)


def problem_of(model: DPMF, data: Dyads, dense: bool | None = None) -> Problem:
    """The problem of a fit that was never run; in double precision."""
    spec = model.spec(data)
    return Problem(layout(grids(spec, data, dense=dense), data)[1], FREE_ALL, spec)


def state_of(problem: Problem, seed: int = 0):
    """A state drawn from the prior."""
    return simulate_state(problem.spec, problem.arrays, jr.key(seed), problem.fixed)


def same(a: Any, b: Any) -> bool:
    """Whether two trees hold the same numbers, to the last bit."""
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y) for x, y in leaves)


@functools.cache
def held() -> Fit:
    """The ratings in stars, with most hyperparameters held."""
    given = fitted("stars slice").hyperparameters("last", sigma=False)
    return fitted("stars slice", hyperparameters=dataclasses.replace(given, cols_sd=[0.7, 0.7]))
