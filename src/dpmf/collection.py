"""Python's search for cycles of dead objects, which looks at all that lives again and again."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0  # how many ask for it now
_before = True  # whether it was on when the first of them came


@contextmanager
def no_collection() -> Iterator[None]:
    """No such search while programs are traced, or modules imported on first use.

    Both make hundreds of thousands of small objects, few of which die before it ends: the
    search would take a quarter of the time until a first draw, and find a few MiB. Of several
    threads the last one to leave lets it go on.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = gc.isenabled()
        _inside += 1
    try:
        gc.disable()
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before:
                gc.enable()
