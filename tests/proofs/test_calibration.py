"""The truth's rank among posterior draws is uniform; a wrong noise makes it lopsided."""

import numpy as np
import pytest
from proofs.row import require

from chance import FALSE_ALARM
from proofs import calibration


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        pytest.param("slice", "pooled", marks=pytest.mark.long),
        ("hmc", "pooled"),
        ("slice", "paired-poisson"),
        pytest.param("hmc", "own-cuts", marks=pytest.mark.long),
        pytest.param("slice", "own-cuts", marks=pytest.mark.long),
    ],
)
def test_ranks_are_uniform(engine, case):
    require(calibration.prove(calibration.SMALL, engine, case), FALSE_ALARM)


def test_lopsided_ranks_are_told_apart():
    size = calibration.SMALL["slice"]
    random = np.random.default_rng(0)
    ranks = random.binomial(size.draws, 0.65, (256, 1))
    assert calibration.uniform(ranks, size)[0] < FALSE_ALARM
