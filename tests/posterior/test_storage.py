"""Storage that fails, with real faults: one clear line, and the earlier file intact."""

import json
import pickle
import re
import shutil
import subprocess

import pytest
import xarray as xr

import dpmf
from command import status
from disks import BLOCK, mounted
from dpmf import FileError
from dpmf.errors import DataError
from dpmf.posterior import files
from dpmf.seal import LENGTH, sealed
from inference.fitted import fitted, same


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    fitted("stars hmc").save(path)
    return path


def refusal(path) -> str:
    with pytest.raises(FileError) as refused:
        dpmf.load(path)
    assert not isinstance(refused.value, DataError)  # no mistake of the user
    message = str(refused.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


def test_truncation_at_every_block(tmp_path, saved):
    whole, path = saved.read_bytes(), tmp_path / "fit.nc"
    ends = [*range(0, len(whole), BLOCK), *range(len(whole) - LENGTH - 1, len(whole))]
    for end in ends:
        path.write_bytes(whole[:end])
        assert re.search(
            "cannot be read as a saved fit|the saved fit is damaged", refusal(path)
        )


def test_flipped_bytes(tmp_path, saved):
    whole, path = saved.read_bytes(), tmp_path / "fit.nc"
    for at in range(0, len(whole), 97):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << (at % 8)
        path.write_bytes(flipped)
        assert "the saved fit is damaged (its checksum is" in refusal(path)


def test_a_whole_file_is_as_it_was_written(tmp_path, saved):
    assert sealed(saved) is True
    assert sealed(shutil.copy(saved, tmp_path / "copy.nc")) is True
    with xr.open_dataset(saved, engine="h5netcdf") as dataset:  # netCDF to anyone else
        assert json.loads(dataset.attrs["dpmf"])["format"] == files.FORMAT


@pytest.mark.parametrize("content", [b"", b"home,away\n", b"\x89HDF\r\n\x1a\n" + bytes(600)])
def test_files_that_are_no_fits(tmp_path, content):
    (tmp_path / "fit.nc").write_bytes(content)
    assert "cannot be read as a saved fit" in refusal(tmp_path / "fit.nc")


def test_nothing_in_a_file_is_run(tmp_path, saved):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    place = tmp_path / "fit.nc"
    place.write_bytes(pickle.dumps(Bomb()))
    refusal(place)
    changes = [
        {"spec": {"rows": "__import__('os').system('touch ran')"}},
        {"model": {"kernel": {"type": "os.system", "fields": {"command": "touch ran"}}}},
        {"codebook": {"row_names": [{"sys": "2001-01-01"}]}},
    ]
    for change in changes:
        with xr.open_dataset(saved, engine="h5netcdf") as dataset:
            dataset = dataset.load()
        plain = json.loads(dataset.attrs["dpmf"])
        for part, fields in change.items():
            plain[part] |= fields
        plain["format"] = 1  # without a seal
        dataset.attrs["dpmf"] = json.dumps(plain)
        dataset.to_netcdf(place, engine="h5netcdf")
        refusal(place)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("pages", [1, 5, 12, 17])
def test_a_full_disk(tmp_path, pages, capfd):
    fit = fitted("stars hmc")
    with mounted(tmp_path / "disk", "-o", f"size={pages * BLOCK}") as folder:
        target = folder / "fit.nc"
        (folder / "other.nc").write_bytes(b"")
        target.write_bytes(b"earlier")
        with pytest.raises(
            FileError, match=r"fit\.nc: cannot be written \(No space left on dev"
        ):
            fit.save(target)
        assert target.read_bytes() == b"earlier"
        assert sorted(one.name for one in folder.iterdir()) == ["fit.nc", "other.nc"]
    assert capfd.readouterr().err == ""


def test_files_that_may_not_grow(tmp_path, saved):
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    fit, target = fitted("stars hmc"), tmp_path / "fit.nc"
    target.write_bytes(saved.read_bytes())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in range(0, len(saved.read_bytes()), 4 * BLOCK):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            with pytest.raises(FileError, match=r"cannot be written \(File too large\)"):
                fit.save(target)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [one.name for one in tmp_path.iterdir()] == ["fit.nc"]
    assert same(dpmf.load(target).draws, fit.draws)


def test_a_read_only_folder(tmp_path, saved):
    with mounted(tmp_path / "disk") as folder:
        shutil.copy(saved, folder / "fit.nc")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(FileError, match=r"cannot be written \(Read-only file system\)"):
            fitted("stars hmc").save(folder / "fit.nc")
        assert same(dpmf.load(folder / "fit.nc").draws, fitted("stars hmc").draws)


def test_the_command_says_so_and_exits_with_1(tmp_path, saved, capsys):
    whole, path = saved.read_bytes(), tmp_path / "fit.nc"
    middle = len(whole) // 2
    for content in (whole[:middle], whole[:middle] + b"x" + whole[middle + 1 :], b"no fit"):
        path.write_bytes(content)
        for words in (["info", str(path)], ["predict", str(path), "games.csv"]):
            assert status(*words) == 1
            printed = capsys.readouterr().err
            assert printed.startswith(f"dpmf: {path}: ") and printed.count("\n") == 1
