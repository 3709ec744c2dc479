"""`dpmf report`: a fit or a folder in, a page out."""

import json

import pytest

from command import SMALL_BACKTEST, status
from dpmf import datasets
from league import league


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A backtest, which writes its page by itself."""
    place = tmp_path_factory.mktemp("backtest")
    league().to_csv(place / "games.csv", index=False)
    words = ["backtest", str(place / "games.csv"), "--out", str(place / "out"), "--quiet"]
    assert status(*words, *SMALL_BACKTEST) == 0
    return place / "out"


def test_a_fit_with_everything(made, folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    words = ["--upcoming", str(made.later), "--backtest", str(folder), "--draws", "10"]
    assert status("report", str(made.fit), "--out", str(out), *words, "--title", "A & B") == 0
    assert f"Written: {out}" in capsys.readouterr().out
    page = out.read_text(encoding="utf-8")
    for section in ("matchup", "upcoming", "ratings", "curves", "learned", "backtest"):
        assert f'<section id="{section}"' in page
    assert "<title>A &amp; B</title>" in page
    assert '<strong id="draws">10</strong>' in page
    assert "Form fades" in page and "R-hat" in page


def test_a_folder_alone_speaks_json(folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert status("report", str(folder), "--out", str(out), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"page": str(out), "bytes": out.stat().st_size}
    assert "betting line" in out.read_text(encoding="utf-8")


def test_a_backtest_writes_its_page(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "How good were the forecasts? 2003" in page and "PMF, rank 1" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["{fit}", "--out", "page.pdf"],
            "--out page.pdf: expected a name that ends with .html",
        ),
        (
            ["{folder}", "--out", "{out}", "--upcoming", "x.csv"],
            "found a folder and --upcoming",
        ),
        (["{fit}", "--out", "{out}", "--backtest", "nowhere"], "nowhere/scores.csv: cannot be"),
        (["{fit}", "--out", "{out}", "--upcoming", "no.csv"], "no.csv: cannot be read"),
        (["nothing.nc", "--out", "{out}"], "nothing.nc: "),
    ],
)
def test_bad_input_is_one_line(made, folder, tmp_path, capsys, words, message):
    out = tmp_path / "page.html"
    given = [word.format(fit=made.fit, folder=folder, out=out) for word in words]
    assert status("report", *given) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
    assert not out.exists()


def test_games_before_the_first_are_refused(made, tmp_path, capsys):
    path = tmp_path / "early.csv"
    frame = datasets.nfl().head(1)[["date", "home", "away"]]
    frame.to_csv(path, index=False)
    out = tmp_path / "page.html"
    assert status("report", str(made.fit), "--out", str(out), "--upcoming", str(path)) == 2
    assert "early.csv: line 2, column 'date'" in capsys.readouterr().err
