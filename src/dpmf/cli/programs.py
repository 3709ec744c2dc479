"""Compiled programs, kept from one command to the next.

A first fit spends most of its time before the first step on compiling. jax can keep what it
compiled; a library should leave that to its user, a command need not ask.
"""

import contextlib
import os
from pathlib import Path

KEPT = 2**30  # bytes of programs; the oldest go first
WORTH = "0.3"  # seconds of compilation from which on a program is kept


def keep_programs() -> None:
    """Let jax keep compiled programs in the user's cache folder, unless told otherwise.

    It reads these settings when it is imported, which no command does before its work begins.
    Where the folder cannot be written, jax goes on without it.
    """
    folder = cache_folder()
    if folder is None or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", WORTH)
    with contextlib.suppress(OSError):  # another command may be at it
        _remove_oldest(folder)


def cache_folder() -> Path | None:
    """Where programs are kept; None where there is no home."""
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(given or Path.home() / ".cache") / "dpmf" / "programs"
    except RuntimeError:
        return None


def _remove_oldest(folder: Path) -> None:
    if not folder.is_dir():
        return
    found = [(one.stat(), one) for one in folder.iterdir() if one.is_file()]
    left = sum(about.st_size for about, _ in found)
    for about, one in sorted(found, key=lambda pair: pair[0].st_mtime):
        if left <= KEPT:
            return
        one.unlink()
        left -= about.st_size
