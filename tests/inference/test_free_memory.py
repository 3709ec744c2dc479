"""What a compiler has freed goes back to the system."""

import ctypes
import os
import sys
from pathlib import Path

import pytest

from dpmf.inference import chains, free_memory
from inference.fitted import CASES, SIZES

BLOCKS, SIZE = 200_000, 1000  # too small for pages of their own


def held_mib() -> float:
    return (
        int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    )


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="the C library is not glibc",
)
def test_free_pages_are_given_back():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    *blocks, last = [libc.malloc(SIZE) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, SIZE)
        libc.free(block)  # but not the last, which keeps the heap from shrinking by itself
    before = held_mib()
    free_memory.give_back()
    assert held_mib() < before - 0.5 * BLOCKS * SIZE / 2**20
    libc.free(last)


def test_once_in_a_run_after_what_it_compiles(monkeypatch):
    events: list[str] = []
    monkeypatch.setattr(chains, "give_back", lambda: events.append("given back"))
    case = CASES["values slice"]
    sizes = SIZES | {"progress": lambda stage, *_: events.append(stage)}
    case.model.fit(case.data, engine="slice", warmup=30, **sizes)
    assert events.count("given back") == 1 and events[0] == "given back"
    assert events[1:3] == ["warm-up", "warm-up"]
