"""Fits of members' own inputs and of series: forecasts, files and warm starts."""

import jax
import numpy as np
import pytest

import dpmf
from dpmf import DataError
from dpmf.inference.diagnostics import quantities
from inference.fitted import CASES, SIZES, fitted, rating_dyads
from posterior.test_carry import carried_states, y_of

FITS = ("own inputs hmc", "own inputs slice", "series hmc", "series slice")


@pytest.fixture(params=FITS)
def name(request):
    return request.param


def test_the_fit_says_what_it_is(name):
    asked = "member, as asked for" if "inputs" in name else "basis, as asked for, "
    assert f"inputs of rows{'' if 'slice' in name and 'series' in name else ', columns'}" in (
        repr(fitted(name))
    )
    assert asked in repr(fitted(name))


def test_old_inputs_give_the_y_that_was_diagnosed(name):
    fit, frame = fitted(name), CASES[name].frame
    with jax.enable_x64(True):
        diagnosed = quantities(fit.problem, fit.draws.states)["y"]
    y = fit.predict(frame).y
    first = fit.parameters.noise.get("first_cut", np.zeros(len(y)))  # y is measured from it
    from_it = y - np.asarray(first).reshape(-1, 1, 1)
    np.testing.assert_allclose(from_it.reshape(diagnosed.shape), diagnosed, rtol=1e-9)
    some = [11, 2, 7]
    np.testing.assert_allclose(fit.predict(frame.iloc[some], seed=2).y, y[:, some], rtol=1e-9)


def changed(name: str):
    """Three events at a new time, the last of a new viewer; the rest as it was, reversed."""
    frame = CASES[name].frame.iloc[::-1].reset_index(drop=True)
    frame.loc[:2, "week"] = 3.5
    frame.loc[2, "viewer"] = "Nobody"
    return frame


def test_new_inputs_and_new_members(name):
    fit, frame = fitted(name), changed(name)
    first, second = (fit.predict(frame, seed=seed).y for seed in (0, 1))
    assert np.isfinite(first).all()
    np.testing.assert_allclose(first[:, 3:], second[:, 3:], rtol=1e-9)
    assert np.ptp(first[:, 2] - second[:, 2]) > 0  # the new viewer
    drawn_anew = np.ptp(first[:, :2] - second[:, :2]) > 0
    assert drawn_anew == ("inputs" in name)  # a series is known everywhere


def test_predictions_of_a_file_are_identical(tmp_path, name):
    fit = fitted(name)
    fit.save(tmp_path / "fit.nc")
    loaded = dpmf.load(tmp_path / "fit.nc")
    np.testing.assert_allclose(
        loaded.predict(changed(name)).y, fit.predict(changed(name)).y, rtol=1e-10
    )


def test_a_warm_start_carries_functions_to_changed_events(name):
    fit, frame = fitted(name), changed(name)
    problem, states = carried_states(fit, rating_dyads(frame))
    old = fit.predict(frame).y.reshape(2, 20, len(frame), 1)[:, -1]
    new = y_of(fit, problem, states)
    assert np.isfinite(new).all()
    np.testing.assert_allclose(new[:, 3:], old[:, 3:], rtol=1e-6)
    assert not np.allclose(new[:, 2], old[:, 2])


@pytest.mark.parametrize("name", ["own inputs slice", "series hmc"], indirect=True)
def test_a_warm_start_runs(name):
    fit, case = fitted(name), CASES[name]
    sizes = SIZES | {"warmup": 0, "draws": 5}
    again = case.model.fit(rating_dyads(changed(name)), start=fit, engine=case.engine, **sizes)
    assert again.spec == fit.spec
    assert np.isfinite(again.predict(changed(name)).y).all()


@pytest.mark.parametrize("name", ["series hmc"], indirect=True)
def test_a_forecast_beyond_the_horizon_is_refused(name):
    frame = CASES[name].frame
    frame.loc[0, "week"] = 60.0
    with pytest.raises(DataError, match=r"'week' holds 60, outside of -1 to 4, .* Fit again"):
        fitted(name).predict(frame)
