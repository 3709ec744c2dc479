"""A fit that hears new events: whom it updates, what it keeps, and what is refused."""

import functools
import json
import warnings

import jax
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import dpmf
from dpmf import ConfigError, DataError, DpmfWarning
from dpmf.posterior import Fit
from inference.fitted import CASES, fitted, same

# Whom the new events are of: a new row, a new column, or both at new times.
NEW = {
    "stars slice": pd.DataFrame(
        {
            "viewer": ["Nets", "Nets", "Nets"],
            "film": ["Alien", "Brazil", "Alien"],
            "week": [1.0, 9.0, 2.0],
            "genre": ["comedy", "western", "drama"],
            "value": [4, 4, 3],
        }
    ),
    "own times hmc": pd.DataFrame(
        {
            "viewer": ["Bulls", "Nets"],
            "film": ["Dune", "Dune"],
            "week": [0.5, 1.0],
            "genre": "drama",
            "value": [2.5, 3.5],
        }
    ),
    "games slice": pd.DataFrame(
        {
            "host": ["Nets", "Heat"],
            "guest": ["Heat", "Nets"],
            "season": 2001,
            "week": [1.0, 5.0],
            "home": 0.5,
            "ours": [101.0, 99.0],
            "theirs": [98.0, 103.0],
        }
    ),
}
# Whatever the representation: at inputs of one's own, and within reach of a series.
NEW |= {
    "own inputs slice": NEW["stars slice"],
    "series slice": NEW["stars slice"].assign(week=[1.0, 2.5, 2.0]),
}


@functools.cache
def heard(name: str, seed: int = 0) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)  # 40 draws may be too few
        return fitted(name).condition(NEW[name], steps=5, seed=seed)


@pytest.mark.parametrize("name", NEW)
def test_the_fit_is_one_of_all_events(name):
    before, after = fitted(name), heard(name)
    assert after.shape == before.shape
    assert after.data.events == before.data.events + len(NEW[name])
    np.testing.assert_array_equal(after.data.values[: before.data.events], before.data.values)
    y = after.predict(NEW[name]).y
    assert np.isfinite(y).all()
    assert after.diagnostics.reweighted[0].events == len(NEW[name])
    assert "Pareto k" in repr(after) and "Pareto k" not in repr(before)
    np.testing.assert_array_equal(after.diagnostics.rhat, before.diagnostics.rhat)
    # The old events' y is that of one of the old draws, unless a known member moved.
    old, new = (fit.predict(CASES[name].frame).y for fit in (before, after))
    apart = np.abs(new[:, None] - old[None]).max(axis=(2, 3)).min(axis=1)
    assert (apart < 1e-9).all()


@pytest.mark.parametrize("name", NEW)
def test_a_forecast_of_what_was_heard_needs_nothing_new(name):
    fit = heard(name)
    a, b = fit.predict(NEW[name], seed=1).y, fit.predict(NEW[name], seed=2).y
    np.testing.assert_allclose(a, b, rtol=1e-10)


def test_seeds_decide():
    name = "own times hmc"
    again = heard.__wrapped__(name)
    assert same(heard(name).draws, again.draws)
    assert not same(heard(name).draws.states.white, heard(name, seed=1).draws.states.white)


def test_a_round_trip_keeps_everything(tmp_path):
    fit = heard("stars slice")
    fit.save(tmp_path / "fit.nc")
    loaded = dpmf.load(tmp_path / "fit.nc")
    assert repr(loaded) == repr(fit)
    assert same(loaded.draws, fit.draws)
    assert loaded.diagnostics.reweighted == fit.diagnostics.reweighted
    assert loaded.data.codebook == fit.data.codebook
    a, b = (one.predict(NEW["stars slice"]).y for one in (fit, loaded))
    np.testing.assert_allclose(a, b, rtol=1e-10)


def test_a_file_of_before_has_heard_nothing(tmp_path):
    fitted("stars hmc").save(tmp_path / "fit.nc")
    with xr.open_dataset(tmp_path / "fit.nc", engine="h5netcdf") as dataset:
        dataset = dataset.load()
    plain = json.loads(dataset.attrs["dpmf"])
    del plain["reweighted"], plain["divergent"]
    del plain["codebook"]["row_attributes"], plain["codebook"]["col_attributes"]
    dataset.attrs["dpmf"] = json.dumps(plain | {"format": 1})
    dataset.to_netcdf(tmp_path / "older.nc", engine="h5netcdf")
    loaded = dpmf.load(tmp_path / "older.nc")
    assert loaded.diagnostics.reweighted == ()
    assert loaded.diagnostics.divergent == fitted("stars hmc").diagnostics.divergent
    assert loaded.data.codebook == fitted("stars hmc").data.codebook


def test_known_members_move_where_their_side_is_named():
    fit, events = fitted("own times hmc"), CASES["own times hmc"].frame
    more = events.iloc[[0]].assign(week=1.5, value=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)
        moved = fit.condition(more, update="rows", steps=3)
    viewer = more["viewer"].iloc[0]
    old, new = fit.predict(events).y[..., 0], moved.predict(events).y[..., 0]
    theirs = (events["viewer"] == viewer).to_numpy()
    apart = np.abs(new[:, None] - old[None])
    assert (apart[..., ~theirs].max(axis=2).min(axis=1) < 1e-9).all()
    assert (apart[..., theirs].max(axis=2).min(axis=1) > 1e-6).all()


def test_again_and_again():
    fit = heard("own times hmc")
    more = NEW["own times hmc"].assign(viewer="Kings", film="Alien")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)
        twice = fit.condition(more, steps=2)
    assert [one.events for one in twice.diagnostics.reweighted] == [2, 2]
    assert twice.data.events == fit.data.events + 2


def test_the_last_states_can_be_fitted_on(tmp_path):
    fit = heard("own times hmc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DpmfWarning)
        more = fit.model.fit(
            fit.data, start=fit, chains=2, warmup=2, draws=2, engine="slice", progress=False
        )
    assert np.isfinite(more.draws.stats["log_density"]).all()


def test_events_that_contradict_everything_are_told():
    odd = NEW["own times hmc"].assign(value=[900.0, -900.0])
    with pytest.warns(DpmfWarning, match="Pareto k is .* Fit again"):
        fitted("own times hmc").condition(odd, steps=2)


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({"film": "Alien", "viewer": "Bulls"}, {}, DataError,
         r"new\.csv: row 1: 'Bulls' and 'Alien' are both known to the fit, expected a new "
         r"member in every event\. Say whose .* update='rows', 'cols' or 'both'"),
        ({}, {"update": "all"}, ConfigError, "update='all', expected one of 'new', 'rows'"),
        ({}, {"steps": 0}, ConfigError, "steps=0, expected a whole number of at least 1"),
        ({}, {"seed": -1}, ConfigError, "seed=-1, expected a whole number of at least 0"),
        ({"value": None}, {}, DataError, "row 1 has no value, expected one for every event"),
        ({"value": [1.0, None]}, {}, DataError, r"row 2, column 'value': found a missing"),
        ({"week": None}, {}, DataError, r"new\.csv: row 1, column 'week': found a missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_heard_is_refused(change, options, error, message):
    frame = NEW["own times hmc"].assign(**change)
    with pytest.raises(error, match=message):
        fitted("own times hmc").condition(frame, source="new.csv", **options)


def test_impossible_values_are_refused():
    with pytest.raises(DataError, match=r"Ordinal: row 2 holds 7, expected a whole level"):
        fitted("stars slice").condition(NEW["stars slice"].assign(value=[1, 7, 2]))
    assert not jax.config.jax_enable_x64
