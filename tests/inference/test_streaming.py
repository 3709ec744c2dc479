"""What is kept on disk is not kept in memory: more draws or cutoffs take no more of it."""

import dataclasses
import tracemalloc

import jax
import jax.random as jr
import numpy as np
import pytest

from dpmf import Games
from dpmf.backtest.cutoffs import cutoffs
from dpmf.backtest.forecaster import plan_of
from dpmf.inference import chains, diagnostics
from dpmf.inference.checkpoint import Place
from dpmf.sports import score_model
from inference.test_checkpoint import begun, silent
from league import league

MIB = 2**20


def most(work) -> int:
    """Bytes of arrays on the host that some work holds at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kept", [True, False])
def test_draws_stream_to_disk(tmp_path, kept):
    """Many as few; in memory they do grow."""

    def run(draws: int):
        with jax.enable_x64(True):
            place = Place(tmp_path / f"{draws}", {}) if kept else None
            sizes = chains.Sizes(10, draws, 1)
            return chains.run("slice", *begun(), sizes, jr.key(0), silent, place)

    run(50)  # compiled
    short, long = (most(lambda d=draws: run(d)) for draws in (500, 3000))
    size = 5 * sum(x.nbytes for x in jax.tree.leaves(run(500)[:2]))  # of 2,500 draws
    assert size > MIB
    assert long - short < 0.1 * size if kept else long - short > 0.9 * size


@pytest.mark.parametrize("kept", [True, False])
def test_cutoffs_stream_to_disk(tmp_path, kept):
    """Their draws, also while they are scored; in memory they do grow."""
    frame = Games(league()).frame
    every = cutoffs(frame, [2002, 2003], "1w")
    days = [day for day in every if day.upcoming(frame).sum() == 3]  # the last week has more
    plan = plan_of([2003], 2, {"engine": "slice", "chains": 2, "warmup": 5, "draws": 2000})

    def run(count: int) -> None:
        place = tmp_path / f"{count}" if kept else None
        own = dataclasses.replace(plan, unfinished=place)
        made = score_model(1, ()).forecasts(frame, days[:count], own)
        assert [one.mean.shape for one in made.predictions] == [(4000, 3, 2)] * count

    run(2)  # compiled
    short, long = (most(lambda c=count: run(c)) for count in (3, 11))
    size = 8 * 2 * 2000 * 6 * 8  # bytes of y of eight cutoffs
    assert long - short < 0.3 * size if kept else long - short > 0.9 * size


def test_all_draws_are_looked_at_some_at_a_time(monkeypatch):
    """Pieces of any size give the same; the last one need not be full."""
    states = {"a": np.arange(2 * 50 * 3.0).reshape(2, 50, 3)}

    def each(state):
        return {"twice": 2 * state["a"], "sum": state["a"].sum()}

    whole = diagnostics.over_draws(each, states)
    monkeypatch.setattr(diagnostics, "PIECE", 16 * 3 * 8)
    pieces = diagnostics.over_draws(each, states)
    jax.tree.map(np.testing.assert_array_equal, whole, pieces)
    np.testing.assert_array_equal(pieces["twice"], 2 * states["a"])
