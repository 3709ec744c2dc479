"""Compiled programs that a command leaves for the next one."""

import os
import subprocess
import sys

import pytest

from dpmf.cli import programs

COMPILES = """
from dpmf.cli.programs import keep_programs
keep_programs()
import jax
jax.jit(lambda x: x + 1)(1.0)
"""


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    """A cache of our own, and whatever was set before afterwards."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_jax_keeps_what_it_compiles(tmp_path):
    everything = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    subprocess.run([sys.executable, "-c", COMPILES], check=True, env=os.environ | everything)
    assert any((tmp_path / "dpmf" / "programs").iterdir())


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path):
    (tmp_path / "dpmf").write_text("a file where the folder would be")
    everything = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    subprocess.run([sys.executable, "-c", COMPILES], check=True, env=os.environ | everything)


def test_what_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "elsewhere")
    programs.keep_programs()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "elsewhere"


def test_the_oldest_programs_go_first(monkeypatch, tmp_path):
    folder = programs.cache_folder()
    folder.mkdir(parents=True)
    for age in range(4):
        (folder / f"{age}").write_bytes(b"x" * 10)
        os.utime(folder / f"{age}", (1000 - age, 1000 - age))
    monkeypatch.setattr(programs, "KEPT", 25)
    programs.keep_programs()
    assert sorted(one.name for one in folder.iterdir()) == ["0", "1"]


def test_no_home_is_no_trouble(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(programs.Path, "home", homeless)
    programs.keep_programs()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ
