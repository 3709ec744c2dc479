"""Strong data: a fit that has not converged says so."""

import pytest
from proofs.row import require

from chance import FALSE_ALARM
from proofs import strong


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_says_whether_it_converged(engine):
    require([strong.fitted(engine, strong.SMALL)], FALSE_ALARM)
