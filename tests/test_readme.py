"""The README's examples run as they stand there, only shorter."""

import numpy as np
import pandas as pd

from few_games import CUTOFF, TINY, few_games
from pages import ROOT, SHORT, run, shorter, steps

README = ROOT / "README.md"


def test_the_examples_run(tmp_path, monkeypatch):
    blocks = [step for step in steps(README) if step.kind == "python"]
    assert len(blocks) == 3
    assert "\n".join(shorter(block.text) for block in blocks).count(SHORT) == 3
    monkeypatch.chdir(tmp_path)
    names = run(blocks, {})
    assert np.isfinite(names["forecast"].mean).all()
    assert len(names["forecast"]) == 63
    assert len(names["data"]) == len(names["played"])
    assert set(names["result"].summary["forecaster"]) == {"PMF", "home"}
    assert (tmp_path / "fit.nc").is_file()


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    """As they stand there, with fewer games and draws."""
    every = [step for step in steps(README) if step.kind == "dpmf"]
    shown = [step for step in every if not step.text.startswith("backtest")]
    assert [step.text.split()[0] for step in shown] == [
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
    run(shown, {"fit": TINY})
    assert "BUF at NE" in capsys.readouterr().out
    assert len(pd.read_csv("forecasts.csv")) == 11
    assert (tmp_path / "page.html").is_file()


def test_the_two_commands_stand_at_the_top():
    top = README.read_text()[:800]
    assert "make demo" in top
    assert "make test" in top
