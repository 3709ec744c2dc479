"""What rows have for themselves: in forecasts, of new rows, in other fits, given new events."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

from chance import assert_mean
from dpmf.inference.diagnostics import over_draws
from dpmf.likelihoods.base import OWN
from dpmf.model.density import log_likelihoods
from dpmf.model.layout import layout
from dpmf.model.state import FREE_ALL
from dpmf.model.widening import MoreMembers
from inference.fitted import CASES, SIZES, fitted, rating_dyads

OWN_CUTS = ["own cuts hmc", "own cuts slice"]


def averaged(logs: np.ndarray) -> np.ndarray:
    flat = logs.reshape(-1, logs.shape[-1])
    return np.logaddexp.reduce(flat, axis=0) - np.log(len(flat))


@pytest.mark.parametrize("name", OWN_CUTS)
def test_forecasts_of_known_events_have_the_cuts_of_their_rows(name):
    fit, frame = fitted(name), CASES[name].frame
    with jax.enable_x64(True):
        problem = fit.problem
        logs = over_draws(
            lambda state: log_likelihoods(problem.spec, state, problem.arrays), fit.draws.states
        )
    order = np.random.default_rng(0).permutation(len(frame))[:15]  # not all rows, nor in order
    some = frame.iloc[order]
    forecast = fit.predict(some)
    np.testing.assert_allclose(forecast.log_prob(some), averaged(logs)[order], rtol=1e-9)
    tree = fit.to_arviz()
    kept = tree["log_likelihood"]["values"].to_numpy()
    np.testing.assert_allclose(averaged(kept), averaged(logs), rtol=1e-9)
    assert forecast.noise[OWN].shape[1] == some["viewer"].nunique()
    levels = fit.spec.likelihood.levels
    drawn = forecast.sample(4000)
    for level in range(1, levels + 1):
        chance = np.exp(forecast.log_prob(np.full(len(some), float(level))))
        limit = 6 * np.sqrt(0.25 / 4000)
        assert np.abs((drawn == level).mean(axis=1) - chance).max() < limit


def test_strangers_draw_their_own_and_old_rows_keep_theirs():
    old = jnp.asarray([[0.5, -1.0], [2.0, 0.1]])
    drawn = jax.vmap(lambda key: MoreMembers(3).widened(old, key))(jr.split(jr.key(0), 2000))
    assert (np.asarray(drawn[:, :2]) == np.asarray(old)).all()
    fresh = np.asarray(drawn[:, 2])
    assert_mean(fresh, np.zeros(2))
    assert_mean(fresh**2, np.ones(2))


def test_a_forecast_of_strangers_is_as_uncertain_as_the_population():
    fit = fitted("own cuts slice")
    strangers = [f"new {number}" for number in range(300)]
    asked = {"viewer": strangers, "film": fit.data.col_names[0], "week": 1.0, "genre": "drama"}
    own = fit.predict(pd.DataFrame(asked)).noise[OWN]
    each = own.reshape(len(own) * 300, -1)[:: len(own) + 1]  # each of another draw and row
    assert_mean(each, np.zeros(1))
    assert_mean(each**2, np.ones(1))


def test_a_start_keeps_the_cuts_of_those_it_knows():
    fit, frame = fitted("own cuts hmc"), CASES["own cuts hmc"].frame
    frame = frame[frame["viewer"] != frame["viewer"].iloc[0]]
    data = rating_dyads(pd.concat([frame.iloc[::-1], frame.head(2).assign(viewer="Nobody")]))
    with jax.enable_x64(True):
        points, _ = layout(fit.grids_over(data), data)
        states = fit.last_states(points, data, FREE_ALL, 2, 0)
    before, now = fit.draws.states.white.rows_noise[:, -1], np.asarray(states.white.rows_noise)
    assert now.shape == (2, len(data.row_names), 2)
    for place, name in enumerate(data.row_names):
        if name != "Nobody":
            old = before[:, fit.data.row_names.index(name)]
            np.testing.assert_array_equal(now[:, place], old)
    again = fit.model.fit(data, start=fit, warmup=5, **SIZES)
    assert np.isfinite(again.draws.stats["log_density"]).all()


def test_cuts_of_a_new_row_hear_its_events():
    fit = fitted("own cuts hmc")
    frame = CASES["own cuts hmc"].frame.head(6).assign(viewer="Nobody", value=2)
    heard = fit.condition(frame, steps=20)
    assert heard.draws.states.white.rows_noise.shape[2] == len(fit.data.row_names) + 1
    before, after = (one.predict(frame).log_prob(frame).mean() for one in (fit, heard))
    assert after > before + 0.1


def test_own_cuts_are_diagnosed():
    told = fitted("own cuts hmc").diagnostics.names
    assert "rows log_gaps[0]" in told and "gap_sd[0]" in told
