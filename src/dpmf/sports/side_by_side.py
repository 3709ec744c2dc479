"""Pieces of work in threads, with one report for all of them."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

import jax

from dpmf.inference.progress import Report

Piece = TypeVar("Piece")
Found = TypeVar("Found")
HALF = 50  # percent


class _Stopped(Exception):
    """Another piece failed, or the user has had enough."""


def side_by_side(
    work: Callable[[Piece, Report], Found],
    pieces: Sequence[Piece],
    workers: int,
    report: Report,
) -> list[Found]:
    """Results of all pieces, in their order.

    jax releases the interpreter while it computes, so that threads use all cores.

    Args:
        work: Called with each piece and a function to report its progress to; that
            function raises once the work is no longer wanted.
        pieces: What there is to do.
        workers: Pieces at a time.
        report: Told of the steps of all pieces together.
    """
    lock, stop = threading.Lock(), threading.Event()
    done = [0] * len(pieces)

    def one(number: int) -> Found:
        def own(stage: str, steps: int, total: int) -> None:
            if stop.is_set():
                raise _Stopped
            with lock:
                # A piece has two stages of different lengths; each counts as a half.
                done[number] = (stage == "sampling") * HALF + HALF * steps // total
                report("fitting", sum(done), 2 * HALF * len(pieces))

        with jax.enable_x64(True):  # a setting of each thread
            return work(pieces[number], own)

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, number) for number in range(len(pieces))]
        try:
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()  # raises what the piece raised
            return [future.result() for future in futures]
        finally:
            stop.set()  # whatever still runs is no longer wanted
            pool.shutdown(cancel_futures=True)
