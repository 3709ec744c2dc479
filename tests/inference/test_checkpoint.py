"""A run that was stopped goes on to the same bits; another one leaves its checkpoint alone."""

import dataclasses
import functools
import json
import re
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import dpmf
from dpmf import DPMF, ConfigError, FileError
from dpmf.errors import Interrupted
from dpmf.inference import chains, checkpoint, engines, identity
from dpmf.inference.checkpoint import Place
from dpmf.inference.start import starts
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian
from dpmf.posterior import Fit
from inference.fitted import problem_of, rating_dyads, ratings, same
from planted import planted

MODEL = DPMF(1, Matern12("week"), Gaussian())
DATA = rating_dyads(ratings(Gaussian()))
SIZES = {"chains": 2, "warmup": 60, "draws": 60, "thin": 2}
CHUNKS = 6 + 3  # of warm-up, and of 25 draws, the last of 10


@pytest.fixture(autouse=True)
def every_chunk(monkeypatch):
    """Save at the end of every chunk, of which there are some."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(chains, "CHUNK", engines.WARM_CHUNK)


def silent(stage: str, done: int, total: int) -> None:
    pass


@functools.cache
def begun():
    """A problem, and where its chains begin."""
    with jax.enable_x64(True):
        problem = problem_of(MODEL, DATA)
        return problem, starts(problem, jnp.asarray(3.0), jr.split(jr.key(1), 2))


def run(engine: str, folder: Path | None = None, report=silent, **task):
    """The chains of a fit, without what a fit does with them."""
    with jax.enable_x64(True):
        place = folder and Place(folder, task)
        sizes = chains.Sizes(*(SIZES[name] for name in ("warmup", "draws", "thin")))
        return chains.run(engine, *begun(), sizes, jr.key(0), report, place)


def fit(folder=None, progress=False, model=MODEL, data=DATA, **options):
    options = {"engine": "slice", "progress": progress, **SIZES, **options}
    return model.fit(data, checkpoint=folder, **options)


@functools.cache
def whole(engine: str):
    """What was never stopped."""
    return run(engine)


class Stop:
    """Ctrl-C at the end of a chunk."""

    def __init__(self, chunk: int) -> None:
        self.left = chunk

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def stopped(engine: str, folder: Path, chunk: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(engine, folder, Stop(chunk))


def assert_resumes(engine: str, folder: Path) -> None:
    """Stopped after any chunk, or after every one of them, it ends with the same bits."""
    for chunk in range(1, CHUNKS + 1):
        place = folder / f"{chunk}"
        stopped(engine, place, chunk)
        assert same(run(engine, place), whole(engine)), chunk
    for _ in range(CHUNKS - 1):
        stopped(engine, folder / "often", 2)  # the first report says where it goes on
    assert same(run(engine, folder / "often"), whole(engine))


@pytest.mark.parametrize("engine", ["hmc", "slice"])
def test_a_stopped_run_ends_with_the_same_bits(tmp_path, engine):
    assert_resumes(engine, tmp_path)


def test_a_checkpoint_changes_no_draws(tmp_path):
    assert same(fit().draws, fit(tmp_path).draws)


def test_progress_goes_on_from_where_it_was(tmp_path):
    stopped("hmc", tmp_path, 3)
    told: list[tuple] = []
    run("hmc", tmp_path, lambda *how: told.append(how))
    assert told[0] == ("warm-up", 21, 60) and told[-1] == ("sampling", 60, 60)
    run("hmc", tmp_path, lambda *how: told.append(how))
    assert told[-1] == ("sampling", 60, 60) and len(told) == 1 + 6 + 1


def bug(monkeypatch, target: str, old: str, new: str) -> None:
    """Let a class or function be what a mistaken author would have written."""
    module, name = target.split(".")
    user = {"engines": engines, "room": checkpoint, "chains": chains}[module]
    wrong = planted(getattr(user, name), old, new)
    monkeypatch.setattr(user, name, wrong)
    if name.lower() in engines.ENGINES:
        monkeypatch.setitem(engines.ENGINES, name.lower(), wrong)


@pytest.mark.parametrize(
    ("engine", "target", "old", "new"),
    [
        (  # what warm-up learns is forgotten
            "hmc",
            "engines.Hmc",
            "self.states, self.adaptation, self.tuned, moves = state",
            "self.states, _, self.tuned, moves = state",
        ),
        (
            "hmc",
            "engines.Hmc",
            "self.states, self.adaptation, self.tuned, moves = state",
            "self.states, self.adaptation, _, moves = state",
        ),
        ("hmc", "engines.Hmc", "self.moves = int(moves)", "self.moves = 0"),
        ("slice", "engines.Slice", "self.states, self.tuned = state", "self.states, _ = state"),
        (  # keys are off by one
            "hmc",
            "chains._gone_on",
            "return (None, found.done) if sampling",
            "return (None, found.done - 1) if sampling",
        ),
        ("slice", "engines._calls", "if done >= after:", "if done > after:"),
        (  # a window is closed only after its end was saved
            "hmc",
            "engines.Hmc",
            "            if last and number == 0",
            '            report("warm-up", first + count, warmup)\n'
            "            if last and number == 0",
        ),
        ("hmc", "room.DrawsFile", "* draws + first", "* draws"),  # chunks on top of each other
    ],
)
def test_a_planted_bug_is_found(tmp_path, monkeypatch, engine, target, old, new):
    whole(engine)
    bug(monkeypatch, target, old, new)
    with pytest.raises((AssertionError, FileError)):
        assert_resumes(engine, tmp_path)


def test_draws_are_on_disk_and_can_be_used_as_others(tmp_path):
    found, own = fit(tmp_path / "run"), fit()
    assert not found.draws.states.white.rows.flags.owndata
    assert found.diagnostics.names == own.diagnostics.names
    np.testing.assert_array_equal(found.diagnostics.rhat, own.diagnostics.rhat)
    found.save(tmp_path / "fit.nc")
    checkpoint.remove(tmp_path / "run")
    assert [one.name for one in tmp_path.iterdir()] == ["fit.nc"]
    assert same(found.draws, own.draws)  # mapped pages outlive their names
    assert same(dpmf.load(tmp_path / "fit.nc").draws, own.draws)


class Finished(NamedTuple):
    folder: Path
    fit: Fit


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    with mock.patch.object(chains, "CHUNK", engines.WARM_CHUNK):
        return Finished(folder, fit(folder, model=SCALED))


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def other_data():
    values = DATA.values.copy()
    values[0, 0] += 1e-9
    return dataclasses.replace(DATA, values=values)


def other_names():
    book = DATA.codebook
    book = dataclasses.replace(book, col_names=("Alien 3", *book.col_names[1:]))
    return dataclasses.replace(DATA, codebook=book)


SCALED = dataclasses.replace(MODEL, scale=3.0, spread=2.0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda own: {"seed": 1}, r"seed \(0, expected 1\)"),
        (lambda own: {"draws": 61}, r"draws \(60, expected 61\)"),
        (lambda own: {"chains": 3}, r"chains \(2, expected 3\)"),
        (lambda own: {"engine": "hmc"}, r"engine \(slice, expected hmc\)"),
        (lambda own: {"data": other_data()}, "data"),
        (lambda own: {"data": other_names()}, "data"),
        (lambda own: {"model": dataclasses.replace(SCALED, scale=2.0)}, "spec"),
        (lambda own: {"start": own}, "start"),
        (lambda own: {"hyperparameters": own.hyperparameters("last")}, "hyperparameters"),
    ],
)
def test_another_fit_is_refused_and_nothing_is_touched(tmp_path, finished, other, message):
    before = contents(finished.folder)
    changed = {"model": SCALED, **other(finished.fit)}
    with pytest.raises(ConfigError, match=f"holds a run with another {message}; .*delete"):
        fit(finished.folder, **changed)
    assert contents(finished.folder) == before


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"dpmf": "9.0"}, r"another dpmf \(.*, expected 9.0\)"),
        ({"jax": "9.0"}, r"another jax \(.*, expected 9.0\)"),
        ({"device": "abacus"}, r"another device \(.*, expected abacus\)"),
        ({"threads": 77}, r"another threads \(.*, expected 77\)"),
    ],
)
def test_another_version_or_device_is_refused(tmp_path, monkeypatch, made, message):
    stopped("slice", tmp_path, 7)
    before = contents(tmp_path)
    now = identity.made_by() | made
    monkeypatch.setattr(checkpoint, "made_by", lambda: now)
    with pytest.raises(FileError, match=f"was made with {message}"):
        run("slice", tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("apart", "age"), [(1, "a newer"), (-1, "an older")])
def test_another_format_is_refused(tmp_path, monkeypatch, apart, age):
    with monkeypatch.context() as other:
        other.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + apart)
        stopped("slice", tmp_path, 7)
    with pytest.raises(FileError, match=rf"written by dpmf .* in {age} format. Take that"):
        run("slice", tmp_path)


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 1e9)
    said = re.escape(f"stopped; {tmp_path} keeps what was done. Run the same again to go on.")
    with pytest.raises(Interrupted, match=said):
        run("slice", tmp_path, Stop(8))
    told: list[tuple] = []
    run("slice", tmp_path, lambda *how: told.append(how))
    assert told[0] == ("sampling", 50, 60)


def test_a_run_that_failed_before_its_first_chunk_leaves_nothing(tmp_path, monkeypatch):
    def refuse(densities):
        raise dpmf.SamplingError("no")

    monkeypatch.setattr(chains, "require_finite", refuse)
    with pytest.raises(dpmf.SamplingError):
        run("slice", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_saves_are_seconds_apart(tmp_path, monkeypatch):
    """A fit of seconds pays for one, at its end."""
    saves = []
    real = checkpoint.write_whole
    monkeypatch.setattr(
        checkpoint, "write_whole", lambda path, write: (saves.append(path), real(path, write))
    )
    run("slice", tmp_path / "often")
    assert len(saves) == CHUNKS
    monkeypatch.setattr(checkpoint, "EVERY", 60.0)
    run("slice", tmp_path / "once")
    assert len(saves) == CHUNKS + 1


def test_whatever_else_is_in_the_folder_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".state.dpmf.a1b2").write_text("a piece of a state, when the run was killed")
    run("slice", tmp_path)
    assert not (tmp_path / ".state.dpmf.a1b2").exists()
    checkpoint.remove(tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_a_checkpoint_runs_nothing(tmp_path):
    """It holds numbers and plain text."""
    stopped("slice", tmp_path, 7)
    packed = (tmp_path / "state.dpmf").read_bytes()
    with np.load(tmp_path / "state.dpmf", allow_pickle=False) as file:
        plain = json.loads(str(file["plain"]))
        assert {file[name].dtype.kind for name in file.files} <= set("fiubU")
    assert plain["stage"] == "sampling" and plain["done"] == 25 and len(packed) > 1000
    assert jax.tree.leaves(plain["task"])
