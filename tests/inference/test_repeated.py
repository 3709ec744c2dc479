"""Fits again and again in one process: nothing grows without bound."""

import gc
import threading
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

from inference.test_checkpoint import DATA, MODEL

FITS, FIRST = 50, 10  # the first may leave something behind, such as what they compiled
ALLOWED = 32 * 2**20  # bytes that the system may be slow to give back


class Held(NamedTuple):
    arrays: int
    threads: int  # of Python
    every_thread: int  # those of jax too
    programs: int


def held() -> Held:
    gc.collect()
    programs = jax.devices()[0].client.live_executables()
    return Held(
        len(jax.live_arrays()), threading.active_count(), told("Threads"), len(programs)
    )


def told(what: str) -> int:
    """A number that the system knows of this process."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("this system does not say what a process holds")
    lines = status.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))


def resident() -> int:
    return 1024 * told("VmRSS")


@pytest.mark.long
@pytest.mark.parametrize("engine", ["slice", "hmc"])
def test_fifty_fits_leave_nothing_behind(tmp_path, engine):
    for number in range(FITS):
        place = tmp_path / f"{number}" if number % 2 else None
        options = {"engine": engine, "seed": number, "checkpoint": place, "progress": False}
        MODEL.fit(DATA, chains=2, warmup=5, draws=10, **options)
        if number == FIRST - 1:
            before, memory = held(), resident()
    after = held()
    assert all(now <= then for now, then in zip(after, before, strict=True)), (before, after)
    assert resident() - memory < ALLOWED
