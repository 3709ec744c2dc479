"""Both engines against a posterior in closed form."""

import dataclasses

import numpy as np
import pytest
from proofs.row import Row, require

from chance import FALSE_ALARM
from proofs import linear


@pytest.mark.parametrize("engine", ["slice", "hmc"])
def test_posterior_of_the_row_functions(engine):
    require(linear.prove(linear.SMALL, (engine,)), FALSE_ALARM)


def test_closed_form_of_a_wrong_scale_is_told_apart():
    known = linear.case()
    louder = dataclasses.replace(known.problem, arrays=_scaled(known.problem.arrays))
    wrong = known._replace(problem=louder)
    row = linear.compared(wrong, "slice", linear.rows_by_slice, linear.SMALL, planted=True)
    require([row], FALSE_ALARM)


def _scaled(arrays):
    return dataclasses.replace(arrays, values=1.5 * arrays.values)


def test_a_row_without_a_number_fails():
    with pytest.raises(AssertionError, match="nan"):
        require([Row("p", "c", "e", "q", "s", np.nan)], FALSE_ALARM)
