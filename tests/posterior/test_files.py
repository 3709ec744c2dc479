"""A fit written to a file and read again is the same fit."""

import dataclasses
import functools
import json

import jax
import numpy as np
import pytest
import xarray as xr

import dpmf
from dpmf import FileError
from dpmf.posterior import files
from inference.fitted import CASES, fitted, held, same

FITS = {name: lambda name=name: fitted(name) for name in CASES if name != "values hmc"}
FITS |= {"held": held}


def require_same(a, b):
    """Same to the last bit; where not, which number differs."""
    jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    fitted("stars hmc").save(path)
    return path


@pytest.mark.parametrize("name", FITS)
def test_a_round_trip_keeps_everything(tmp_path, name):
    fit = FITS[name]()
    fit.save(tmp_path / "fit.nc")
    loaded = dpmf.load(tmp_path / "fit.nc")
    assert repr(loaded) == repr(fit)
    assert loaded.model == fit.model
    assert loaded.spec == fit.spec
    assert loaded.data.codebook == fit.data.codebook
    assert (loaded.engine, loaded.sizes, loaded.seed) == (fit.engine, fit.sizes, fit.seed)
    points = [[g and g.plain() for g in one.grids] for one in (loaded, fit)]
    require_same(*points)
    for part in ("fixed", "draws"):
        require_same(getattr(loaded, part), getattr(fit, part))
    # Computed again, by a program whose last bit is not promised.
    close = functools.partial(np.testing.assert_allclose, rtol=1e-12)
    jax.tree.map(close, loaded.parameters, fit.parameters)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


@pytest.mark.parametrize("name", ["games hmc", "held"])
def test_predictions_are_identical(tmp_path, name):
    fit = FITS[name]()
    frame = CASES["stars slice" if name == "held" else name].frame
    frame.loc[0, "week"] = 11.0  # an input never seen
    fit.save(str(tmp_path / "fit.nc"))
    a, b = fit.predict(frame), dpmf.load(str(tmp_path / "fit.nc")).predict(frame)
    np.testing.assert_allclose(a.y, b.y, rtol=1e-10)
    np.testing.assert_allclose(a.log_prob(frame), b.log_prob(frame), rtol=1e-10)
    np.testing.assert_allclose(a.sample(5), b.sample(5), rtol=1e-10)


def test_notes_are_kept_and_an_older_file_has_none(tmp_path, saved):
    noted = dataclasses.replace(fitted("stars hmc"), notes={"games": {"seasons": [1, "a"]}})
    noted.save(tmp_path / "fit.nc")
    assert dpmf.load(tmp_path / "fit.nc").notes == noted.notes
    with xr.open_dataset(saved, engine="h5netcdf") as dataset:
        dataset = dataset.load()
    plain = json.loads(dataset.attrs["dpmf"])
    del plain["notes"]
    plain["format"] = 1  # and no checksum
    dataset.attrs["dpmf"] = json.dumps(plain)
    dataset.to_netcdf(tmp_path / "older.nc", engine="h5netcdf")
    assert dpmf.load(tmp_path / "older.nc").notes == {}


def test_a_missing_file(tmp_path):
    with pytest.raises(FileError, match=r"none\.nc: there is no such file"):
        dpmf.load(tmp_path / "none.nc")


def test_a_netcdf_file_of_others(tmp_path):
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(FileError, match=r"a\.nc: this is no file that dpmf saved"):
        dpmf.load(tmp_path / "a.nc")


def rewritten(saved, target, change, drop=()):
    with xr.open_dataset(saved, engine="h5netcdf") as dataset:
        dataset = dataset.load().drop_vars(list(drop))
    unsealed = {"format": 1}
    plain = json.loads(dataset.attrs["dpmf"]) | unsealed | change
    dataset.attrs["dpmf"] = json.dumps(plain)
    dataset.to_netcdf(target, engine="h5netcdf")


def test_a_newer_format(tmp_path, saved):
    change = {"format": files.FORMAT + 1, "version": "9.9"}
    rewritten(saved, tmp_path / "fit.nc", change)
    with pytest.raises(
        FileError, match=r"written by dpmf 9\.9 in a newer format. Upgrade dpmf"
    ):
        dpmf.load(tmp_path / "fit.nc")


def test_a_part_that_is_missing(tmp_path, saved):
    rewritten(saved, tmp_path / "fit.nc", {}, drop=["rhat"])
    with pytest.raises(FileError, match=r"the saved fit is damaged .*rhat"):
        dpmf.load(tmp_path / "fit.nc")


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileError, match=r"fit\.nc: cannot be written"):
        fitted("stars hmc").save(tmp_path / "nowhere" / "fit.nc")
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_survives_a_failure(tmp_path, saved, monkeypatch):
    target = tmp_path / "fit.nc"
    target.write_bytes(saved.read_bytes())

    def full(path, contents):
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(files, "write_sealed", full)
    with pytest.raises(FileError, match=r"cannot be written \(No space left on device\)"):
        fitted("stars hmc").save(target)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]
    assert target.read_bytes() == saved.read_bytes()
    assert same(dpmf.load(target).draws, fitted("stars hmc").draws)


def test_divergent_steps_are_remembered(tmp_path):
    fit = fitted("stars hmc")
    stats = fit.draws.stats | {"diverging": np.ones_like(fit.draws.stats["diverging"])}
    told = fit.diagnostics._replace(divergent=1.0)
    draws = fit.draws._replace(stats=stats)
    dataclasses.replace(fit, draws=draws, diagnostics=told).save(tmp_path / "fit.nc")
    loaded = dpmf.load(tmp_path / "fit.nc")
    assert loaded.diagnostics.divergent == 1.0
    assert loaded.diagnostics.line() == told.line()
