"""The constants of the priors, as the design's table has them; and the way to JSON and back."""

import json

import numpy as np
import pytest

from dpmf.kernels import Constant
from dpmf.likelihoods import Ordinal, PairedGaussian
from dpmf.model.spec import Spec, spec
from dpmf.priors import LKJ, HalfNormal, Normal
from model.problem import COLS, POOLED, ROWS


def test_priors_carry_the_units_on_the_row_side():
    found = spec(4, (ROWS, POOLED), (COLS, None), PairedGaussian(), scale=100.0, spread=12.0)
    assert found.rows.mean == Normal(0.0, 50.0, (4,))
    assert found.rows.sd == HalfNormal(6.0, (4,))
    assert found.cols.mean == Normal(0.54, 1.0, (4,))
    assert found.cols.sd == HalfNormal(1.0, (4,))
    assert found.rows.corr == found.cols.corr == LKJ(4)
    assert found.noise()["sigma"] == HalfNormal(12.0)
    assert found.rows.theta() == ROWS.priors()
    assert found.rows.pooled_theta() == POOLED.priors()
    assert found.cols.pooled_theta() == {}
    assert np.logaddexp(0, found.cols.mean.mean) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("likelihood", [PairedGaussian(), Ordinal(5)], ids=str)
def test_saved_is_loaded(likelihood):
    one = spec(3, (ROWS, POOLED), (Constant(), None), likelihood, scale=100.0, spread=12.0)
    assert Spec.from_dict(json.loads(json.dumps(one.to_dict()))) == one
