"""Memory that was freed but is still held, given back to the system."""

import ctypes
import sys


def give_back() -> None:
    """Return free pages, of which a compiler leaves hundreds of MiB; glibc alone can."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
