"""Work in, in any number of threads at a time; the warnings that were given meanwhile out."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from dpmf.errors import DpmfWarning

_lock, _open = threading.Lock(), ExitStack()
_listeners: list[list[warnings.WarningMessage]] = []  # one list, for each of them


@contextmanager
def hearing() -> Iterator[Callable[[], tuple[str, ...]]]:
    """A function that gives our own warnings so far.

    Python records warnings for a whole process: threads that would each begin and end a
    record of their own would lose some. Here the first to listen begins one and the last ends
    it, so that each hears what the others are told meanwhile.
    """
    with _lock:
        if _listeners:
            heard = _listeners[0]
        else:
            heard = _open.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always", DpmfWarning)
        first = len(heard)
        _listeners.append(heard)
    try:
        yield lambda: tuple(
            str(one.message) for one in heard[first:] if issubclass(one.category, DpmfWarning)
        )
    finally:
        with _lock:
            _listeners.pop()
            if not _listeners:
                _open.close()
