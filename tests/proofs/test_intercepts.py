"""The joint distribution stays put where members have intercepts, and bugs show."""

import pytest
from proofs.row import require

from chance import FALSE_ALARM
from proofs import geweke, intercepts

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("case", "engine"), intercepts.pairs())
def test_joint_distribution(case, engine):
    require([intercepts.one(case, engine, geweke.SMALL)], FALSE_ALARM)


@pytest.mark.parametrize("bug", intercepts.bugs())
def test_planted_bug_is_found(bug):
    require([intercepts.found(bug, small=True)], FALSE_ALARM)
