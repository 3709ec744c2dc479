"""Geweke's test where the means that members share are functions of what describes them."""

import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.inference.problem import Problem
from dpmf.kernels import Categorical, Matern12, SquaredExponential
from dpmf.likelihoods import Gaussian
from dpmf.model.layout import grids, layout
from dpmf.model.spec import spec
from dpmf.model.state import FREE_ALL
from proofs import geweke
from proofs.league import SCALE, SPREAD
from proofs.row import Row
from proofs.transitions import ENGINES

TIME = Matern12("time", length=(1.0, 30.0))
AGE = SquaredExponential("age", length=(5.0, 50.0))
AGES = np.array([20.0, 27.0, 45.0, 70.0])
GENRES = np.array(["drama", "horror", "drama", "comedy"])


def described(count: int = 20) -> Problem:
    """Four viewers with an age, four films with a genre; values are replaced."""
    random = np.random.default_rng(1)
    who = np.arange(count) % 4
    film = (who + random.integers(4, size=count)) % 4
    frame = pd.DataFrame({"row": who.astype(str), "col": film.astype(str), "one": 0.0})
    frame = frame.assign(time=random.integers(0, 3, count) * 1.0, age=AGES[who])
    data = Dyads.from_frame(
        frame.assign(genre=GENRES[film]),
        row="row",
        col="col",
        value="one",
        inputs=["time"],
        row_attributes=["age"],
        col_attributes=["genre"],
    )
    rows, cols = (TIME, TIME * AGE), (TIME, Categorical("genre"))
    model = spec(2, rows, cols, Gaussian(), SCALE, SPREAD)
    return Problem(layout(grids(model, data), data)[1], FREE_ALL, model)


def prove(size: tuple[int, int] = geweke.FULL) -> list[Row]:
    """Both engines."""
    return [one(engine, size) for engine in ENGINES]


def one(engine: str, size: tuple[int, int]) -> Row:
    """One engine."""
    case = "means of age and genre"
    return geweke.compared(case, engine, described(), ENGINES[engine](), size)
