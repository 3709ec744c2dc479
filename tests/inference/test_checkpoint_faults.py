"""Checkpoints on storage that fails, with real faults: one clear line, earlier files intact."""

import shutil
import subprocess

import numpy as np
import pytest

from disks import BLOCK, mounted
from dpmf import FileError
from dpmf.errors import DataError
from dpmf.inference import chains, checkpoint, engines
from inference.fitted import same
from inference.test_checkpoint import contents, run, stopped, whole

FILES = ("state.dpmf", "draws.dpmf")


@pytest.fixture(autouse=True)
def every_chunk(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(chains, "CHUNK", engines.WARM_CHUNK)


@pytest.fixture
def kept(tmp_path):
    """A checkpoint in the midst of sampling."""
    stopped("slice", tmp_path / "kept", 8)
    return tmp_path / "kept"


def refusal(folder) -> str:
    before = contents(folder)
    with pytest.raises(FileError) as refused:
        run("slice", folder)
    assert not isinstance(refused.value, DataError)  # no mistake of the user
    message = str(refused.value)
    assert message.startswith(f"{folder}/") and "\n" not in message
    assert contents(folder) == before
    return message


@pytest.mark.parametrize("name", FILES)
def test_truncation_at_every_block(kept, name):
    content = (kept / name).read_bytes()
    for end in [*range(0, len(content), BLOCK), len(content) - 1]:
        (kept / name).write_bytes(content[:end])
        said = refusal(kept)
        assert "the checkpoint is damaged" in said and f"delete {kept} to begin anew" in said
    (kept / name).write_bytes(content)
    assert same(run("slice", kept), whole("slice"))


def test_flipped_bytes(kept):
    content = (kept / "state.dpmf").read_bytes()
    for at in range(0, len(content), 997):
        flipped = bytearray(content)
        flipped[at] ^= 1 << (at % 8)
        (kept / "state.dpmf").write_bytes(flipped)
        assert "state.dpmf: the checkpoint is damaged (its checksum" in refusal(kept)


def test_flipped_bytes_of_draws(kept):
    """Of 60 draws, 50 count; the others are drawn again, whatever is there."""
    path = kept / "draws.dpmf"
    content = np.frombuffer(path.read_bytes())
    for at in range(0, len(content), 97):
        flipped = content.copy().view(np.uint64)
        flipped[at] ^= 1
        path.write_bytes(flipped.tobytes())
        if content[at] != 0:  # a draw that counts
            assert "draws.dpmf: the checkpoint is damaged (its draws are not" in refusal(kept)


def test_missing_draws(kept):
    (kept / "draws.dpmf").unlink()
    assert "draws.dpmf: the checkpoint is damaged" in refusal(kept)


@pytest.mark.parametrize("pages", [3, 6, 9])
def test_a_full_disk(tmp_path, pages):
    """What was kept before stays, and goes on elsewhere."""
    with mounted(tmp_path / "disk", "-o", "size=64m") as disk:
        stopped("slice", disk / "run", 4)
        before = (disk / "run" / "state.dpmf").read_bytes()
        free = shutil.disk_usage(disk).free - pages * BLOCK
        (disk / "filler").write_bytes(bytes(free))
        with pytest.raises(
            FileError, match=r"dpmf: cannot be written \(No space left on device\)"
        ):
            run("slice", disk / "run")
        names = {one.name for one in (disk / "run").iterdir()}
        assert names == set(FILES)
        shutil.copytree(disk / "run", tmp_path / "copy")
        (disk / "filler").unlink()
        assert same(run("slice", disk / "run"), whole("slice"))
    assert len(before) and same(run("slice", tmp_path / "copy"), whole("slice"))


def test_a_read_only_folder(tmp_path):
    with mounted(tmp_path / "disk") as disk:
        stopped("slice", disk / "run", 4)
        before = contents(disk / "run")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(FileError, match=r"cannot be written \(Read-only file system\)"):
            run("slice", disk / "run")
        with pytest.raises(FileError, match=r"new: cannot be written \(Read-only file system"):
            run("slice", disk / "new")
        assert contents(disk / "run") == before


def test_a_place_that_is_a_file(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(FileError, match=r"run: cannot be written \(File exists\)"):
        run("slice", tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"
