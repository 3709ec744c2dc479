"""Which representation is taken, what is said of it, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from dpmf import DPMF
from dpmf.data import Dyads
from dpmf.errors import ConfigError, DataError
from dpmf.kernels import (
    Constant,
    Matern12,
    Matern32,
    SeasonGap,
    SquaredExponential,
)
from dpmf.model import inputs
from dpmf.model.grid import Grid
from dpmf.model.inputs import Inputs, chosen, grid_cost, is_markov
from dpmf.model.layout import grids
from dpmf.model.lists import Lists
from dpmf.model.spec import Spec
from dpmf.model.tracks import Tracks
from model.diary import dyads, frame


def ratings(count: int = 5000) -> Dyads:
    """Every rating at its own moment."""
    columns = {"viewer": np.arange(count) % 50, "film": np.arange(count) % 70}
    times = {"time": np.arange(count) / 7, "hour": np.arange(count) % 24.0}
    table = pd.DataFrame({**columns, **times, "stars": 1.0})
    table = table.astype({"viewer": str, "film": str})
    table.loc[::2, "stars"] = 2.0
    return Dyads.from_frame(
        table, row="viewer", col="film", value="stars", inputs=["time", "hour"]
    )


def test_few_inputs_are_a_grid():
    spec = DPMF(1, Matern12("time")).spec(dyads(frame()))
    assert (spec.rows.inputs.kind, spec.cols.inputs.kind) == ("grid", "grid")
    assert spec.inputs_line() == (
        "inputs of rows: grid, cheap at 23 distinct inputs of 4 members; "
        "inputs of columns: grid, cheap at 23 distinct inputs of 5 members"
    )


def test_many_inputs_of_matern_12_are_markov_chains():
    data = ratings()
    spec = DPMF(1, (Matern12("time"), Constant())).spec(data)
    assert spec.inputs_line() == (
        "inputs of rows: markov, 5,000 points, since a grid of 5,000 distinct inputs would be "
        "slow; inputs of columns: grid, cheap at 1 distinct inputs of 70 members"
    )
    points = grids(spec, data)
    assert isinstance(points.rows, Tracks)
    assert isinstance(points.cols, Grid)
    saved = Spec.from_dict(spec.to_dict())
    assert (saved, saved.inputs_line()) == (spec, spec.inputs_line())


@pytest.mark.parametrize(
    ("weeks", "said"),
    [
        (8, "grid, cheap at 8 distinct inputs of 180 members"),
        (
            9,
            "markov, 180 points, since more than seven eighths of a grid of 9 distinct inputs "
            "of 180 members would be empty",
        ),
    ],
)
def test_a_grid_that_would_be_empty_is_markov_chains(weeks, said):
    """Every viewer comes once, each in one of so many weeks."""
    who = np.arange(180)
    table = pd.DataFrame({"viewer": who.astype(str), "film": (who % 7).astype(str)})
    table = table.assign(week=who % weeks, stars=1.0 + who % 5)
    data = Dyads.from_frame(table, row="viewer", col="film", value="stars", inputs=["week"])
    assert str(DPMF(1, (Matern12("week"), Constant())).spec(data).rows.inputs) == said


def test_a_pooled_mean_of_many_inputs_is_a_chain_of_its_own():
    data = ratings()
    spec = DPMF(1, Matern12("time"), mean="pooled").spec(data)
    points = grids(spec, data).rows_pooled
    assert isinstance(points, Tracks)
    assert points.start.sum() == 1
    assert "mean of rows" in spec.inputs_line()


def test_the_limit_is_one_of_cost(monkeypatch):
    data = dyads(frame())
    member = data.rows.reshape(-1)
    cost = grid_cost(Grid((("time",),), (np.zeros((23, 1)),)), 4)
    assert cost == 4 * 23 * 23 + 23**3
    for limit, kind in ((cost, "grid"), (cost - 1, "markov")):
        monkeypatch.setattr(inputs, "CHEAP", limit)
        assert chosen("auto", Matern12("time"), data, member, 4).kind == kind


def test_kernels_that_are_no_chains_live_at_members_own_inputs():
    data = ratings()
    for kernel in (SquaredExponential("time"), SquaredExponential("time") * Matern32("hour")):
        spec = DPMF(1, (kernel, Constant())).spec(data)
        assert spec.inputs_line().startswith(
            "inputs of rows: member, 5,000 inputs of members, since a grid of 5,000 distinct "
            "inputs would be slow; "
        )
        assert isinstance(grids(spec, data).rows, Lists)


def heavy() -> tuple[Dyads, np.ndarray]:
    """One viewer with 1,500 of 2,000 events."""
    data = ratings(2000)
    return data, np.where(np.arange(2000) < 1500, 0, 1 + np.arange(2000) % 50)


def test_the_cheapest_is_taken_where_everything_is_dear():
    data, member = heavy()
    narrow = SquaredExponential("time", length=(30, 200))
    wide = SquaredExponential("time", length=(0.3, 200))
    found = chosen("auto", narrow, data, member, 51)
    assert found.kind == "basis"
    assert found.why.startswith("39 functions, correlations within 0.004, since a grid of")
    assert (
        chosen("auto", wide, data, member, 51).kind == "member"
    )  # no basis, and the grid is larger
    everyone = np.zeros(2000, int)
    alone = chosen("auto", wide, data, everyone, 1)
    assert str(alone) == (
        "grid, 2,000 distinct inputs, since kernel SquaredExponential('time') has no faster "
        "form"
    )


@pytest.mark.parametrize(
    ("kernel", "markov"),
    [
        (Matern12("time"), True),
        (Matern12("time") * Constant(), True),
        (Matern12("time", "place"), False),
        (Matern12("time") * Matern12("place"), False),
        (Matern12("time") + Constant(), False),
        (Matern12(SeasonGap("season", "week")), False),
        (Matern32("time"), False),
    ],
    ids=str,
)
def test_which_kernels_are_markov(kernel, markov):
    assert is_markov(kernel) == markov


def test_what_nothing_can_do_is_refused():
    data = ratings()
    with pytest.raises(
        ConfigError,
        match=r"5,000 distinct inputs, expected at most 4,096 in one factor of a grid; one "
        r"member has 5,000 distinct inputs, .* factors of all have 25,000,000 entries, .*; "
        r"inputs='basis': .* needs .*[\d,]+ functions",
    ):
        DPMF(1, (Constant(), Constant()), mean="pooled", mean_kernel=Matern32("time")).spec(
            data
        )
    model = DPMF(1, Matern32("time"), inputs="grid")
    with pytest.raises(DataError, match=r"5,000 distinct inputs.* or let inputs='auto' find"):
        grids(model.spec(ratings()), ratings())


def test_three_choices_are_refused(unchecked):
    with pytest.raises(ConfigError, match=r"inputs holds 3 choices, expected one, or a pair"):
        DPMF(1, Matern12("time"), inputs=("grid",) * 3)


def test_what_is_asked_for_must_exist():
    with pytest.raises(ConfigError, match=r"inputs='markov': .* expected Matern12 of one col"):
        DPMF(1, Matern32("time"), inputs="markov").spec(dyads(frame()))
    with pytest.raises(ConfigError, match=r"inputs='basis': .* expected one of SquaredExp"):
        DPMF(1, Constant(), inputs="basis").spec(dyads(frame()))
    with pytest.raises(ConfigError, match=r"inputs='spline', expected one of 'auto', 'grid'"):
        DPMF(1, Matern12("time"), inputs="spline")
    asked = DPMF(1, Matern12("time"), inputs=("markov", "grid")).spec(dyads(frame()))
    assert asked.rows.inputs == Inputs("markov", "as asked for")
    assert asked.cols.inputs == Inputs("grid", "as asked for")
