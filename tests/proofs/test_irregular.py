"""The joint distribution stays put where every member has its own times, and bugs show."""

import pytest
from proofs.row import require
from proofs.transitions import ENGINES

from chance import FALSE_ALARM
from proofs import geweke, irregular

# What is common to all representations shows with Markov chains, and hyperparameters that move
# without copies with own inputs; a series has exact tests besides (tests/model,
# tests/inference/test_rescaled.py), and so have chains (test_filtered.py beside that).
CASES = [
    pytest.param(case, marks=pytest.mark.long if one.kind == "basis" else ())
    for case, one in irregular.CASES.items()
]
BUGS = [
    pytest.param(bug, marks=pytest.mark.long if case == "series" else ())
    for bug, (case, _) in irregular.bugs().items()
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_joint_distribution(case, engine):
    require([irregular.one(case, engine, geweke.SMALL)], FALSE_ALARM)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_found(bug):
    require([irregular.found(bug, small=True)], FALSE_ALARM)
