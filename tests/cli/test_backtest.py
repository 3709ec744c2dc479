"""`dpmf backtest`: words in, tables out."""

import importlib
import json
import sys

import numpy as np
import pandas as pd
import pytest

from command import SMALL_BACKTEST, status
from dpmf import ConfigError
from dpmf.cli import choices
from dpmf.kernels import Matern32
from dpmf.likelihoods import PairedGaussian
from league import league


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.csv"
    league().to_csv(path, index=False)
    return path


def test_it_writes_tables_and_shows_them(games, tmp_path, capsys):
    out = tmp_path / "out"
    assert status("backtest", str(games), "--out", str(out), *SMALL_BACKTEST) == 0
    printed = capsys.readouterr().out
    assert "Mean log probability" in printed and "PMF" in printed and "line" in printed
    assert "have not converged" in printed  # six draws
    summary = pd.read_csv(out / "summary.csv")
    first = "forecaster,rank,season,games,mean_log_prob,winner_error_pct,score_rmse"
    assert list(summary.columns[:7]) == first.split(",")
    assert set(summary["forecaster"]) == {"PMF", "line", "elo538", "home"}
    assert len(pd.read_csv(out / "scores.csv")) == 4 * 24
    assert status("backtest", str(games), "--out", str(out), *SMALL_BACKTEST, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["season"] for row in told["summary"]} == {"2003", "All"}


def test_goals_have_a_table_of_win_draw_and_loss(games, tmp_path, capsys):
    table = pd.read_csv(games)[["date", "home", "away"]]
    goals = np.random.default_rng(0).poisson(1.4, (2, len(table)))
    table.assign(home_goals=goals[0], away_goals=goals[1]).to_csv(games, index=False)
    out, choice = tmp_path / "out", ("--likelihood", "paired-poisson")
    assert status("backtest", str(games), "--out", str(out), *SMALL_BACKTEST, *choice) == 0
    printed = capsys.readouterr().out
    assert "Ranked probability" in printed
    summary = pd.read_csv(out / "summary.csv").set_index("forecaster")
    assert summary.loc["PMF", "rps"].between(0, 1).all()
    assert summary.loc["home", "rps"].isna().all()


def test_an_unknown_likelihood_is_told():
    assert choices.likelihood(None) is None
    assert choices.likelihood("paired-gaussian") == PairedGaussian()
    with pytest.raises(
        ConfigError, match="--likelihood: found 'goals', expected one of paired"
    ):
        choices.likelihood("goals")


def test_options_reach_the_model_and_the_backtest(games, tmp_path, monkeypatch):
    module = importlib.import_module("dpmf.cli.backtest")
    calls = []

    def stop(table, models, **options):
        calls.append((models, options))
        raise ConfigError("far enough")

    monkeypatch.setattr(module, "backtest", stop)
    words = ["backtest", str(games), "--out", str(tmp_path / "o"), "--rank", "1,2"]
    assert status(*words, "--side", "none,time+home", "--protocol", "paper") == 2
    assert status(*words, "--kernel", "matern32", "--seasons", "2002:2003,2003") == 2
    assert status(*words, "--mean", "constant", "--block", "1w") == 2
    (paper, _), (other, asked), (plain, weekly) = calls
    assert [(m.name, m.rank, m.pooled) for m in paper] == [
        ("PMF", 1, False), ("PMF", 2, False), ("DPMF(t,h)", 1, False), ("DPMF(t,h)", 2, False),
    ]  # fmt: skip
    assert paper[2].time_kernel.__name__ == "SquaredExponential"
    assert other[2].time_kernel is Matern32 and other[2].pooled
    assert asked["seasons"] == [2002, 2003]
    assert plain[2].time_kernel.__name__ == "Matern12" and not plain[2].pooled
    assert weekly["block"] == "1w" and weekly["chains"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--side", "moon"], "--side: found 'moon', expected one of none, time, home"),
        (["--side", "time+time"], "found 'time+time', expected one of none, time, home"),
        (["--rank", "two"], "--rank: found 'two', expected a whole number"),
        (["--rank", "0"], "--rank 0: expected numbers of at least 1"),
        (["--seasons", "2003:2002"], "the last one is before the first"),
        (["--kernel", "cubic"], "--kernel: found 'cubic', expected one of se"),
        (["--mean", "none"], "--mean: found 'none', expected constant or pooled"),
        (["--seasons", "2050"], "there are no games of 2050"),
        (["--baselines", "oracle"], "there is no 'oracle'"),
        (["--executor", "moon"], "--executor: found 'moon', expected local or dask"),
        (["--scheduler", "tcp://here:1"], "expected --executor dask beside it"),
    ],
)
def test_refusals_are_one_line(games, tmp_path, capsys, words, message):
    assert status("backtest", str(games), "--out", str(tmp_path / "out"), *words) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1


def test_dask_gives_the_same_tables(games, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")  # as here, so in workers
    for name in ("local", "dask"):
        words = ["backtest", str(games), "--out", str(tmp_path / name), "--executor", name]
        assert status(*words, *SMALL_BACKTEST, "--engine", "slice") == 0
    for table in ("scores.csv", "summary.csv"):
        local, dask = ((tmp_path / name / table).read_bytes() for name in ("local", "dask"))
        assert local == dask


def test_no_scheduler_answers(games, tmp_path, capsys):
    pytest.importorskip("distributed")
    import dask

    words = ["backtest", str(games), "--out", str(tmp_path / "out"), "--executor", "dask"]
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        assert status(*words, "--scheduler", "tcp://127.0.0.1:1") == 2
    printed = capsys.readouterr().err
    assert "--scheduler tcp://127.0.0.1:1: no scheduler of Dask answers" in printed


def test_without_dask_it_says_what_to_install(games, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["backtest", str(games), "--out", str(tmp_path / "out"), "--executor", "dask"]
    assert status(*words) == 2
    printed = capsys.readouterr().err
    assert "Dask is not installed; pip install 'dpmf[dask]'" in printed
    assert printed.count("\n") == 1


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert status("backtest", str(tmp_path / "no.csv"), "--out", str(tmp_path / "out")) == 2
    assert "no.csv: cannot be read" in capsys.readouterr().err


def test_nothing_stays_nothing():
    assert choices.seasons(None) is None and choices.kernel(None) is None


def test_notices_are_one_line_and_quiet_is_quiet(games, tmp_path, capsys):
    frame = pd.read_csv(games).assign(referee="R")
    frame.to_csv(games, index=False)
    words = ["backtest", str(games), "--out", str(tmp_path / "out"), *SMALL_BACKTEST]
    assert status(*words, "--draws", "5") == 0
    assert capsys.readouterr().err == f"dpmf: {games}: columns that are not used: referee.\n"
    assert status(*words, "--draws", "5", "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""
