"""Goals through `fit`, `predict` and `info`: win, draw and loss."""

import json

import numpy as np
import pandas as pd
import pytest

import dpmf
from command import status
from dpmf.likelihoods import PairedPoisson
from few_games import TINY
from league import league


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    """A football-style file, and the fit that the command makes of it."""
    folder = tmp_path_factory.mktemp("goals")
    frame = league()[["date", "home", "away"]]
    drawn = np.random.default_rng(1).poisson([1.9, 1.1], (len(frame), 2))
    frame = frame.assign(FTHG=drawn[:, 0], FTAG=drawn[:, 1]).rename(
        columns={"date": "Date", "home": "HomeTeam", "away": "AwayTeam"}
    )
    frame["Date"] = frame["Date"].dt.strftime("%d/%m/%Y")
    frame[:60].to_csv(folder / "E0.csv", index=False)
    frame[60:][["Date", "HomeTeam", "AwayTeam"]].to_csv(folder / "later.csv", index=False)
    words = ["fit", str(folder / "E0.csv"), "--out", str(folder / "fit.nc"), "--quiet"]
    assert status(*words, "--likelihood", "paired_poisson", *TINY) == 0
    return folder


def test_the_fit_is_one_of_counts(goals, capsys):
    assert dpmf.load(goals / "fit.nc").spec.likelihood == PairedPoisson()
    assert status("info", str(goals / "fit.nc")) == 0
    printed = capsys.readouterr().out
    assert "PairedPoisson" in printed and "goals of each are shared" in printed
    assert status("info", str(goals / "fit.nc"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["model"]["likelihood"] == "PairedPoisson"
    # In goals, not on the scale of their logarithm.
    margin = told["learned"]["home_advantage"]["median"]
    fit = dpmf.load(goals / "fit.nc")
    values = fit.data.values[:, 0] - fit.data.values[:, 1]
    assert abs(margin - values.mean()) < 0.6 and margin > 0


def test_forecasts_have_three_outcomes(goals, capsys):
    words = ["predict", str(goals / "fit.nc"), str(goals / "later.csv")]
    out = goals / "out.csv"
    assert status(*words, "--out", str(out), "--json", "--day-first") == 0
    told = pd.DataFrame(json.loads(capsys.readouterr().out)["games"])
    table = pd.read_csv(out)
    chances = ["p_win", "p_draw", "p_loss"]
    assert list(table)[8:12] == ["p_home_win", *chances]
    np.testing.assert_allclose(told[chances].sum(axis=1), 1, atol=1e-8)
    np.testing.assert_allclose(told["p_home_win"], told["p_win"] + told["p_draw"] / 2)
    np.testing.assert_allclose(told[chances], table[chances], atol=6e-5)
    fit = dpmf.load(goals / "fit.nc")
    frame = pd.read_csv(goals / "later.csv")
    frame["Date"] = pd.to_datetime(frame["Date"], format="%d/%m/%Y")
    known = dpmf.sports.notes.games_notes(fit).calendar
    games = dpmf.Games(frame, upcoming=True, after=known).frame
    sample = fit.predict(games).sample(40_000)
    margin = sample[..., 0] - sample[..., 1]
    expected = np.stack([(margin > 0), (margin == 0), (margin < 0)], axis=-1).mean(axis=1)
    np.testing.assert_allclose(told[chances], expected, atol=0.015)


def test_the_terminal_shows_them(goals, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    words = ["predict", str(goals / "fit.nc")]
    assert status(*words, str(goals / "later.csv"), "--day-first") == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("wins", "draws", "loses"))
    team = dpmf.load(goals / "fit.nc").data.row_names
    game = ["--home", team[0], "--away", team[1], "--date", "2003-12-25"]
    assert status(*words, *game) == 0
    assert ", draw " in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["1.5", "-1", "1e10"])
def test_what_is_no_count_is_refused_with_its_line(goals, tmp_path, capsys, wrong):
    path = tmp_path / "goals.csv"
    lines = (goals / "E0.csv").read_text().splitlines()
    lines[7] = ",".join([*lines[7].split(",")[:3], wrong, "0"])
    path.write_text("\n".join(lines) + "\n")
    for command in ("fit", "backtest"):
        out = str(tmp_path / "fit.nc")
        words = [command, str(path), "--out", out, "--likelihood", "paired-poisson"]
        assert status(*words) == 2
        printed = capsys.readouterr().err.splitlines()[-1]
        assert (
            f"{path}: line 8, column 'FTHG': found {float(wrong):g}, expected a count"
            in printed
        )


def test_another_likelihood_is_refused(goals, capsys):
    words = ["fit", str(goals / "E0.csv"), "--out", str(goals / "x.nc"), "--likelihood"]
    assert status(*words, "poisson") == 2
    assert "expected one of paired-gaussian, paired-poisson" in capsys.readouterr().err
