"""Python's collector of cycles rests while programs are made, and never longer."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import dpmf
from dpmf.collection import no_collection
from dpmf.inference import chains


def test_it_rests_and_goes_on():
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="mine"), no_collection():
        raise ValueError("mine")
    assert gc.isenabled()


def test_who_has_stopped_it_finds_it_stopped():
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_leave_it_as_the_first_found_it():
    """Overlapping in any order: whoever leaves last lets it go on."""
    first, second = no_collection(), no_collection()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()  # the second is still inside
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_many_threads_at_once_leave_it_on():
    def often(_: int) -> None:
        for _ in range(500):
            with no_collection():
                pass

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(often, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert gc.isenabled()


def test_a_fit_collects_from_its_first_report_on(monkeypatch):
    """And not before: a long run would keep every cycle that its reports leave."""
    collecting, tracing = [], []
    prepared = chains._prepared

    def seen(problems):
        tracing.append(gc.isenabled())
        return prepared(problems)

    monkeypatch.setattr(chains, "_prepared", seen)

    def told(stage: str, done: int, total: int) -> None:
        collecting.append(gc.isenabled())

    games = dpmf.Games(dpmf.datasets.nfl()).between(2018, 2018)
    few = {"chains": 2, "warmup": 5, "draws": 5, "seed": 0}
    dpmf.sports.score_model(1).fit(games, engine="slice", progress=told, **few)
    assert collecting and all(collecting)
    assert tracing == [False]
    assert gc.isenabled()
