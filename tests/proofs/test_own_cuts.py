"""The joint distribution stays put where rows have cuts of their own, and bugs show."""

import pytest
from proofs.row import require

from chance import FALSE_ALARM
from proofs import geweke, own_cuts


@pytest.mark.parametrize("engine", ["hmc", pytest.param("slice", marks=pytest.mark.long)])
def test_joint_distribution(engine):
    require([own_cuts.one(engine, geweke.SMALL)], FALSE_ALARM)


@pytest.mark.long
@pytest.mark.parametrize("bug", own_cuts.bugs())
def test_planted_bug_is_found(bug):
    require([own_cuts.found(bug, small=True)], FALSE_ALARM)
