"""The command's exit statuses, and what it prints where."""

import importlib.metadata
import io
import os
import subprocess
import sys

import pytest

import dpmf.cli.demo
from command import status
from dpmf.cli import choices, main
from dpmf.errors import (
    ConfigError,
    DataError,
    DpmfError,
    FileError,
    SamplingError,
    UnreadableFile,
)
from dpmf.sports.score_model import SIDES


def plant(monkeypatch, error: BaseException) -> None:
    """Let the demo stop with `error`."""

    def run(out, *, quiet, json):
        raise error

    monkeypatch.setattr(dpmf.cli.demo, "run", run)


def test_version(capsys):
    assert status("--version") == 0
    assert capsys.readouterr().out == f"dpmf {importlib.metadata.version('dpmf')}\n"


def test_help_lists_the_commands(capsys):
    assert status("--help") == 0
    printed = capsys.readouterr().out
    for command in ("demo", "fit", "predict", "info", "backtest", "report"):
        assert command in printed


def completed(words: str) -> list[str]:
    """What the shell offers at the end of some words, and that no work was begun for it."""
    code = (
        "import sys\nfrom dpmf.cli import app\n"
        "try:\n    app(prog_name='dpmf')\nfinally:\n    assert 'jax' not in sys.modules"
    )
    own = {
        "_DPMF_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
    assert "AssertionError" not in done.stderr
    return done.stdout.split()


def test_the_shell_completes_commands_and_values():
    assert completed("dpmf pre") == ["predict"]
    assert completed("dpmf fit --kernel mat") == ["matern12", "matern32", "matern52"]
    with_time = ["none,time+home", "none,time+home+rest", "none,time+home+rest+pace"]
    assert completed("dpmf backtest --side none,time+") == with_time


def test_completion_can_be_shown(monkeypatch, capsys):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert status("--show-completion", "bash") == 0
    assert "complete" in capsys.readouterr().out


def test_a_terminal_that_knows_few_characters(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(dpmf.cli.demo, "run", lambda out, **kwargs: print("27 ± 9"))
    assert status("demo") == 0
    sys.stdout.flush()
    assert written.getvalue() == b"27 ? 9\n"


def test_unknown_option_is_a_usage_error(capsys):
    assert status("demo", "--nosuch") == 2
    assert "--nosuch" in capsys.readouterr().err


def test_demo_is_handed_its_options(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(dpmf.cli.demo, "run", lambda out, **kwargs: calls.append((out, kwargs)))
    assert status("demo", "--out", str(tmp_path), "--quiet", "--json") == 0
    assert calls == [(tmp_path, {"quiet": True, "json": True})]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("games.csv: line 3: [home] is empty"), 2),
        (ConfigError("rank must be at least 1"), 2),
        (SamplingError("the chain cannot start"), 1),
        (FileError("fit.nc cannot be written"), 1),
        (UnreadableFile("fit.nc cannot be read"), 2),
        (DpmfError("something else"), 1),
    ],
)
def test_own_errors_are_one_line(monkeypatch, capsys, error, code):
    plant(monkeypatch, error)
    assert status("demo") == code
    printed = capsys.readouterr()
    assert printed.err == f"dpmf: {error}\n"
    assert printed.out == ""


def test_a_long_message_is_joined_into_one_line(monkeypatch, capsys):
    plant(monkeypatch, DataError("first\nsecond"))
    assert status("demo") == 2
    assert capsys.readouterr().err == "dpmf: first second\n"


def test_interruption(monkeypatch, capsys):
    plant(monkeypatch, KeyboardInterrupt())
    assert status("demo") == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_is_not_hidden(monkeypatch):
    plant(monkeypatch, ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main(["demo"])


def test_the_words_of_a_side_are_those_of_score_models():
    """They stand twice, since the command's help must not wait for the model to be imported."""
    assert choices.SIDES == SIDES
