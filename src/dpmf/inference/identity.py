"""What the numbers of a run depend on, as plain values that can be compared."""

import hashlib
import json
import os
import threading
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from dpmf.data import Dyads

POOL = ("PJRT_NPROC", "NPROC")  # jax reads the first of these that is set, when it starts
_asked: list[int] = []  # threads that this process was first asked to start jax with
_lock = threading.Lock()


def made_by() -> dict[str, Any]:
    """Versions and device; on a CPU also how many threads share a sum."""
    device = jax.devices()[0]
    found = {"dpmf": version("dpmf"), "jax": jax.__version__, "device": device.device_kind}
    return found | ({"threads": threads()} if device.platform == "cpu" else {})


def threads() -> int:
    """Threads of jax's own pool: how sums are split among them is seen in their last digits."""
    for name in POOL:
        if os.environ.get(name, "").isdigit():
            return max(1, int(os.environ[name]))
    return cores()


def ask_for_threads(count: int) -> int:
    """Have jax start with a pool of so many threads.

    Once it has started that says nothing, so that whoever asks first decides.

    Returns:
        What was asked for first.
    """
    with _lock:
        if not _asked:
            _asked.append(count)
            for name in POOL:
                os.environ[name] = str(count)
        return _asked[0]


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def digest(tree: Any) -> str:
    """A checksum of all arrays of a tree, their places and shapes."""
    known = hashlib.sha256()
    for place, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        array = np.asarray(leaf)
        known.update(f"{jax.tree_util.keystr(place)} {array.dtype.str} {array.shape}".encode())
        known.update(array.tobytes())
    return known.hexdigest()


def data_digest(data: Dyads) -> str:
    """A checksum of events, and of the names in them."""
    names = json.dumps(data.codebook.to_dict(), sort_keys=True)
    arrays = {name: getattr(data, name) for name in ("rows", "cols", "inputs", "values")}
    return hashlib.sha256(f"{names} {digest(arrays)}".encode()).hexdigest()
