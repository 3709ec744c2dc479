"""Geweke's test where no two members share their times, and bugs planted in what is new."""

import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.inference import interwoven
from dpmf.inference.problem import Problem
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian
from dpmf.model import markov
from dpmf.model.inputs import Inputs
from dpmf.model.layout import grids, layout
from dpmf.model.spec import spec
from dpmf.model.state import FREE_ALL
from planted import planted
from proofs import geweke
from proofs.bugs import Bug, planting
from proofs.league import SCALE, SPREAD
from proofs.row import Row
from proofs.transitions import ENGINES, by_hmc, members_only

TIME = Matern12("time", length=(1.0, 30.0))
CASES = {"Markov chains": False, "Markov chains, pooled mean": True}


def diary(count: int = 20, *, pooled: bool = False) -> Problem:
    """Four viewers and four films, each event at a time of its own; values are replaced."""
    random = np.random.default_rng(1)
    who = np.arange(count) % 4
    events = {"row": who.astype(str), "col": ((who + random.integers(4, size=count)) % 4)}
    frame = pd.DataFrame({**events, "time": random.uniform(0, 20, count), "one": 0.0})
    frame["col"] = frame["col"].astype(str)
    data = Dyads.from_frame(frame, row="row", col="col", value="one", inputs=["time"])
    both = (Inputs("markov", "proof"), Inputs("markov", "proof"))
    kernels = (TIME, TIME if pooled else None)
    model = spec(2, kernels, kernels, Gaussian(), SCALE, SPREAD, (both, both))
    return Problem(layout(grids(model, data), data)[1], FREE_ALL, model)


def prove(size: tuple[int, int] = geweke.FULL) -> list[Row]:
    """Both engines, and the bugs."""
    rows = [one(case, engine, size) for case in CASES for engine in ENGINES]
    return rows + [found(name) for name in bugs()]


def one(case: str, engine: str, size: tuple[int, int]) -> Row:
    """One engine on one case."""
    problem = diary(pooled=CASES[case])
    return geweke.compared(case, engine, problem, ENGINES[engine](), size)


def bugs() -> dict[str, Bug]:
    """Mistakes in what grids do not have."""
    no_volume = planted(interwoven.moved, "- own.log_volume(over)[0]", "")
    stale = planted(
        interwoven.moved,
        "position, white, second = sweep",
        "position, _, second = sweep",
    )
    others = property(lambda self: (self.whose.entry + 1) % self.members)
    return {
        "values held without their volume": Bug(
            "hmc", by_hmc(), ((interwoven, "moved", no_volume),)
        ),
        "white left behind by its values": Bug(
            "hmc", by_hmc(), ((interwoven, "moved", stale),)
        ),
        "angles of other members": Bug(
            "slice", members_only, ((markov.MarkovChains, "owner", others),)
        ),
    }


def found(name: str, small: bool = False) -> Row:
    """Geweke's test on one bug."""
    bug = bugs()[name]

    def fresh(*args):  # a new function: compiled anew, with the bug
        return bug.transition(*args)

    with planting(bug):
        size = bug.small if small and bug.small else bug.full
        return geweke.compared(
            f"planted: {name}", bug.engine, diary(), fresh, size, partial=True, planted=True
        )
