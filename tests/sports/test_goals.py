"""Goals from the games file to the table: draws, what is recovered, and nothing peeks."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, DataError, Dyads, Games
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import Plan
from dpmf.backtest.records import _identity
from dpmf.likelihoods import PairedGaussian, PairedPoisson, Poisson
from dpmf.sports import score_model
from league import league

SIZES = {"chains": 2, "warmup": 20, "draws": 10}
MODEL = score_model(1, (), likelihood=PairedPoisson())


def football() -> pd.DataFrame:
    """The small league with goals, under the names that football gives them."""
    frame = league()[["date", "home", "away"]]
    goals = np.random.default_rng(1).poisson([1.6, 1.2], (len(frame), 2))
    return frame.assign(home_goals=goals[:, 0], away_goals=goals[:, 1])


def test_no_forecast_of_goals_knows_the_future():
    frame = Games(football()).frame
    days = cutoffs(frame, [2003], "4w")
    changed = frame.copy()
    later = frame["date"] >= days[1].start
    changed.loc[later, ["home_score", "away_score"]] += 7.0
    before, after = (
        MODEL.forecasts(f, days, Plan(**SIZES)).predictions for f in (frame, changed)
    )
    assert later.sum() == 12
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.y, other.y)
        np.testing.assert_array_equal(one.shared, other.shared)


@pytest.mark.parametrize("protocol", ["default", "paper"])
def test_the_table_has_the_three_outcomes(protocol):
    found = dpmf.backtest(
        Games(football()), [MODEL], seasons=[2003], protocol=protocol, progress=False, **SIZES
    )
    own = found.scores[found.scores["forecaster"] == "PMF"]
    assert len(own) == 24
    np.testing.assert_allclose(own[["p_win", "p_draw", "p_loss"]].sum(axis=1), 1)
    np.testing.assert_allclose(own["p_home"], own["p_win"] + 0.5 * own["p_draw"])
    assert own["log_prob"].between(-12, -0.5).all()
    summary = found.summary.set_index(["forecaster", "season"])
    assert summary.loc[("PMF", "All"), "rps"] == pytest.approx(own["rps"].mean())
    assert np.isnan(summary.loc[("home", "All"), "rps"])


def test_simulated_goals_recover_their_parameters():
    """Rates of all pairs of teams, and the shared one, as far as the posterior knows."""
    random = np.random.default_rng(0)
    teams, games, shared = 8, 1500, 0.5
    attack, defence = random.normal(0.3, 0.4, teams), random.normal(0.54, 0.4, teams)
    truth = attack[:, None] * np.log1p(np.exp(defence))[None]
    home = random.integers(teams, size=games)
    away = (home + random.integers(1, teams, games)) % teams
    both = random.poisson(shared, games)
    names = np.array(list("ABCDEFGH"))
    frame = pd.DataFrame({"home": names[home], "away": names[away]})
    frame["ours"] = random.poisson(np.exp(truth[home, away])) + both
    frame["theirs"] = random.poisson(np.exp(truth[away, home])) + both
    data = Dyads.from_frame(frame, row="home", col="away", value=("ours", "theirs"))
    model = dpmf.PMF(1, PairedPoisson())
    fit = model.fit(data, chains=4, warmup=200, draws=200, seed=1, progress=False)
    drawn = fit.parameters.noise["shared"].reshape(-1)
    assert abs(drawn.mean() - shared) < 4 * drawn.std()
    assert drawn.std() < 0.15  # the prior's is 0.3
    y = fit.predict(frame).y  # (draws, games, 2)
    real = np.stack([truth[home, away], truth[away, home]], axis=1)
    off = (y.mean(axis=0) - real) / y.std(axis=0)
    assert np.sqrt(np.mean(off**2)) < 2
    assert np.corrcoef(y.mean(axis=0).reshape(-1), real.reshape(-1))[0, 1] > 0.9


def test_fractions_of_goals_are_refused():
    halves = football().assign(home_goals=lambda f: f["home_goals"] + 0.5)
    with pytest.raises(DataError, match=r"PairedPoisson: row 1 holds .*5, expected a count"):
        dpmf.backtest(Games(halves), [MODEL], seasons=[2003], progress=False, **SIZES)


@pytest.mark.parametrize("wrong", [Poisson(), "paired-poisson"])
def test_other_likelihoods_are_refused(unchecked, wrong):
    with pytest.raises(ConfigError, match=r"expected PairedGaussian\(\) or PairedPoisson\(\)"):
        score_model(likelihood=wrong)


def test_results_of_models_without_a_choice_of_likelihood_keep_their_place():
    """Files of a stopped run are found by the settings, which had no likelihood before."""
    assert "likelihood" not in _identity(score_model())
    assert "likelihood=PairedGaussian()" in _identity(score_model(likelihood=PairedGaussian()))
    assert "PairedPoisson(shared_scale=0.5)" in _identity(MODEL)
