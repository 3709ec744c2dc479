"""Strong data: noise 1 % of the signal, 500 events a member. Converged, or said not to be."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpmf import DPMF
from dpmf.data import Dyads
from dpmf.inference.diagnostics import over_draws
from dpmf.likelihoods import Gaussian
from dpmf.model.predictor import predictor
from proofs.league import FILMS, INPUTS, ROWS, TEAMS
from proofs.row import Row

COVERED = 0.75  # share of true y inside 90 % intervals, at least; cells are dependent


class Size(NamedTuple):
    """How much work."""

    events: int
    chains: int
    warmup: int
    draws: int


SMALL = Size(2000, 2, 20, 8)
FULL = Size(2000, 4, 1000, 500)


def events(count: int) -> tuple[Dyads, np.ndarray, float]:
    """Simulated events, the true y, and the noise."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "row": np.array(TEAMS)[np.arange(count) % 4],
            "col": np.array(FILMS)[np.arange(count) // 4 % 4],
            "season": 2000 + random.integers(0, 2, count),
            "week": random.integers(0, 3, count).astype(float),
            "home": random.choice([0.5, -0.5], count),
            "value": 0.0,
        }
    )
    data = Dyads.from_frame(frame, row="row", col="col", value="value", inputs=INPUTS)
    drawn = _model().simulate(data, seed=1)
    y = drawn.y
    sigma = 0.01 * float(np.std(y))
    noisy = y + sigma * random.standard_normal(y.shape)
    return dataclasses.replace(data, values=noisy), y, sigma


def _model() -> DPMF:
    return DPMF(rank=2, kernel=ROWS, likelihood=Gaussian(), scale=2.0, spread=1.5)


def prove(size: Size = FULL, engines: tuple[str, ...] = ("hmc", "slice")) -> list[Row]:
    """Both engines on the same events."""
    return [fitted(engine, size) for engine in engines]


def fitted(engine: str, size: Size) -> Row:
    """One fit: what its diagnostics say, and whether they are right to say so."""
    data, y, sigma = events(size.events)
    fit = _model().fit(
        data, chains=size.chains, warmup=size.warmup, draws=size.draws,
        engine=engine, progress=False,
    )  # fmt: skip
    return judged(fit, y, sigma, size)


def judged(fit, y: np.ndarray, sigma: float, size: Size) -> Row:
    """A claim of convergence must be borne out by the truth; the opposite is always allowed."""
    line = fit.diagnostics.line()
    assert line.startswith(("Converged", "NOT converged"))
    problem = fit.problem
    drawn = over_draws(
        lambda s: {
            "y": predictor(problem.spec, s.white, problem.parameters(s), problem.arrays)
        },
        fit.draws.states,
    )["y"]
    low, high = np.quantile(drawn.reshape(-1, *y.shape), [0.05, 0.95], axis=0)
    covered = float(np.mean((low <= y) & (y <= high)))
    ratio = float(np.median(fit.parameters.noise["sigma"])) / sigma
    right = covered > COVERED and 0.9 < ratio < 1.1
    note = f"{line} 90 % intervals hold {covered:.0%} of y; sigma {ratio:.2f} x the truth"
    text = f"{size.events} events, {size.chains} chains x ({size.warmup} + {size.draws})"
    good = right if fit.diagnostics.converged else True
    return Row("strong", "noise 1 % of signal", fit.engine, "y, sigma", text, 1.0, note, good)
