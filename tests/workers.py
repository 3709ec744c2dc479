"""Workers in processes of their own, and forecasters that know which process they are in.

Processes that are spawned import what they are to run by name, so it is not in a test file.
"""

import dataclasses
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager

from dpmf.backtest.baselines import Home
from dpmf.backtest.forecaster import Whole

SPAWN = multiprocessing.get_context("spawn")


@contextmanager
def process_pool() -> Iterator[tuple[Executor, Callable[[], list[int]]]]:
    """A pool of two processes, and a way to know them."""
    with ProcessPoolExecutor(2, SPAWN) as pool:
        # Also those of a pool that took its place.
        yield pool, lambda: [one.pid for one in multiprocessing.active_children()]


@contextmanager
def dask_cluster(threads: int = 1) -> Iterator[tuple[Executor, Callable[[], list[int]]]]:
    """The same of Dask."""
    from distributed import Client, LocalCluster

    sizes = {"n_workers": 2, "threads_per_worker": threads, "dashboard_address": None}
    with LocalCluster(**sizes, silence_logs=50) as cluster, Client(cluster) as client:
        yield client.get_executor(), lambda: list(client.run(os.getpid).values())


def kill(process: int) -> None:
    """As the system does when memory is short."""
    os.kill(process, signal.SIGKILL)


class Pickled(Executor):
    """Does the work at once, as it is after a journey; keeps what was sent."""

    def __init__(self, most: int = 1000) -> None:
        self.most, self.sent = most, []

    def submit(self, function, /, *arguments):
        if len(self.sent) == self.most:
            raise OSError("the machine room is on fire")
        self.sent.append(pickle.dumps((function, arguments)))
        own, given = pickle.loads(self.sent[-1])
        done: Future = Future()
        done.set_result(own(*given))
        return done


@dataclasses.dataclass(frozen=True)
class Deadly(Home):
    """Kills whatever process works on it."""

    owner: int = 0

    def forecasts(self, frame, cutoffs, plan):
        if os.getpid() == self.owner:
            raise AssertionError("this was to be done by a worker")
        kill(os.getpid())

    def parts(self, frame, cutoffs, plan):
        return [Whole(self, tuple(cutoffs))]
