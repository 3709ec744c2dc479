"""Prediction at new inputs is a fit that had them from the start."""

from proofs.row import require

from chance import FALSE_ALARM
from proofs import extension


def test_old_values_and_joint_covariance_are_exact():
    require(extension.exact(), FALSE_ALARM)


def test_fit_and_predict_equals_fit():
    require([extension.fitted(extension.SMALL)], FALSE_ALARM)
