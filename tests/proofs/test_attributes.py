"""The joint distribution stays put where means are functions of members' attributes."""

import pytest
from proofs.row import require
from proofs.transitions import ENGINES

from chance import FALSE_ALARM
from proofs import attributes, geweke

pytestmark = pytest.mark.long


@pytest.mark.parametrize("engine", ENGINES)
def test_joint_distribution(engine):
    require([attributes.one(engine, geweke.SMALL)], FALSE_ALARM)
