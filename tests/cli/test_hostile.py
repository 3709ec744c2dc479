"""Names from data steer neither the terminal nor where files are written."""

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

import dpmf
from command import status
from dpmf.backtest.records import Records
from dpmf.sports import score_model

NAMES = ["\x1b[31mred\x1b[0m", "[red]R[/red]", ":cat:", "a\nb", "\u202eevil\x07", "[/bold]\\"]


@pytest.fixture(scope="module")
def hostile(made, tmp_path_factory):
    """The tiny fit, as if its teams had such names."""
    folder = tmp_path_factory.mktemp("hostile")
    fit = dpmf.load(made.fit)
    names = tuple(NAMES)
    book = dataclasses.replace(fit.data.codebook, row_names=names, col_names=names)
    fit = dataclasses.replace(fit, data=dataclasses.replace(fit.data, codebook=book))
    fit.save(folder / "[bold]fit\x1b[2J.nc")
    pairs = list(zip(NAMES, NAMES[1:] + NAMES[:1], strict=True))
    frame = pd.DataFrame(pairs, columns=["home", "away"]).assign(date="2018-12-23")
    frame.to_csv(folder / "later.csv", index=False)
    return folder


def require_plain(printed) -> None:
    for text in (printed.out, printed.err):
        odd = {c for c in text if not c.isprintable() and c != "\n"}
        assert not odd, f"the terminal was sent {odd}"


def test_the_terminal_shows_names_and_obeys_none(hostile, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    (fit,) = hostile.glob("*.nc")
    commands = [
        ["info", str(fit)],
        ["predict", str(fit), str(hostile / "later.csv"), "--out", str(hostile / "o[i].csv")],
        *(["predict", str(fit), "--home", a, "--away", b, "--date", "2018-12-23"]
          for a, b in (NAMES[:2], NAMES[2:4], NAMES[4:])),
    ]  # fmt: skip
    shown = ""
    for words in commands:
        assert status(*words) == 0
        printed = capsys.readouterr()
        require_plain(printed)
        shown += printed.out
    for name in ("\\x1b[31mred\\x1b[0m", "[red]R[/red]", ":cat:", "a b", "\\u202eevil\\x07"):
        assert name in shown
    assert "[/bold]\\" in shown and "o[i].csv" in shown
    assert (hostile / "o[i].csv").exists()


@pytest.mark.parametrize(
    "content",
    [
        "date,home,away,home_score,away_score\n2001-09-09,\x1b[2J,\x1b[2J,1,2\n",
        "date,home,away,\x1b[31mscore,\x9bx\n2001-09-09,A,B,1,2\n",
        "date,home,away,home_score,away_score,\x1b[31mwet\n2001-09-09,A,B,\x1b[0m,2,3\n",
    ],
)
def test_refusals_and_notices_are_plain(tmp_path, capsys, content):
    path = tmp_path / "games\x1b[1m.csv"
    path.write_text(content)
    assert status("fit", str(path), "--out", str(tmp_path / "fit.nc")) == 2
    printed = capsys.readouterr()
    require_plain(printed)
    assert "x1b" in printed.err


@pytest.mark.parametrize(
    "name", ["../../up", "/etc/passwd", "..", "a/b", "\0", "CON:", "x" * 300]
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    stem = Records(tmp_path / "out").stem(name, score_model())
    assert stem.parent == tmp_path / "out" / "parts"
    stem.with_suffix(".scores.csv").write_text("x")
    written = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert [one.resolve().parent for one in written] == [(tmp_path / "out" / "parts").resolve()]
    assert Path(stem).name not in ("", ".", "..")
