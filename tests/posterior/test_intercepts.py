"""What rows and columns add to y: carried to new members, to other events, and into files."""

import json

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import xarray as xr

import dpmf
from chance import assert_mean
from dpmf import PMF
from dpmf.likelihoods import Gaussian
from dpmf.model.layout import layout
from dpmf.model.predictor import predictor, product_features
from dpmf.model.state import FREE_ALL
from dpmf.model.widening import MoreMembers
from inference.fitted import SIZES, fitted, problem_of, rating_dyads, ratings, state_of


def test_intercepts_are_added_to_the_product(x64):
    data = rating_dyads(ratings(Gaussian()))
    problem = problem_of(PMF(2, Gaussian(), intercepts=True), data)
    state = state_of(problem, 1)
    values, white = problem.parameters(state), state.white
    y = np.asarray(predictor(problem.spec, white, values, problem.arrays))
    without = predictor(
        problem.spec,
        white._replace(rows_intercept=None, cols_intercept=None),
        values,
        problem.arrays,
    )
    rows = np.asarray(values.rows.intercept_sd * white.rows_intercept)[data.rows]
    cols = np.asarray(values.cols.intercept_sd * white.cols_intercept)[data.cols]
    assert np.abs(rows).max() > 0.1 and np.abs(cols).max() > 0.1
    np.testing.assert_allclose(y, np.asarray(without) + rows + cols, rtol=1e-12)
    u, unit = product_features(problem.spec, white, values, problem.arrays)
    assert u.shape[0] == 4  # two more, each facing a 1
    np.testing.assert_allclose(np.sum(u * unit, axis=0), y[:, 0], rtol=1e-12)


def test_new_members_draw_theirs_and_old_ones_keep_them(x64):
    old = jnp.asarray([0.5, -1.0])
    drawn = jax.vmap(lambda key: MoreMembers(4).widened(old, key))(jr.split(jr.key(0), 2000))
    assert (np.asarray(drawn[:, :2]) == np.asarray(old)).all()
    fresh = np.asarray(drawn[:, 2:])
    assert_mean(fresh, np.zeros(2))
    assert_mean(fresh**2, np.ones(2))


def test_a_stranger_is_as_uncertain_as_the_population():
    """Its y spreads by at least the intercepts' scale around that of a known film."""
    fit = fitted("intercepts slice")
    film = fit.data.col_names[0]
    strangers = [f"new {number}" for number in range(200)]
    asked = pd.DataFrame({"viewer": strangers, "film": film, "week": 1.0, "genre": "drama"})
    y = fit.predict(asked).y[:, :, 0]
    scale = fit.parameters.rows.intercept_sd.reshape(-1)
    assert np.median(y.std(axis=1) / scale) > 0.9


def test_a_start_keeps_the_intercepts_of_those_it_knows():
    fit = fitted("intercepts hmc")
    frame = ratings(fit.spec.likelihood)
    frame = frame[frame["viewer"] != frame["viewer"].iloc[0]]
    frame = pd.concat([frame.iloc[::-1], frame.head(2).assign(viewer="Nobody")])
    data = rating_dyads(frame)
    with jax.enable_x64(True):
        points, _ = layout(fit.grids_over(data), data)
        states = fit.last_states(points, data, FREE_ALL, 2, 0)
    assert states.white.rows_intercept.shape == (2, len(data.row_names))
    for place, name in enumerate(data.row_names):
        now = np.asarray(states.white.rows_intercept)[:, place]
        if name != "Nobody":
            before = fit.draws.states.white.rows_intercept[:, -1]
            np.testing.assert_array_equal(now, before[:, fit.data.row_names.index(name)])
    again = fit.model.fit(data, start=fit, warmup=5, **SIZES)
    assert np.isfinite(again.draws.stats["log_density"]).all()


def test_a_file_that_says_nothing_of_intercepts_has_none(tmp_path):
    fitted("stars hmc").save(tmp_path / "fit.nc")
    with xr.open_dataset(tmp_path / "fit.nc", engine="h5netcdf") as dataset:
        dataset = dataset.load()
    plain = json.loads(dataset.attrs["dpmf"])
    del plain["model"]["intercepts"], plain["spec"]["intercepts"]
    for place in ("structure", "fixed"):
        for side in ("rows", "cols"):
            del plain[place][side]["intercept_sd"]
    plain["format"] = 1  # and no checksum
    dataset.attrs["dpmf"] = json.dumps(plain)
    dataset.to_netcdf(tmp_path / "older.nc", engine="h5netcdf")
    older = dpmf.load(tmp_path / "older.nc")
    assert older.model.intercepts is False
    frame = ratings(older.spec.likelihood)
    np.testing.assert_allclose(older.predict(frame).y, fitted("stars hmc").predict(frame).y)
