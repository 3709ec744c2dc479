"""`dpmf fit`: games in, a fit that can be predicted from out."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import dpmf
from command import status
from dpmf import ConfigError, Games
from dpmf.kernels import Matern12, SquaredExponential
from dpmf.posterior import files
from dpmf.sports.calendar import Calendar
from dpmf.sports.notes import games_notes
from few_games import TINY


@pytest.fixture
def stopped(monkeypatch):
    """What the model was asked to do, in place of an hour's work."""
    calls = []

    def fit(self, games, **options):
        calls.append((self, games, options))
        raise ConfigError("far enough")

    monkeypatch.setattr(dpmf.sports.ScoreModel, "fit", fit)
    return calls


def test_the_fit_is_the_one_that_python_makes(made, tmp_path, capsys):
    words = ["fit", str(made.games), "--out", str(tmp_path / "fit.nc"), "--rank", "2"]
    assert status(*words, *TINY, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    model = dpmf.sports.score_model(2)
    games = dpmf.read_games(made.games)
    ours = model.fit(
        games, engine="slice", chains=2, warmup=5, draws=12, seed=0, progress=False
    )
    loaded = dpmf.load(tmp_path / "fit.nc")
    np.testing.assert_array_equal(loaded.draws.states.white.rows, ours.draws.states.white.rows)
    assert loaded.notes == ours.notes
    assert told["model"]["name"] == "DPMF(t,h)" and told["data"]["games"] == len(games)
    assert told["seconds"] > 0
    known = games_notes(loaded)
    assert known.calendar.seasons == games.calendar.seasons and not known.playoffs
    assert known.calendar == Calendar.from_dict(games.calendar.to_dict())


def test_options_reach_the_model(made, tmp_path, stopped):
    words = ["fit", str(made.games), "--out", str(tmp_path / "fit.nc")]
    assert status(*words) == 2
    assert status(*words, "--side", "time", "--kernel", "se", "--mean", "constant") == 2
    assert status(*words, "--window", "1", "--engine", "slice", "--seed", "7") == 2
    assert (
        status(*words, "--draws", "20") == status(*words, "--draws", "20", "--thin", "2") == 2
    )
    (first, games, sizes), (second, *_), (_, recent, others), (*_, few), (*_, apart) = stopped
    assert (sizes["draws"], sizes["thin"]) == (1000, 3)
    assert (few["draws"], few["thin"]) == (20, 1)
    assert (apart["draws"], apart["thin"]) == (20, 2)
    assert (first.name, first.rank, first.pooled) == ("DPMF(t,h)", 1, True)
    assert first.time_kernel is Matern12 and games.seasons == [2017, 2018]
    assert (sizes["engine"], sizes["chains"], sizes["seed"]) == ("hmc", 4, 0)
    assert second.name == "DPMF(t)" and second.time_kernel is SquaredExponential
    assert not second.pooled
    assert recent.seasons == [2018] and recent.frame["week"].iloc[0] == 0.0
    assert (others["engine"], others["seed"]) == ("slice", 7)


def test_names_are_guessed_said_or_asked_for(made, tmp_path, stopped, capsys):
    renamed = {"home": "HomeTeam", "away": "visitor", "home_score": "FTHG", "date": "Datum"}
    frame = pd.read_csv(made.games).rename(columns=renamed)
    frame["Datum"] = pd.to_datetime(frame["Datum"]).dt.strftime("%d/%m/%Y")
    path = tmp_path / "games.csv"
    frame.to_csv(path, index=False)
    words = ["fit", str(path), "--out", str(tmp_path / "fit.nc")]
    assert status(*words) == 2
    error = capsys.readouterr().err
    assert "games.csv: there is no column 'date'" in error and "--columns date=NAME" in error
    assert status(*words, "--columns", "date=Datum") == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"dpmf: {path}: took 'HomeTeam' as home, 'visitor' as away, 'FTHG' as home_score; "
        "--columns or columns= says otherwise.",
        "dpmf: far enough",
    ]
    (_, games, _) = stopped[-1]
    pd.testing.assert_frame_equal(games.frame, Games(pd.read_csv(made.games)).frame)
    assert status(*words, "--columns", "date=Datum", "--month-first") == 2
    assert "expected the month first, as said; there is no month" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--side", "moon"], "--side: found 'moon', expected one of none, time, home"),
        (["--kernel", "cubic"], "--kernel: found 'cubic', expected one of se"),
        (["--mean", "none"], "--mean: found 'none', expected constant or pooled"),
        (["--rank", "0"], "--rank=0, expected a whole number of at least 1"),
        (["--window", "0"], "--window=0, expected a whole number of at least 1"),
        (["--engine", "magic"], "engine='magic', expected 'hmc' or 'slice'"),
        (["--draws", "0"], "draws=0, expected a whole number of at least 1"),
        (["--resolution", "1y"], "resolution='1y', expected a number of days or weeks"),
        (["--columns", "home"], "--columns: found 'home', expected such as home=HomeTeam"),
        (["--columns", "home=a,home=b"], "--columns: home is given twice"),
        (["--columns", "hom=home"], "there is no 'hom' in a games table"),
    ],
)
def test_refusals_are_one_line(made, tmp_path, capsys, words, message):
    out = tmp_path / "fit.nc"
    assert status("fit", str(made.games), "--out", str(out), *words) == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.err.count("\n") == 1
    assert "Traceback" not in printed.err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "games.csv: this is no CSV table"),
        (b"\x00\x01\x02\xff\xfe", "games.csv: "),
        (b"date,home,away,home_score,away_score\n", "there are no events"),
        (b"date,home,away,home_score,away_score\nsoon,A,B,1,2\n", "line 2, column 'date'"),
        (
            b"date,home,away,home_score,away_score\n2001-09-09,A,B,x,2\n",
            "line 2, column 'home_score'",
        ),
        (b"date,home,away,home_score,away_score\n03/04/2001,A,B,1,2\n", "--day-first"),
    ],
)
def test_bad_files_are_one_line_and_status_2(tmp_path, capsys, content, message):
    path = tmp_path / "games.csv"
    path.write_bytes(content)
    assert status("fit", str(path), "--out", str(tmp_path / "fit.nc")) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1


def test_a_file_that_is_not_there_is_bad_input(tmp_path, capsys):
    assert status("fit", str(tmp_path / "no.csv"), "--out", str(tmp_path / "fit.nc")) == 2
    assert "no.csv: cannot be read (No such file or directory)." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "code", "message"),
    [
        ("nowhere/fit.nc", 1, "fit.nc: cannot be written"),
        ("folder.nc", 1, "folder.nc: cannot be written (it is a folder"),
        ("fit.csv", 2, "fit.csv: expected a name that ends with .nc"),
    ],
)
def test_a_place_that_cannot_be_written_is_known_before_the_work(
    made, tmp_path, capsys, stopped, out, code, message
):
    (tmp_path / "folder.nc").mkdir()
    assert status("fit", str(made.games), "--out", str(tmp_path / out)) == code
    assert message in capsys.readouterr().err and stopped == []


def test_a_failing_write_keeps_the_earlier_fit(made, tmp_path, capsys, monkeypatch):
    target = tmp_path / "fit.nc"
    target.write_bytes(made.fit.read_bytes())
    ready = dpmf.load(made.fit)
    monkeypatch.setattr(dpmf.sports.ScoreModel, "fit", lambda *a, **o: ready)

    def full(path, contents):
        raise OSError("No space left on device")

    monkeypatch.setattr(files, "write_sealed", full)
    assert status("fit", str(made.games), "--out", str(target)) == 1
    error = capsys.readouterr().err
    assert "cannot be written (No space left on device)" in error
    assert target.read_bytes() == made.fit.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == ["fit.nc"]


def test_quiet_is_quiet_and_words_are_readable(made, tmp_path, capsys, monkeypatch):
    ready = dpmf.load(made.fit)
    monkeypatch.setattr(dpmf.sports.ScoreModel, "fit", lambda *a, **o: ready)
    words = ["fit", str(made.games), "--out", str(tmp_path / "fit.nc")]
    assert status(*words, "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""
    assert status(*words) == 0
    printed = capsys.readouterr().out
    assert "games of 6 teams, seasons 2017 to 2018" in printed
    assert "onverged: " in printed and "Form fades" in printed and "Written: " in printed
    steps = [line.split("dpmf ")[1] for line in printed.splitlines() if "  dpmf " in line]
    assert [step.split()[0] for step in steps] == ["predict", "report"]
    assert status(*shlex.split(steps[0])) == 0  # what is proposed works


def test_progress_is_asked_for_unless_quiet_or_json(made, tmp_path, stopped):
    words = ["fit", str(made.games), "--out", str(tmp_path / "fit.nc")]
    for extra in ([], ["--quiet"], ["--json"]):
        assert status(*words, *extra) == 2
    assert [options["progress"] for *_, options in stopped] == [True, False, False]
