"""Python's collector of cycles rests while programs are made, and never longer."""

import gc

import pytest

import dpmf
from dpmf.collection import no_collection


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


def test_a_fit_collects_from_its_first_report_on():
    """A long run would keep every cycle that its reports and checkpoints leave."""
    collecting = []

    def told(stage: str, done: int, total: int) -> None:
        collecting.append(gc.isenabled())

    games = dpmf.Games(dpmf.datasets.nfl()).between(2018, 2018)
    few = {"chains": 2, "warmup": 5, "draws": 5, "seed": 0}
    dpmf.sports.score_model(1).fit(games, engine="slice", progress=told, **few)
    assert collecting and all(collecting)
    assert gc.isenabled()
