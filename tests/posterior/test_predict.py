"""Draws carried to upcoming events."""

import functools

import jax
import numpy as np
import pandas as pd
import pytest

from dpmf import DataError
from dpmf.inference.diagnostics import quantities
from dpmf.posterior import Forecast
from inference.fitted import CASES, fitted, games


@pytest.mark.parametrize("name", ["games hmc", "stars slice", "intercepts slice"])
def test_old_inputs_give_the_y_that_was_diagnosed(name):
    fit = fitted(name)
    with jax.enable_x64(True):
        diagnosed = quantities(fit.problem, fit.draws.states)["y"]
    y = fit.predict(CASES[name].frame).y
    if "first_cut" in fit.parameters.noise:  # from which y is then measured
        y = y - fit.parameters.noise["first_cut"].reshape(-1, 1, 1)
    np.testing.assert_allclose(y.reshape(diagnosed.shape), diagnosed, rtol=1e-12)


@pytest.mark.parametrize("name", ["goals slice", "counts slice", "outliers hmc"])
def test_outliers_and_counts_are_forecast(name):
    frame = CASES[name].frame
    forecast = fitted(name).predict(frame)
    assert np.isfinite(forecast.log_prob(frame)).all()
    assert np.isfinite(forecast.mean).all() and (forecast.sd > 0).all()
    drawn = forecast.sample(50)
    assert (name == "outliers hmc") != np.array_equal(drawn, np.round(drawn))
    assert len(forecast.to_frame()) == len(frame)


def test_a_subset_of_old_events_gives_the_same_y():
    fit, frame = fitted("games hmc"), CASES["games hmc"].frame
    some = [11, 2, 7]
    whole = fit.predict(frame, seed=1).y[:, some]
    np.testing.assert_allclose(fit.predict(frame.iloc[some], seed=2).y, whole, rtol=1e-12)


def upcoming() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "host": ["Bulls", "Nets", "Bulls"],
            "guest": ["Jazz", "Kings", "Jazz"],
            "season": [2001, 2002, 2000],
            "week": [9.0, 1.0, 0.0],
            "home": [0.5, -0.5, 0.5],
        }
    )


@functools.cache
def forecast_of(seed: int) -> Forecast:
    return fitted("games hmc").predict(upcoming(), seed=seed)


def test_new_inputs_and_new_members():
    fit, forecast = fitted("games hmc"), forecast_of(0)
    assert forecast.y.shape == (40, 3, 2)
    assert np.isfinite(forecast.y).all()
    assert np.isnan(forecast.data.values).all()
    assert forecast.data.row_names[-2:] == ("Nets", "Kings")
    assert set(fit.data.row_names).isdisjoint({"Nets", "Kings"})  # the fit is left as it was
    assert list(forecast.to_frame()["host"]) == ["Bulls", "Nets", "Bulls"]


def test_the_seed_decides_only_what_is_new():
    fit = fitted("games hmc")
    a, b, c = forecast_of(0).y, fit.predict(upcoming()).y, forecast_of(1).y
    np.testing.assert_array_equal(a, b)
    assert (a[:, :2] != c[:, :2]).all()
    np.testing.assert_allclose(a[:, 2], c[:, 2], rtol=1e-12)


def test_an_unseen_level_of_a_category():
    fit = fitted("stars slice")
    frame = CASES["stars slice"].frame.head(3).assign(genre=["western", "drama", "western"])
    forecast = fit.predict(frame.drop(columns="value"))
    assert forecast.data.codebook.inputs[1].levels[-1] == "western"
    assert np.isfinite(forecast.y).all()
    assert ((forecast.mean > 1) & (forecast.mean < 4)).all()


def test_other_values_in_the_frame_change_nothing():
    fit, frame = fitted("stars slice"), CASES["stars slice"].frame
    without = frame.drop(columns="value")
    np.testing.assert_array_equal(fit.predict(frame).y, fit.predict(without).y)


def test_a_missing_column_is_refused():
    fit = fitted("games hmc")
    with pytest.raises(DataError, match="next week: there is no column 'home'"):
        fit.predict(upcoming().drop(columns="home"), source="next week")


def test_precision_is_that_of_the_fit():
    assert forecast_of(0).y.dtype == np.float64
    assert not jax.config.jax_enable_x64


def test_values_are_ignored():
    fit = fitted("games hmc")
    frame = games()[:3]
    expected = fit.predict(frame.drop(columns=["ours", "theirs"])).mean
    for other in (frame.assign(ours=[1.0, None, 3.0]), frame.assign(theirs=["?", "", "x"])):
        np.testing.assert_array_equal(fit.predict(other).mean, expected)
    np.testing.assert_array_equal(fit.predict(frame.drop(columns="ours")).mean, expected)
