"""The joint distribution stays put where every member has its own times, and bugs show."""

import pytest
from proofs.row import require
from proofs.transitions import ENGINES

from chance import FALSE_ALARM
from proofs import geweke, irregular


@pytest.mark.parametrize("case", irregular.CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_joint_distribution(case, engine):
    require([irregular.one(case, engine, geweke.SMALL)], FALSE_ALARM)


@pytest.mark.parametrize("bug", irregular.bugs())
def test_planted_bug_is_found(bug):
    require([irregular.found(bug, small=True)], FALSE_ALARM)
