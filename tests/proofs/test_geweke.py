"""The joint distribution stays put under every engine and likelihood, and bugs show."""

import pytest
from proofs.league import league
from proofs.row import require
from proofs.transitions import ENGINES

from chance import FALSE_ALARM
from proofs import bugs, geweke

# Likelihoods enter an engine alike, and have exact tests of their own: these show the engines,
# `make test-long` all of them.
SHORT = {
    "hmc": {"Gaussian", "ordinal, 4 levels", "paired Gaussian, pooled mean"},
    "slice": {
        "Gaussian",
        "Bernoulli",
        "paired Gaussian, pooled mean",
        "paired Poisson",
        "a pair without `split`",
    },
}
PAIRS = [
    pytest.param(case, engine, marks=() if case in SHORT[engine] else pytest.mark.long)
    for case, (likelihood, _) in geweke.CASES.items()
    for engine in ENGINES
    if engine == "slice" or not isinstance(likelihood, geweke.Whole)
]


@pytest.mark.parametrize(("case", "engine"), PAIRS)
def test_joint_distribution(case, engine):
    likelihood, pooled = geweke.CASES[case]
    problem = league(likelihood, pooled=pooled, count=25)
    require(
        [geweke.compared(case, engine, problem, ENGINES[engine](), geweke.SMALL)], FALSE_ALARM
    )


@pytest.mark.parametrize("bug", [name for name, bug in bugs.bugs().items() if bug.small])
def test_planted_bug_is_found(bug):
    require([bugs.found(bug, small=True)], FALSE_ALARM)


def test_without_the_bugs_their_settings_hold():
    require(bugs.controls(small=True), FALSE_ALARM)
