"""A word of the command line in; an executor out, open as long as the work lasts."""

import logging
import signal
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import Any

from dpmf.errors import ConfigError
from dpmf.inference.identity import cores


@contextmanager
def executor(workers: str | None) -> Iterator[Executor | None]:
    """The executor of a Dask cluster.

    Args:
        workers: Address of its scheduler; "" starts one on this machine with a process for
            each core. None is no Dask, and no executor.

    Raises:
        ConfigError: Dask is not installed, or there is no scheduler at the address.
    """
    if workers is None:
        yield None
        return
    distributed = _distributed()
    with ExitStack() as open_:
        place: Any = workers
        if not workers:
            place = open_.enter_context(_local_cluster(distributed))
        try:
            client = open_.enter_context(distributed.Client(place, set_as_default=False))
        except (OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise ConfigError(
                f"--scheduler {workers}: no scheduler of Dask answers ({reason})."
            ) from error
        yield client.get_executor()


def _local_cluster(distributed: Any) -> Any:
    """A worker for each core of this machine, that leaves Ctrl-C to this process."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which processes inherit
    try:
        return distributed.LocalCluster(
            n_workers=cores(),
            threads_per_worker=1,
            memory_limit=0,  # Dask would judge workers by memory that is jax's
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    finally:
        signal.signal(signal.SIGINT, heard)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ConfigError(
            "--executor dask: Dask is not installed; pip install 'dpmf[dask]'."
        ) from error
    return distributed
