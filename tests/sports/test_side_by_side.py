"""Pieces of work in threads."""

import threading

import jax.numpy as jnp
import pytest

from dpmf.sports.side_by_side import side_by_side


def silent(stage, done, total):
    pass


def test_results_keep_their_order():
    found = side_by_side(lambda piece, report: piece**2, [3, 1, 2], 2, silent)
    assert found == [9, 1, 4]


def test_every_thread_computes_in_double_precision():
    found = side_by_side(lambda piece, report: jnp.ones(2).dtype, [0, 1], 2, silent)
    assert set(found) == {jnp.dtype("float64")}


def test_progress_is_that_of_all_pieces():
    told = []

    def work(piece, report):
        report("warm-up", 5, 10)
        report("warm-up", 10, 10)
        report("sampling", 4, 4)

    side_by_side(work, [0, 1], 1, lambda stage, done, total: told.append((done, total)))
    assert told == [(25, 200), (50, 200), (100, 200), (125, 200), (150, 200), (200, 200)]


def test_a_failure_stops_the_others_at_their_next_report():
    failed, steps = threading.Event(), []

    def work(piece, report):
        if piece == 1:
            failed.set()
            raise ValueError("no")
        failed.wait(10)
        for step in range(1000):
            threading.Event().wait(0.01)
            steps.append(step)
            report("sampling", step, 1000)

    with pytest.raises(ValueError, match="no"):
        side_by_side(work, [0, 1, 2], 2, silent)
    assert len(steps) < 900
