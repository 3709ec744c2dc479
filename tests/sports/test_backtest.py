"""Backtests of every forecaster on a small league: nothing peeks, and tables add up."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf import ConfigError, Games
from dpmf.backtest.cutoffs import Cutoff, cutoffs
from dpmf.backtest.forecaster import Plan
from dpmf.backtest.rolling import BASELINES
from dpmf.backtest.summary import summary
from dpmf.sports import score_model
from league import later_changed, league

SIZES = {"chains": 2, "warmup": 20, "draws": 10}


FORECASTERS = {
    **{name: make() for name, make in BASELINES.items()},
    "PMF": score_model(1, ()),
    "DPMF(t,h)": score_model(1),
}


@pytest.mark.parametrize("name", FORECASTERS)
def test_no_forecast_knows_the_future(name):
    """Other scores from a cutoff on change nothing that was forecast there."""
    frame = Games(league()).frame
    days = cutoffs(frame, [2003], "4w")
    plan = Plan(**SIZES)
    before = FORECASTERS[name].forecasts(frame, days, plan).predictions
    changed = later_changed(frame, days[1].start)
    after = FORECASTERS[name].forecasts(changed, days, plan).predictions
    assert len(before) == 2
    assert (changed["home_score"] != frame["home_score"]).sum() == 12
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.covariance, other.covariance)
        np.testing.assert_array_equal(one.probability, other.probability)


def test_a_cutoff_that_leaks_is_found(monkeypatch):
    """The test above would fail if the past held the games to be forecast."""
    frame = Games(league()).frame
    days = cutoffs(frame, [2003], "4w")
    changed = frame.copy()
    changed.loc[frame["date"] >= days[0].start, "home_score"] += 50.0
    home = FORECASTERS["home"]

    def leaking(self, frame, window):
        return (frame["date"] < self.stop).to_numpy()

    monkeypatch.setattr(Cutoff, "past", leaking)
    a, b = (home.forecasts(f, days, Plan()).predictions[0].mean for f in (frame, changed))
    assert not np.array_equal(a, b)


def test_tables():
    games = Games(league())
    found = dpmf.backtest(
        games,
        {"PMF": FORECASTERS["PMF"]},
        seasons=[2002, 2003],
        window=2,
        progress=False,
        **SIZES,
    )
    scores, summary = found.scores, found.summary
    assert set(scores["forecaster"]) == {"PMF", "line", "elo538", "home"}
    assert len(scores) == 4 * 48
    assert list(summary.columns[:4]) == ["forecaster", "rank", "season", "games"]
    own = summary[summary["forecaster"] == "PMF"].set_index("season")
    assert own.index.tolist() == ["2002", "2003", "All"]
    assert own["games"].tolist() == [24, 24, 48]
    mean = scores[scores["forecaster"] == "PMF"].groupby("season")["log_prob"].mean()
    np.testing.assert_allclose(own["mean_log_prob"], [*mean, mean.mean()])
    squares = scores[(scores["forecaster"] == "home") & (scores["season"] == 2002)]
    rmse = np.sqrt(squares["squared_error"].mean())
    assert summary[summary["forecaster"] == "home"]["score_rmse"].iloc[0] == pytest.approx(rmse)
    assert len(found.fits) == 4 and (found.fits["rank"] == 1).all()


def test_a_forecast_does_not_depend_on_its_neighbours_keys():
    frame = Games(league()).frame
    days = cutoffs(frame, [2003], "4w")
    plan = Plan(**SIZES)
    model = FORECASTERS["PMF"]  # the same grid at every cutoff
    together = model.forecasts(frame, days, plan).predictions
    again = model.forecasts(frame, days[::-1], plan).predictions[::-1]
    for one, other in zip(together, again, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seasons": [2001]}, "season 2001: no game was played before 2001-09-02"),
        ({"baselines": ["oracle"]}, "there is no 'oracle', expected some of line"),
        ({"window": 0}, "window=0, expected a number of seasons"),
        ({"steps": 3}, "there is no option 'steps'"),
        ({"engine": "nuts"}, "engine='nuts', expected 'hmc' or 'slice'"),
        ({"block": "month"}, "block='month', expected"),
        ({"blocks": 0}, "blocks=0 leaves nothing to forecast"),
        ({"protocol": "paper", "learn_from": 2001}, "learn_from=2001, expected years"),
        ({"baselines": []}, "forecasters: there is none"),
        ({"baselines": ["home", "home"]}, "'home, rank nan' is there twice"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ConfigError, match=message):
        dpmf.backtest(Games(league()), {}, progress=False, **options)


def test_score_models_are_named_as_in_the_paper():
    assert [FORECASTERS[n].name for n in ("PMF", "DPMF(t,h)")] == ["PMF", "DPMF(t,h)"]
    assert score_model(1, ("home",)).name == "DPMF(h)"
    assert score_model(1, ("time",), paper=True).name == "DPMF(t)"
    with pytest.raises(ConfigError, match="expected some of"):
        score_model(1, ("moon",))


def test_a_missing_column_is_told_before_any_work():
    class Never:
        def forecasts(self, frame, cutoffs, plan):
            raise AssertionError("work began")

    games = Games(league().drop(columns=["total"]))
    with pytest.raises(ConfigError, match="there is no column 'total'"):
        dpmf.backtest(games, {"never": Never()}, baselines=["line"], progress=False)


def test_a_kernel_that_is_already_made_is_refused():
    with pytest.raises(ConfigError, match="expected a kind of kernel"):
        score_model(1, kernel=dpmf.kernels.Matern12("time"))


def test_differences_are_those_of_games_that_have_a_line():
    """Two games without a line: gains, their errors and shares leave them out."""
    events = pd.DataFrame({"event": range(6), "season": 2001})
    logs = {"PMF": [-8.0] * 6, "line": [-6.0, -7.0, -6.0, -7.0, np.nan, np.nan]}
    logs["DPMF(t)"] = [-7.0, -7.5, -7.0, -7.5, 50.0, 50.0]
    ranks = {"PMF": 1.0, "line": np.nan, "DPMF(t)": 1.0}
    others = ["winner_error", "squared_error", "log_loss", "brier", "crps_margin", "crps_total"]
    rows = [
        events.assign(forecaster=name, rank=ranks[name], log_prob=values, seen=False)
        for name, values in logs.items()
    ]
    scores = pd.concat(rows).assign(**dict.fromkeys(others, 0.0))
    table = summary(scores, "line").set_index(["forecaster", "season"])
    gains = np.array([-1.0, -0.5, -1.0, -0.5])
    own = table.loc[("DPMF(t)", "2001")]
    assert own["gain"] == pytest.approx(gains.mean())
    assert own["gain_se"] == pytest.approx(gains.std(ddof=1) / 2)
    assert own["closed_pct"] == pytest.approx(100 * (-7.25 + 8) / (-6.5 + 8))
    assert table.loc[("PMF", "All"), "closed_pct"] == pytest.approx(0.0)
    assert table.loc[("line", "All"), "closed_pct"] == pytest.approx(100.0)


def test_gains_of_all_scores_have_their_errors():
    """Those of means by hand; that of the RMSE against the jackknife."""
    random, count = np.random.default_rng(0), 400
    names = ["winner_error", "squared_error", "log_loss", "brier", "crps_margin", "crps_total"]
    drawn = {one: random.gamma(2.0, 1.0, (count, 2)) for one in ["log_prob", *names]}
    scores = pd.concat(
        pd.DataFrame({one: values[:, i] for one, values in drawn.items()}).assign(
            forecaster=who, rank=np.nan, season=2001, seen=False, event=range(count)
        )
        for i, who in enumerate(["line", "home"])
    )
    row = summary(scores, "line").set_index(["forecaster", "season"]).loc[("home", "2001")]
    less = drawn["brier"][:, 0] - drawn["brier"][:, 1]
    assert row["brier_gain"] == pytest.approx(less.mean())
    assert row["brier_gain_se"] == pytest.approx(less.std(ddof=1) / np.sqrt(count))
    wins = 100 * (drawn["winner_error"][:, 0] - drawn["winner_error"][:, 1]).mean()
    assert row["winner_gain_pct"] == pytest.approx(wins)
    squares = drawn["squared_error"]
    theirs, ours = np.sqrt(squares.mean(axis=0))
    assert row["rmse_gain"] == pytest.approx(theirs - ours)
    left_out = np.sqrt((squares.sum(axis=0) - squares) / (count - 1)) @ [1.0, -1.0]
    jackknife = np.sqrt((count - 1) * left_out.var())
    assert row["rmse_gain_se"] == pytest.approx(jackknife, rel=0.02)
    assert summary(scores, "line").set_index(["forecaster", "season"]).loc[
        ("home", "All"), "rmse_gain_se"
    ] == pytest.approx(row["rmse_gain_se"])
