"""Pieces of work to any executor, and what came of them, whatever happens to its workers."""

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from typing import Any

import pandas as pd

from dpmf.backtest.pieces import Done, Missing, Order, Piece, work
from dpmf.errors import ConfigError, WorkerError

TRIES = 3  # losses of a piece, or of a whole pool with nothing done in between, that end it


def finished(
    executor: Executor, pieces: Sequence[Piece], frame: pd.DataFrame
) -> Iterator[tuple[int, Done]]:
    """Numbers of pieces and their results, as they finish.

    A piece whose worker was lost is sent again. So is every piece of a process pool that lost
    one, to a new pool of the same kind, since Python's own then takes no more work.

    Args:
        executor: Any executor; it stays open.
        pieces: What there is to do.
        frame: The games that they are about.

    Raises:
        ConfigError: The pieces cannot be sent to these workers.
        WorkerError: Workers are lost again and again.
    """
    sending = _Sending(executor, pieces, frame)
    left = set(range(len(pieces)))
    try:
        for number in left:
            sending.send(number)
        while left:
            for number, found in sending.arrived():
                left.discard(number)
                yield number, found
    finally:
        sending.close()


class _Sending:
    """Pieces on their way, to an executor or to the pool that took its place."""

    def __init__(self, executor: Executor, pieces: Sequence[Piece], frame: pd.DataFrame):
        self.given, self.pool, self.pieces = executor, executor, pieces
        self.contents: Any = None  # that go along with every piece
        if _is_dask(executor):  # its workers hand the games to each other
            known: Any = executor  # Dask, whose types need not be installed
            self.contents = known._client.submit(_itself, frame, pure=False)
        self.on_way: dict[Future, tuple[int, Executor]] = {}
        self.losses: Counter = Counter()

    def send(self, number: int) -> None:
        """Send a piece."""
        try:
            future = self.pool.submit(work, self.pieces[number], self.contents)
        except BrokenExecutor as error:
            self._lost(number, self.pool, error)
            self.send(number)
        else:
            self.on_way[future] = number, self.pool

    def arrived(self) -> Iterator[tuple[int, Done]]:
        """Wait for at least one answer; what has to be is sent again."""
        for future in wait(self.on_way, return_when=FIRST_COMPLETED).done:
            number, pool = self.on_way.pop(future)
            try:
                found = future.result()
            except Exception as error:
                if not _is_loss(error):
                    raise
                self._lost(number, pool, error)
                self.send(number)
                continue
            if isinstance(found, Missing):
                self.contents = self.pieces[number].games.contents()
                self.send(number)
                continue
            self.losses.pop(None, None)
            yield number, found

    def _lost(self, number: int, pool: Executor, error: BaseException) -> None:
        broken = isinstance(error, BrokenExecutor)
        if broken and pool is not self.pool:
            return  # another piece has told of this loss
        who = None if broken else number
        self.losses[who] += 1
        if self.losses[who] >= TRIES:
            raise WorkerError(
                f"executor: {TRIES} times a worker was lost and nothing was done in between "
                f"({type(error).__name__}: {str(error).strip()}). It may have had too little "
                "memory: give it fewer workers."
            ) from error
        if broken:
            self._retire()
            self.pool = _like(self.given, error)

    def _retire(self) -> None:
        if self.pool is not self.given:  # which is the caller's
            self.pool.shutdown(wait=not self.on_way, cancel_futures=True)

    def close(self) -> None:
        """Whatever is still on its way is no longer wanted."""
        for future in self.on_way:
            future.cancel()
        self._retire()


def require_usable(executor: Any) -> None:
    """Refuse what is no executor, or one whose workers would hang.

    Raises:
        ConfigError: It cannot be used.
    """
    if not callable(getattr(executor, "submit", None)):
        raise ConfigError(
            f"executor={executor!r}, expected one such as those of concurrent.futures."
        )
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise ConfigError(
            "executor: its processes are forked, which hangs once jax has started. Make it "
            "with mp_context=multiprocessing.get_context('spawn')."
        )


def sealed(executor: Executor, order: Order) -> Order | bytes:
    """An order as it can be sent to the workers of an executor.

    Raises:
        ConfigError: Pickle has no name for a part of it.
    """
    if isinstance(executor, ThreadPoolExecutor):
        return order
    if _is_dask(executor):
        import cloudpickle  # comes with Dask, and knows functions that have no name

        return cloudpickle.dumps(order)
    try:
        return pickle.dumps(order)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            f"forecasters: {order.name!r} cannot be sent to another process ({error}). Define "
            "its class and its functions at the top of a module."
        ) from error


def _is_dask(executor: Executor) -> bool:
    return type(executor).__module__.startswith("distributed.")


def _is_loss(error: BaseException) -> bool:
    # Dask, which need not be installed, has its own word for a lost worker.
    return isinstance(error, BrokenExecutor | CancelledError) or (
        type(error).__name__ == "KilledWorker"
    )


def _like(given: Executor, error: BaseException) -> Executor:
    """A new pool of the same kind."""
    if not isinstance(given, ProcessPoolExecutor):
        raise WorkerError(
            f"executor: it has lost a worker and takes no more work ({error}). Call again, "
            "with a new one."
        ) from error
    known: Any = given  # these have been the names of its settings ever since it has them
    return ProcessPoolExecutor(
        known._max_workers,
        known._mp_context,
        known._initializer,
        known._initargs,
        max_tasks_per_child=known._max_tasks_per_child,
    )


def _itself(frame: pd.DataFrame) -> pd.DataFrame:
    """The games, held by a worker of Dask that others can have them from."""
    return frame
