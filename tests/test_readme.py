"""The README's examples run as they stand there, only shorter."""

import re

import numpy as np
import pandas as pd

from few_games import CUTOFF, TINY, few_games
from pages import ROOT, SHORT, run, shorter, steps

README = ROOT / "README.md"


def test_the_example_runs(tmp_path, monkeypatch):
    blocks = [step for step in steps(README) if step.kind == "python"]
    assert len(blocks) == 1 and blocks[0].text.count("\n") <= 20
    assert SHORT in shorter(blocks[0].text)
    monkeypatch.chdir(tmp_path)
    names = run(blocks, {})
    assert np.isfinite(names["forecast"].mean).all()
    assert len(names["forecast"]) == 63
    assert (tmp_path / "fit.nc").is_file()


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    """As they stand there, with fewer games and draws."""
    shown = [step for step in steps(README) if step.kind == "dpmf"]
    assert [step.text.split()[0] for step in shown] == ["fit", "predict", "predict", "report"]
    monkeypatch.chdir(tmp_path)
    games = few_games()
    games[games["date"] < CUTOFF].to_csv("games.csv", index=False)
    games[games["date"] >= CUTOFF].to_csv("upcoming.csv", index=False)
    run(shown, {"fit": TINY})
    assert "BUF at NE" in capsys.readouterr().out
    assert len(pd.read_csv("forecasts.csv")) == 11
    assert (tmp_path / "page.html").is_file()


def test_a_newcomer_sees_first_things_first():
    """What it is, a picture, two commands, Python, how good it is, and where to go."""
    text = README.read_text()
    first = ["![", "make demo", "make test", "dpmf fit", "```python", "**paper**", "make docs"]
    places = [text.index(word) for word in first]
    assert places == sorted(places) and places[2] < 1000


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)", README.read_text())
    assert len(links) > 20
    assert [one for one in links if not (ROOT / one).exists()] == []
