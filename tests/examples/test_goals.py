"""The example of goals runs, finds the truth, and ends in a picture."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "goals.py"


def test_the_example_of_goals(tmp_path, capsys, monkeypatch):
    picture = tmp_path / "goals.html"
    monkeypatch.setattr("sys.argv", ["goals.py", str(picture)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    shared, spread = map(float, re.search(r"Shared goals: (.+) ± (.+),", printed).groups())
    assert abs(shared - 0.4) < 4 * spread
    assert float(re.search(r"with the truth: (.+)\.", printed)[1]) > 0.9
    assert "plotly" in picture.read_text().lower()


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) < 60


@pytest.mark.parametrize("name", ["goals.py"])
def test_nothing_is_done_by_importing_it(name, capsys):
    runpy.run_path(str(EXAMPLE.with_name(name)))
    assert capsys.readouterr().out == ""
