"""Fits that are really killed, at moments that nobody chose, end with the same bits."""

from pathlib import Path

import pytest

import dpmf
from dpmf.inference.checkpoint import remove
from inference.fitted import same
from inference.test_checkpoint import DATA, MODEL
from killed import killed

SIZES = {"chains": 2, "warmup": 100, "draws": 1000, "thin": 10}
CODE = """
from inference.test_checkpoint import DATA, MODEL
fit = MODEL.fit(DATA, engine={engine!r}, checkpoint={folder!r}, progress=told, **{sizes})
fit.save({out!r})
"""
REPORTS = [1, 3, 5, 2, 3]  # of 6 of warm-up and 20 of sampling; the first: where it goes on


@pytest.mark.parametrize("engine", ["slice", pytest.param("hmc", marks=pytest.mark.long)])
def test_a_killed_fit_ends_with_the_same_bits(tmp_path, engine):
    folder, out = str(tmp_path / "run"), str(tmp_path / "fit.nc")
    code = CODE.format(engine=engine, folder=folder, sizes=SIZES, out=out)
    runs = killed(code, tmp_path / "cache", REPORTS, longest=0.1)
    whole = MODEL.fit(DATA, engine=engine, progress=False, **SIZES)
    firsts = [run[0] for run in runs]
    assert len(set(firsts)) > 3, firsts  # it did go on
    assert same(dpmf.load(out).draws, whole.draws)
    remove(Path(folder))
    assert not Path(folder).exists()  # nothing half-written is left
