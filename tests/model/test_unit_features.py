"""softplus of the columns' features, taken before the cells read them or after."""

import jax
import numpy as np
import pytest

from dpmf.kernels import Matern12, SquaredExponential
from dpmf.model import predictor
from dpmf.model.coordinates import parameters
from dpmf.model.inputs import GRID, Inputs
from model.diary import MARKOV, diary, dyads, frame, state
from planted import planted

SMOOTH = (
    SquaredExponential("time", length=(6, 90)),
    SquaredExponential("time", length=(9, 90)),
)
ROUNDED = (Matern12("time", length=(1, 90)), Matern12("time", length=(2, 40)))
CASES = {
    "grid": (GRID, ROUNDED),
    "markov": (MARKOV, ROUNDED),
    "member": (Inputs("member", "as asked for"), ROUNDED),
    "basis": (Inputs("basis", "as asked for"), SMOOTH),
}


def assert_features(inputs, kernels, unit_features):
    """With many more cells than values of the functions, so that values come first."""
    events = frame(400)
    events["time"] = events["time"].round()
    case = diary(inputs, dyads(events), kernels)
    one = state(case)
    values = parameters(case.spec, one.free)
    over = predictor.all_factors(case.spec, values, case.arrays).cols
    cells = case.arrays.cols
    assert one.white.cols[0].size < cells.member.entry.size
    v = predictor.side_features(one.white.cols, None, over, values.cols, cells)
    found = unit_features(one.white, over, values.cols, cells)
    np.testing.assert_allclose(found, jax.nn.softplus(v), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_before_or_after(x64, name):
    assert_features(*CASES[name], predictor.unit_features)


def test_a_softplus_of_coefficients_is_found(x64):
    wrong = planted(predictor.unit_features, "own.picked and ", "")
    with pytest.raises(AssertionError):
        assert_features(*CASES["basis"], wrong)
