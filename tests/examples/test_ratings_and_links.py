"""The examples of ratings and links run at a small size, say more than nothing, and draw."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def ran(name, sizes, tmp_path, capsys, monkeypatch):
    """What an example printed; its picture is there."""
    picture = tmp_path / "picture.html"
    monkeypatch.setattr("sys.argv", [name, str(picture), *sizes])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert "plotly" in picture.read_text().lower()
    return capsys.readouterr().out


def test_ratings(tmp_path, capsys, monkeypatch):
    printed = ran("ratings.py", ["8", "100"], tmp_path, capsys, monkeypatch)
    ours, often = map(float, re.search(r"probability: (.+), .*: (.+)\.", printed).groups())
    assert ours > often + 0.05


def test_links(tmp_path, capsys, monkeypatch):
    printed = ran("links.py", ["60", "40", "100"], tmp_path, capsys, monkeypatch)
    found = {
        name: (float(auc), float(loss))
        for name, auc, loss in re.findall(r"(\w+): AUC (.+), log loss (.+)", printed)
    }
    assert found["DPMF"][0] > 0.6
    assert found["DPMF"][1] < 0.69 < 0.6932  # better than a coin


@pytest.mark.parametrize("name", ["ratings.py", "links.py"])
def test_they_are_short_and_importing_them_does_nothing(name, capsys):
    assert len((EXAMPLES / name).read_text().splitlines()) < 60
    runpy.run_path(str(EXAMPLES / name))
    assert capsys.readouterr().out == ""
