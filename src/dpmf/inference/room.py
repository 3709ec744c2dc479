"""Room for the kept draws of a run: in memory, or in a file that they stream to.

Draws come in chunks with axes (problems, draws, chains, ...), and are kept with axes
(problems, chains, draws, ...).
"""

import hashlib
import math
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from dpmf.whole import writing


class Memory:
    """Room in memory.

    Attributes:
        tree: All arrays.
    """

    def __init__(self, shapes: Any) -> None:
        self.tree = jax.tree.map(lambda x: np.empty(x.shape, np.float64), shapes)

    def put(self, chunk: Any, first: int, count: int) -> None:
        """Keep some draws.

        Args:
            chunk: Arrays of at least `count` draws.
            first: Number of the first.
            count: How many of them.
        """
        for all_, x in zip(*map(jax.tree.leaves, (self.tree, chunk)), strict=True):
            all_[:, :, first : first + count] = _ordered(x, count)


class DrawsFile:
    """Room in one file: doubles, array after array.

    What is there is read through a memory map, whose pages the system can drop at any time.
    """

    def __init__(self, path: Path, shapes: Any) -> None:
        self.path = path
        leaves, self.structure = jax.tree.flatten(shapes)
        self.shapes = [tuple(x.shape) for x in leaves]
        sizes = [math.prod(shape) for shape in self.shapes]
        self.starts = np.cumsum([0, *sizes]).tolist()  # of each array, in numbers
        self.known = hashlib.sha256()  # of the draws so far

    @property
    def tree(self) -> Any:
        """All arrays, as they are in the file."""
        return jax.tree.unflatten(self.structure, self._arrays())

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return 8 * self.starts[-1]

    def make(self) -> None:
        """Make the file, or make it writable again, before any work is done for it."""
        with writing(self.path), self.path.open("ab") as file:
            file.truncate(self.bytes)

    def put(self, chunk: Any, first: int, count: int) -> None:
        """Keep some draws, as `Memory` does."""
        pieces = [_ordered(x, count) for x in jax.tree.leaves(chunk)]
        with writing(self.path), self.path.open("r+b") as file:
            for start, shape, piece in zip(self.starts, self.shapes, pieces, strict=False):
                problems, chains, draws, *rest = shape
                for problem in range(problems):
                    for chain in range(chains):
                        row = (problem * chains + chain) * draws + first
                        file.seek(8 * (start + row * math.prod(rest)))
                        file.write(piece[problem, chain].tobytes())
                self.known.update(piece.tobytes())

    def flush(self) -> None:
        """Have the system put everything on the disk."""
        with writing(self.path), self.path.open("r+b") as file:
            os.fsync(file.fileno())

    def holds(self, done: int, size: int, digest: str) -> bool:
        """Whether the first draws are those that were put there, in chunks of some size."""
        if not self.path.is_file() or self.path.stat().st_size != self.bytes:
            return False
        self.known, arrays = hashlib.sha256(), self._arrays()
        for first in range(0, done, size):
            for all_ in arrays:
                self.known.update(all_[:, :, first : min(first + size, done)].tobytes())
        return self.known.hexdigest() == digest

    def _arrays(self) -> list[np.ndarray]:
        flat = np.memmap(self.path, np.float64, "r")
        ends = zip(self.starts, self.starts[1:], self.shapes, strict=False)
        return [np.asarray(flat[start:end]).reshape(shape) for start, end, shape in ends]


Room = Memory | DrawsFile


def _ordered(chunk: Any, count: int) -> np.ndarray:
    return np.moveaxis(np.asarray(chunk[:, :count], np.float64), 1, 2)
