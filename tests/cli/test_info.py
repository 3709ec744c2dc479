"""`dpmf info`: what a fit is, in words and as JSON."""

import dataclasses
import json

import jax
import numpy as np
import pytest

import dpmf
from command import status
from dpmf import DataError
from dpmf.inference.identity import data_digest, made_by
from dpmf.sports.findings import Figure, findings, in_words
from dpmf.sports.notes import games_notes
from few_games import TINY


@pytest.fixture(scope="module")
def fit(made):
    return dpmf.load(made.fit)


def test_words(made, fit, capsys):
    assert status("info", str(made.fit)) == 0
    printed = capsys.readouterr().out
    assert "Model: DPMF(t,h), rank 2, SquaredExponential('home') * Matern12(" in printed
    assert (
        "of 6 teams, 2017-09-" in printed and "to 2018-10-29, seasons 2017 to 2018" in printed
    )
    assert "Draws: 2 chains of 12 after 5 steps of warm-up, engine slice, seed 0" in printed
    checksum = data_digest(fit.data)[:12]
    assert f"Made by: dpmf {dpmf.__version__}, jax {jax.__version__}, " in printed
    assert f"; data {checksum}\n" in printed
    assert "onverged: " in printed
    assert "Form fades (to a correlation of 1/e) over about" in printed
    assert "An off-season counts like about" in printed


def test_json(made, fit, capsys):
    assert status("info", str(made.fit), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["data"]["seasons"] == [2017, 2018] and told["data"]["games"] == fit.data.events
    assert told["diagnostics"]["converged"] == fit.diagnostics.converged
    assert told["sampling"]["draws"] == 12
    assert told["learned"]["noise_sd"]["median"] > 0
    assert told["made"] == {**made_by(), "data": data_digest(fit.data)}


def test_quiet(made, capsys):
    assert status("info", str(made.fit), "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""


def held(fit, length, gap, venue):
    """The same fit, with all hyperparameters of its kernels at known values."""
    values = {"season+week.length": length, "season+week.gap": gap, "home.length": venue}

    def side(one):
        theta = {
            label: np.full_like(old, values[label.replace("season+week+", "")])
            for label, old in one.theta.items()
        }
        return one._replace(theta=theta)

    changed = fit.parameters._replace(
        rows=side(fit.parameters.rows), cols=side(fit.parameters.cols)
    )
    other = dataclasses.replace(fit)
    other.__dict__["parameters"] = changed
    return other


def test_figures_are_those_of_the_kernel(fit):
    found = findings(held(fit, 40.0, 15.0, 2.0))
    for name in ("attack", "defence"):
        # Matern 1/2 falls to 1/e after one length; the squared exponential to exp(-d^2/2l^2).
        np.testing.assert_allclose(found[f"{name}_form_weeks"], 40.0, rtol=2e-3)
        np.testing.assert_allclose(found[f"{name}_off_season_weeks"], 15.0)
        np.testing.assert_allclose(found[f"{name}_venue_correlation"], np.exp(-1 / 8))
    np.testing.assert_allclose(
        found["noise_sd"].median, np.median(fit.parameters.noise["sigma"]), rtol=0.1
    )


def test_the_home_advantage_is_the_expected_margin_of_the_games_learned_from(made, fit):
    games = dpmf.read_games(made.games).frame
    y = fit.predict(games).y
    margins = (y[..., 0] - y[..., 1]).mean(axis=1)
    low, high = np.quantile(margins, [0.1, 0.9], method="nearest")
    found = findings(fit)["home_advantage"]
    np.testing.assert_allclose([found.low, found.high], [low, high], rtol=1e-6)


def test_sentences():
    found = {
        "attack_form_weeks": Figure(40.2, 28.0, 61.0),
        "attack_off_season_weeks": Figure(15.0, 9.5, 20.0),
        "home_advantage": Figure(2.4, 1.9, 2.9),
        "noise_sd": Figure(9.8, 9.5, 10.1),
    }
    assert in_words(found) == [
        "Form fades (to a correlation of 1/e) over about 40 weeks (28 to 61) in attack.",
        "An off-season counts like about 15 weeks (9.5 to 20) in attack.",
        "Home teams are expected to score 2.4 (1.9 to 2.9) more than their guests.",
        "Scores scatter by 9.8 (9.5 to 10.1) around that.",
    ]


def test_a_model_without_side_information_says_nothing_of_it(made, tmp_path, capsys):
    out = str(tmp_path / "pmf.nc")
    assert status("fit", str(made.games), "--out", out, "--side", "none", *TINY, "--quiet") == 0
    assert status("info", out, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["model"]["name"] == "PMF"
    assert set(told["learned"]) == {"noise_sd", "noise_correlation"}
    assert status("predict", out, str(made.later), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["games"]) == 11


def test_a_fit_that_is_not_of_games(made, fit, tmp_path, capsys):
    path = tmp_path / "other.nc"
    dataclasses.replace(fit, notes={}).save(path)
    assert status("info", str(path)) == 0
    printed = capsys.readouterr().out
    assert "Data: " in printed and "Form" not in printed
    assert status("predict", str(path), str(made.later)) == 2
    message = "other.nc: this fit was not made from a table of games"
    assert message in capsys.readouterr().err


def test_damaged_notes(fit):
    for notes in ({"games": {}}, {"games": {"model": "x", "calendar": 3, "playoffs": 0}}):
        with pytest.raises(DataError, match="f: the notes about its games are damaged"):
            games_notes(dataclasses.replace(fit, notes=notes), source="f")
