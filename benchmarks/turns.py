"""Processes that share a device take turns."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class Turn:
    """The device, for the process that has taken it; a process that ends gives it back."""

    def __init__(self, lock: IO[str]) -> None:
        self._lock = lock
        self._since: float | None = None
        self._before = 0.0

    @property
    def held(self) -> float:
        """Seconds that this process has had the device for."""
        now = 0.0 if self._since is None else time.monotonic() - self._since
        return self._before + now

    def take(self) -> None:
        """Wait for the device; nothing where it is taken already."""
        if self._since is None:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._since = time.monotonic()

    def leave(self) -> None:
        """Let others have it; nothing where it was not taken."""
        if self._since is not None:
            self._before, self._since = self.held, None
            fcntl.flock(self._lock, fcntl.LOCK_UN)


@contextmanager
def turn(path: Path) -> Iterator[Turn]:
    """A turn at the device that a file stands for; left when this is.

    Args:
        path: The same for all processes that share the device.
    """
    with path.open("w") as lock:
        own = Turn(lock)
        try:
            yield own
        finally:
            own.leave()
