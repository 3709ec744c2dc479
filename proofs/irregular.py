"""Geweke's test where no two members share their times, and bugs planted in what is new."""

from typing import NamedTuple
from unittest import mock

import numpy as np
import pandas as pd

from dpmf.data import Dyads
from dpmf.inference import filtered, interwoven, rescaled, theta_slices
from dpmf.inference.problem import Problem
from dpmf.kernels import Kernel, Matern12, Matern32, SquaredExponential
from dpmf.likelihoods import Gaussian
from dpmf.model import markov, own_inputs, tables
from dpmf.model.inputs import Inputs
from dpmf.model.layout import grids, layout
from dpmf.model.spec import spec
from dpmf.model.state import FREE_ALL
from planted import planted
from proofs import geweke
from proofs.bugs import Bug, planting, shown
from proofs.league import SCALE, SPREAD
from proofs.row import Row
from proofs.transitions import ENGINES, by_hmc, members_only


class Case(NamedTuple):
    """A kernel, how its functions are represented, and whether there is a pooled mean."""

    kind: str
    kernel: Kernel
    pooled: bool = False


TIME = Matern12("time", length=(1.0, 30.0))
SMOOTH = SquaredExponential("time", length=(8.0, 16.0))
CASES = {
    "Markov chains": Case("markov", TIME),
    "Markov chains, pooled mean": Case("markov", TIME, True),
    "own inputs": Case("member", Matern32("time", length=(1.0, 30.0))),
    "series": Case("basis", SMOOTH),
    "series, pooled mean": Case("basis", SMOOTH, True),
}


def diary(case: Case, count: int = 20) -> Problem:
    """Four viewers and four films, each event at a time of its own; values are replaced."""
    random = np.random.default_rng(1)
    who = np.arange(count) % 4
    events = {"row": who.astype(str), "col": ((who + random.integers(4, size=count)) % 4)}
    frame = pd.DataFrame({**events, "time": random.uniform(0, 20, count), "one": 0.0})
    frame["col"] = frame["col"].astype(str)
    data = Dyads.from_frame(frame, row="row", col="col", value="one", inputs=["time"])
    both = (Inputs(case.kind, "proof"), Inputs(case.kind, "proof"))
    kernels = (case.kernel, case.kernel if case.pooled else None)
    model = spec(2, kernels, kernels, Gaussian(), SCALE, SPREAD, (both, both))
    with mock.patch.object(tables, "MOST_TABLES", 1):  # so that there is padding
        return Problem(layout(grids(model, data), data)[1], FREE_ALL, model)


def prove(size: tuple[int, int] = geweke.FULL) -> list[Row]:
    """Both engines, and the bugs."""
    rows = [one(case, engine, size) for case in CASES for engine in ENGINES]
    return rows + [found(name) for name in bugs()]


def one(case: str, engine: str, size: tuple[int, int]) -> Row:
    """One engine on one case."""
    return geweke.compared(case, engine, diary(CASES[case]), ENGINES[engine](), size)


def bugs() -> dict[str, tuple[str, Bug]]:
    """Mistakes in what grids do not have, each with the case that shows it."""
    no_volume = planted(interwoven.moved, "- own.log_volume(over)[0]", "")
    stale = planted(
        interwoven.moved,
        "position, white, second = sweep",
        "position, _, second = sweep",
    )
    others = property(lambda self: (self.whose.entry + 1) % self.members)
    halved = planted(own_inputs.OwnInputs, "jnp.sum(jnp.log(one)", "0.5 * jnp.sum(jnp.log(one)")
    no_copy_volume = planted(rescaled.Rescaled, "self.known**2) - volume", "self.known**2)")
    no_filter_volume = planted(
        filtered.Filtered, "self.surprise**2) - self.log_volume", "self.surprise**2)"
    )
    chains, lists, series = "Markov chains", "own inputs", "series"
    return {
        "values held without their volume": (
            lists,
            Bug("hmc", by_hmc(), ((interwoven, "moved", no_volume),)),
        ),
        "white left behind by its values": (
            lists,
            Bug("hmc", by_hmc(), ((interwoven, "moved", stale),)),
        ),
        "angles of other members": (
            chains,
            Bug("slice", members_only, ((markov.MarkovChains, "owner", others),)),
        ),
        "own inputs, half the volume": (
            lists,
            Bug("hmc", by_hmc(), ((own_inputs.OwnInputs, "log_volume", halved.log_volume),)),
        ),
        "own inputs, angles of other members": (
            lists,
            Bug("slice", members_only, ((own_inputs.OwnInputs, "owner", others),)),
        ),
        "copies held without their volume": (
            series,
            Bug("hmc", by_hmc(), ((theta_slices, "Rescaled", no_copy_volume),)),
        ),
        "filtered without their volume": (
            chains,
            Bug("hmc", by_hmc(), ((theta_slices, "Filtered", no_filter_volume),)),
        ),
    }


def found(name: str, small: bool = False) -> Row:
    """Geweke's test on one bug."""
    case, bug = bugs()[name]
    # With the bug: laying events out may be what is wrong.
    with planting(bug):
        return shown(name, bug, diary(CASES[case]), small)
