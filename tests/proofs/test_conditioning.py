"""A fit that hears new events is the fit that had them, and bugs show."""

import pytest
from proofs.conditioning import SMALL
from proofs.row import require

from chance import FALSE_ALARM
from dpmf.likelihoods import Ordinal, PairedPoisson
from proofs import conditioning, geweke

pytestmark = pytest.mark.long


@pytest.mark.parametrize("likelihood", [Ordinal(4), PairedPoisson()])
def test_joint_distribution(likelihood):
    require([conditioning.joint(likelihood, geweke.SMALL)], FALSE_ALARM)


def test_a_bug_in_the_moves_is_found():
    require([conditioning.joint(PairedPoisson(), geweke.SMALL, wrong=True)], FALSE_ALARM)


@pytest.mark.parametrize("wrong", [False, True])
def test_truths_among_weighted_draws(wrong):
    require([conditioning.calibrated(SMALL, wrong=wrong)], FALSE_ALARM)


@pytest.mark.parametrize("case", conditioning.UPDATES)
def test_conditioned_equals_fitted(case):
    require([conditioning.refitted(case, SMALL)], FALSE_ALARM)


def test_forgotten_events_are_found():
    require([conditioning.refitted("known teams", SMALL, wrong=True)], FALSE_ALARM)
