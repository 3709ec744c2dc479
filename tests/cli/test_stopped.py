"""Ctrl-C on a real command: it saves, says how to go on, exits with 130; and goes on."""

import os
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

import dpmf
from command import SMALL_BACKTEST
from few_games import TINY, few_games
from inference.fitted import same
from killed import begun
from league import league

LONG = ["--side", "none", "--draws", "2000"]  # so that there is time to stop it


def command(*words: str) -> str:
    return f"from dpmf.cli import main\nmain({list(words)!r})"


def states(folder: Path) -> dict[Path, int]:
    """When each state below a folder was saved."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("state.dpmf")}


def stopped(code: str, folder: Path, how: signal.Signals) -> str:
    """What is printed by a command that is stopped once it has saved something."""
    before, process = states(folder), begun(code, folder / "cache")
    while process.poll() is None and states(folder) == before:
        time.sleep(0.01)
    process.send_signal(how)
    _, errors = process.communicate()
    assert process.returncode == (130 if how == signal.SIGINT else -how), errors
    return errors


def finished(code: str, folder: Path) -> None:
    process = begun(code, folder / "cache")
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def test_a_stopped_fit(tmp_path):
    games, way = tmp_path / "games.csv", tmp_path / "fit.nc.checkpoint"
    few_games().to_csv(games, index=False)

    def fit(name):
        return command("fit", str(games), "--out", str(tmp_path / name), *TINY, *LONG)

    said = stopped(fit("fit.nc"), tmp_path, signal.SIGINT)
    line = f"dpmf: stopped; {way} keeps what was done. Run the same again to go on.\n"
    assert said.endswith(line) and "Traceback" not in said
    assert way.exists() and not (tmp_path / "fit.nc").exists()
    finished(fit("fit.nc"), tmp_path)
    assert not way.exists()
    finished(fit("whole.nc"), tmp_path)
    found, whole = (dpmf.load(tmp_path / name) for name in ("fit.nc", "whole.nc"))
    assert same(found.draws, whole.draws)


@pytest.mark.long
def test_a_stopped_backtest_of_dask(tmp_path):
    """Ctrl-C reaches all processes of a terminal, workers too."""
    pytest.importorskip("distributed")
    games, out = tmp_path / "games.csv", tmp_path / "out"
    league().to_csv(games, index=False)

    def backtest(name):
        own = ["--engine", "slice", *SMALL_BACKTEST, *LONG, "--block", "1w"]
        words = ["backtest", str(games), "--out", str(tmp_path / name), "--executor", "dask"]
        return command(*words, *own)

    process = begun(backtest("out"), tmp_path / "cache", start_new_session=True)
    while process.poll() is None and not list(out.rglob("*.part-*.scores.csv")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    line = f"dpmf: stopped; {out} keeps what was done. Run the same backtest again to go on.\n"
    assert process.returncode == 130 and line in said and "Traceback" not in said, said
    finished(backtest("out"), tmp_path)
    finished(backtest("whole"), tmp_path)
    for name in ("scores.csv", "summary.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_stopped_backtest(tmp_path):
    games, out = tmp_path / "games.csv", tmp_path / "out"
    league().to_csv(games, index=False)

    def backtest(name):
        own = ["--engine", "slice", *SMALL_BACKTEST, *LONG]
        return command("backtest", str(games), "--out", str(tmp_path / name), *own)

    said = stopped(backtest("out"), tmp_path, signal.SIGINT)
    line = f"dpmf: stopped; {out} keeps what was done. Run the same backtest again to go on.\n"
    assert said.endswith(line) and "Traceback" not in said
    stopped(backtest("out"), tmp_path, signal.SIGKILL)
    finished(backtest("out"), tmp_path)
    assert states(tmp_path) == {}
    finished(backtest("whole"), tmp_path)
    for name in ("scores.csv", "summary.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    tables = [pd.read_csv(tmp_path / one / "fits.csv") for one in ("out", "whole")]
    found, whole = (table.drop(columns="seconds") for table in tables)
    pd.testing.assert_frame_equal(found, whole, check_exact=True)
