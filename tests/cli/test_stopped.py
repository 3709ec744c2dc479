"""Ctrl-C on a real command: it saves, says how to go on, exits with 130; and goes on."""

import signal
import time

import pandas as pd
import pytest

import dpmf
from command import SMALL_BACKTEST
from few_games import TINY
from inference.fitted import same
from killed import begun
from league import league

LONG = ["--draws", "2000"]  # so that there is time to stop it


def command(*words: str) -> str:
    return f"from dpmf.cli import main\nmain({list(words)!r})"


def stopped(code: str, cache, saved) -> str:
    """What is printed when it is interrupted once something is saved."""
    process = begun(code, cache)
    while process.poll() is None and not saved():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    return errors


def finished(code: str, cache) -> None:
    process = begun(code, cache)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def test_a_stopped_fit(made, tmp_path):
    def words(name):
        return command("fit", str(made.games), "--out", str(tmp_path / name), *TINY, *LONG)

    way = tmp_path / "fit.nc.checkpoint"
    said = stopped(words("fit.nc"), tmp_path / "cache", (way / "state.dpmf").exists)
    line = f"dpmf: stopped; {way} keeps what was done. Run the same again to go on.\n"
    assert said.endswith(line) and "Traceback" not in said
    assert not (tmp_path / "fit.nc").exists()
    finished(words("fit.nc"), tmp_path / "cache")
    assert not way.exists()
    finished(words("whole.nc"), tmp_path / "cache")
    found, whole = (dpmf.load(tmp_path / name) for name in ("fit.nc", "whole.nc"))
    assert same(found.draws, whole.draws)


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_a_stopped_backtest(tmp_path, engine):
    games = tmp_path / "games.csv"
    league().to_csv(games, index=False)

    def words(name):
        own = ["--engine", engine, *SMALL_BACKTEST, *LONG]
        return command("backtest", str(games), "--out", str(tmp_path / name), *own)

    out, cache = tmp_path / "out", tmp_path / "cache"

    def saved() -> bool:
        return any(out.glob("parts/*/state.dpmf"))

    said = stopped(words("out"), cache, saved)
    line = f"dpmf: stopped; {out} keeps what was done. Run the same backtest again to go on.\n"
    assert said.endswith(line) and "Traceback" not in said and saved()
    process = begun(words("out"), cache)  # and killed
    while process.poll() is None and len(list(out.glob("parts/*/state.dpmf"))) < 2:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    finished(words("out"), cache)
    finished(words("whole"), cache)
    assert not any(one.is_dir() for one in (out / "parts").iterdir())
    for name in ("scores.csv", "summary.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    tables = [pd.read_csv(tmp_path / one / "fits.csv") for one in ("out", "whole")]
    found, whole = (table.drop(columns="seconds") for table in tables)
    pd.testing.assert_frame_equal(found, whole, check_exact=True)
