"""The joint distribution stays put under every engine and likelihood, and bugs show."""

import pytest
from proofs.league import league
from proofs.row import require
from proofs.transitions import ENGINES

from chance import FALSE_ALARM
from proofs import bugs, calibration, geweke

PAIRS = [
    (case, engine)
    for case, (likelihood, _) in geweke.CASES.items()
    for engine in ENGINES
    if engine == "slice" or not isinstance(likelihood, geweke.Whole)
]
CALIBRATED = "paired Gaussian, pooled mean"


@pytest.mark.parametrize(("case", "engine"), PAIRS)
def test_joint_distribution(case, engine):
    likelihood, pooled = geweke.CASES[case]
    problem = league(likelihood, pooled=pooled, count=25, unseen=1)
    transition = ENGINES[engine]()
    rows = [geweke.compared(case, engine, problem, transition, geweke.SMALL)]
    if case == CALIBRATED:  # here, since it shares the compiled transition
        size = calibration.SMALL[engine]
        rows.append(calibration.calibrated(case, engine, problem, size, transition))
    require(rows, FALSE_ALARM)


@pytest.mark.parametrize("bug", bugs.bugs())
def test_planted_bug_is_found(bug):
    require([bugs.found(bug)], FALSE_ALARM)


def test_without_the_bugs_their_settings_hold():
    require(bugs.controls(), FALSE_ALARM)
