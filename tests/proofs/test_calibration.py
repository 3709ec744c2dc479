"""The truth's rank among posterior draws is uniform; a wrong noise makes it lopsided."""

import numpy as np
import pytest
from proofs.league import league
from proofs.row import require

from chance import FALSE_ALARM
from proofs import calibration


@pytest.mark.parametrize("engine", ["slice", "hmc"])
def test_ranks_are_uniform(engine):
    problem = league(calibration.Noisy(), pooled=True, count=25, unseen=1)
    size = calibration.SMALL[engine]
    require([calibration.calibrated("pooled mean", engine, problem, size)], FALSE_ALARM)


def test_lopsided_ranks_are_told_apart():
    size = calibration.SMALL["slice"]
    random = np.random.default_rng(0)
    ranks = random.binomial(size.draws, 0.65, (256, 1))
    assert calibration.uniform(ranks, size)[0] < FALSE_ALARM
