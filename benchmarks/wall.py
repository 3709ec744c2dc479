"""Wall time of work that is done in several calls, each counted up to where it was stopped."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jax

from dpmf.whole import make_folder, write_whole

EVERY = 5.0  # seconds between two notes


@contextmanager
def counted(folder: Path, **about: Any) -> Iterator[list[str]]:
    """Keep a note of this call in a folder of results, even if it is killed.

    Args:
        folder: Where the work is kept.
        **about: Whatever else is to be known of the call.

    Yields:
        A list to which finished parts of the work are added.
    """
    make_folder(folder)
    path = folder / f"call-{datetime.now(UTC):%Y%m%dT%H%M%S}.json"
    began, over = time.monotonic(), threading.Event()
    about |= {"device": jax.devices()[0].device_kind}
    finished: list[str] = []

    def note() -> None:
        kept = {**about, "seconds": round(time.monotonic() - began, 1), "finished": finished}
        write_whole(path, lambda place: place.write_text(json.dumps(kept)))

    def notes() -> None:
        while not over.wait(EVERY):
            note()

    thread = threading.Thread(target=notes, daemon=True)
    note()
    thread.start()
    try:
        yield finished
    finally:
        over.set()
        thread.join()
        note()


def calls(folder: Path) -> list[dict[str, Any]]:
    """The notes of all calls so far, in order."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("call-*.json"))]
