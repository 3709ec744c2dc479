"""Python's search for cycles of dead objects, which looks at all that lives again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """No such search while modules are imported or programs traced.

    Both make hundreds of thousands of small objects, few of which die before it ends: the
    search would take a quarter of the time until a first draw, and find a few MiB.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
