"""The README's examples run as they stand there, only shorter."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from command import status
from few_games import CUTOFF, TINY, few_games

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_run(tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    shorter = re.sub(r"warmup=\d+,\s+draws=\d+", "warmup=20, draws=10", "\n".join(blocks))
    assert len(blocks) == 3
    assert shorter.count("warmup=20, draws=10") == 3
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(shorter, names)
    assert np.isfinite(names["forecast"].mean).all()
    assert len(names["forecast"]) == 63
    assert len(names["data"]) == len(names["played"])
    assert set(names["result"].summary["forecaster"]) == {"PMF", "home"}
    assert (tmp_path / "fit.nc").is_file()


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    """As they stand there, with fewer games and draws."""
    shown = re.findall(
        r"^    dpmf ((?:fit|info|predict|report) .*)$", README.read_text(), re.MULTILINE
    )
    assert [words.split()[0] for words in shown] == [
        "fit",
        "info",
        "predict",
        "predict",
        "report",
    ]
    monkeypatch.chdir(tmp_path)
    games = few_games()
    games[games["date"] < CUTOFF].to_csv("games.csv", index=False)
    games[games["date"] >= CUTOFF].to_csv("upcoming.csv", index=False)
    for words in shown:
        extra = TINY if words.startswith("fit") else []
        assert status(*words.split(), *extra) == 0
    assert "BUF at NE" in capsys.readouterr().out
    assert len(pd.read_csv("forecasts.csv")) == 11
    assert (tmp_path / "page.html").is_file()


def test_the_two_commands_stand_at_the_top():
    top = README.read_text()[:800]
    assert "make demo" in top
    assert "make test" in top
