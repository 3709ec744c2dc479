"""Finished blocks of the seasons on disk: a stopped run goes on from them.

With the same versions on the same kind of device it ends with the same bits.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np

from dpmf.errors import FileError
from dpmf.inference.chains import Kept
from dpmf.whole import write_whole

NAMED = ("values", "stats", "tuning")  # arrays by name; the others are trees


def path_of(unfinished: Path, block: int) -> Path:
    """The file of a block, counted from 0."""
    return unfinished.with_suffix(f".block-{block + 1}.npz")


def keep_block(path: Path, kept: Kept) -> None:
    """Write what the chains of a block left behind."""
    parts: dict[str, Any] = {name: getattr(kept, name) for name in NAMED}
    for name in ("last", "tuned"):
        parts[name] = dict(enumerate(jax.tree.leaves(getattr(kept, name))))
    arrays = {
        f"{part} {name}": np.asarray(x)
        for part, all_ in parts.items()
        for name, x in all_.items()
    }
    arrays["made by"] = np.asarray(made_by())

    def write(place: Path) -> None:
        with place.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    write_whole(path, write)


def made_by() -> str:
    """What the bits of a block depend on, besides its task."""
    return f"dpmf {version('dpmf')}, jax {jax.__version__}, {jax.devices()[0].device_kind}"


def kept_block(path: Path, states: Any, tuned: Any) -> Kept:
    """What the chains of a finished block left behind.

    Args:
        path: The file.
        states: States of the chains, or their shapes.
        tuned: What they learn, or its shapes.

    Raises:
        FileError: It cannot be read, or was made by another version or device.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        maker = str(arrays.pop("made by"))
        if maker != made_by():
            raise ValueError(f"it was made by {maker}, expected {made_by()}")

        def tree(part: str, like: Any) -> Any:
            leaves, structure = jax.tree.flatten(like)
            found = [arrays[f"{part} {number}"] for number in range(len(leaves))]
            shapes = [x.shape for x in found], [x.shape for x in leaves]
            if shapes[0] != shapes[1]:
                raise ValueError(f"shapes of {part} are {shapes[0]}, expected {shapes[1]}")
            return jax.tree.unflatten(structure, found)

        def named(part: str) -> dict[str, np.ndarray]:
            start = f"{part} "
            own = {n.removeprefix(start): x for n, x in arrays.items() if n.startswith(start)}
            if not own:
                raise ValueError(f"there are no {part} in it")
            return own

        trees = tree("last", states), tree("tuned", tuned)
        return Kept(named("values"), named("stats"), named("tuning"), *trees)
    except Exception as error:  # zipfile, zlib and numpy each have their own
        raise FileError(f"{path}: cannot be read ({error}); remove it.") from error
