"""`dpmf demo` on fewer games and draws: it prints, it writes, it says where."""

import importlib
import json

import pandas as pd
import pytest

from dpmf.errors import FileError


@pytest.fixture
def short(monkeypatch):
    demo = importlib.import_module("dpmf.cli.demo")
    monkeypatch.setattr(demo, "SEASONS", 1)
    monkeypatch.setattr(demo, "SIZES", {"chains": 2, "warmup": 10, "draws": 10})
    coarse = {"window": 2, "block": "12w", "chains": 2, "warmup": 4, "draws": 6}
    monkeypatch.setattr(demo, "MEASURED", coarse)
    return demo


def test_demo_shows_forecasts_beside_results(short, tmp_path, capsys):
    short.run(tmp_path / "out", quiet=False, json=False)
    printed = capsys.readouterr().out
    assert "Converged" in printed or "NOT converged" in printed
    assert "forecast" in printed
    assert "256 games of 2018" in printed and "Winner" in printed and "RMSE" in printed
    for name in ("DPMF(t,h), rank 1", "PMF, rank 1", "Elo", "home advantage alone"):
        assert f"│ {name} " in printed
    assert str(tmp_path / "out" / "report.html") in printed
    written = pd.read_csv(tmp_path / "out" / "forecast.csv")
    assert len(written) == 48
    assert (tmp_path / "out" / "fit.nc").is_file()
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for section in ("matchup", "upcoming", "ratings", "backtest", "calibration"):
        assert f'<section id="{section}"' in page
    assert "<title>NFL 2018, after week 14</title>" in page
    assert printed.rstrip().endswith("report.html")


def test_demo_speaks_json_alone(short, tmp_path, capsys):
    short.run(tmp_path, quiet=False, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["games"] == 48
    assert {"converged", "backtest_max_rhat", "report"} <= set(told)
    names = [row["forecaster"] for row in told["backtest"]]
    assert names == ["DPMF(t,h)", "PMF", "elo", "home"]
    assert {row["games"] for row in told["backtest"]} == {256}


def test_a_folder_that_cannot_be_written_is_one_clear_error(short, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(FileError, match="file: cannot be written"):
        short.run(blocked, quiet=True, json=False)
    assert blocked.read_text() == "in the way"
