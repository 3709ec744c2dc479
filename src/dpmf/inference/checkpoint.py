"""A run on disk: where its chains are, what they have learned, and the draws kept so far.

A checkpoint is a folder with two files. Draws are written to `draws.dpmf` at the end of every
chunk; `state.dpmf` says how many of them count, and is replaced as a whole, at most every
`EVERY` seconds. Whenever the run is killed, the two agree.
"""

import io
import json
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpmf.errors import ConfigError, FileError, Interrupted
from dpmf.inference.identity import made_by
from dpmf.inference.room import DrawsFile, Memory, Room
from dpmf.seal import LENGTH, sealed, write_sealed
from dpmf.whole import make_folder, write_whole

FORMAT = 2  # of the files; any other is refused
EVERY = 10.0  # seconds between two saves: a fit of seconds pays for one, at its end
STATE, DRAWS = "state.dpmf", "draws.dpmf"
SHOWN = 30  # characters of a setting that a message shows; checksums are longer


class Place(NamedTuple):
    """Where a run is to be kept, and what tells it apart besides what the chains see."""

    folder: Path
    task: dict[str, Any]


class Reached(NamedTuple):
    """How far a run has come, at the end of a chunk."""

    stage: str
    done: int  # steps of warm-up, or kept draws
    state: Any  # of the chains, with all they have learned
    digest: str  # of the draws


class Unkept:
    """A run that stays in memory."""

    found = None

    def __init__(self, shapes: Any) -> None:
        self.room: Room = Memory(shapes)

    def __enter__(self) -> "Unkept":
        return self

    def __exit__(self, *stopped: object) -> None:
        pass

    def reached(self, stage: str, done: int, state: Any) -> None:
        """Nothing is kept."""


class Checkpoint:
    """A run that is kept in a folder; as a context it saves the run however that ends.

    Attributes:
        room: Where its draws are.
        found: How far it had come when it was stopped; None if it had not begun.
    """

    def __init__(self, folder: Path, task: dict[str, Any], shapes: Any, size: int) -> None:
        """Args:
        folder: Made if it is not there.
        task: All that decides the draws, as plain values.
        shapes: Of all draws.
        size: Draws in a chunk.

        Raises:
            ConfigError: The folder holds another run.
            FileError: It cannot be read or written, or was made by another version.
        """
        make_folder(folder)
        self.folder, self.task = folder, json.loads(json.dumps(task))
        self.file = DrawsFile(folder / DRAWS, shapes)
        self.room: Room = self.file
        self.found = self._read(size)
        self.file.make()
        _remove_pieces(folder)
        self.latest: Reached | None = None
        self.saved = time.monotonic()

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        stopped: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if not isinstance(stopped, FileError):
            self.save()
        if stopped and not (self.folder / STATE).exists():
            remove(self.folder)
        elif isinstance(stopped, KeyboardInterrupt):
            raise Interrupted(
                f"stopped; {self.folder} keeps what was done. Run the same again to go on."
            ) from stopped

    def reached(self, stage: str, done: int, state: Any) -> None:
        """Note the end of a chunk, and save it if the last time is long ago."""
        self.latest = Reached(stage, done, state, self.file.known.hexdigest())
        if time.monotonic() - self.saved >= EVERY:
            self.save()

    def save(self) -> None:
        """Save the end of the latest chunk, unless that is done."""
        if self.latest is None:
            return
        stage, done, state, digest = self.latest
        plain = {
            "format": FORMAT,
            "made by": made_by(),
            "task": self.task,
            "stage": stage,
            "done": done,
            "draws": digest,
        }
        arrays = {f"{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(state))}
        contents = io.BytesIO()
        np.savez(contents, allow_pickle=False, plain=np.asarray(json.dumps(plain)), **arrays)
        self.file.flush()  # before anything says that the draws are there
        write_whole(self.folder / STATE, lambda place: write_sealed(place, contents.getvalue()))
        self.latest, self.saved = None, time.monotonic()

    def _read(self, size: int) -> Reached | None:
        path = self.folder / STATE
        if not path.exists():
            return None
        plain, leaves = _contents(path)
        _require_same(self.folder, plain, self.task)
        done = plain["done"] if plain["stage"] == "sampling" else 0
        if not self.file.holds(done, size, plain["draws"]):
            raise _damaged(self.file.path, "its draws are not those that were kept")
        return Reached(plain["stage"], plain["done"], leaves, plain["draws"])


def restored(like: Any, found: Reached) -> Any:
    """The state of chains that were stopped, as a tree such as `like`."""
    structure = jax.tree.structure(like)
    return jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in found.state])


def remove(folder: Path) -> None:
    """Remove a checkpoint; whatever else is in its folder stays."""
    for name in (STATE, DRAWS):  # in this order: draws alone are no checkpoint
        (folder / name).unlink(missing_ok=True)
    _remove_pieces(folder)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _remove_pieces(folder: Path) -> None:
    """Remove what a run that was killed while it wrote its state has left of that."""
    for piece in folder.glob(f".{STATE}.*"):
        piece.unlink(missing_ok=True)


def _contents(path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    try:
        if sealed(path) is not True:
            raise ValueError("its checksum is not that of what is in it")
        with np.load(io.BytesIO(path.read_bytes()[:-LENGTH]), allow_pickle=False) as file:
            plain = json.loads(str(file["plain"]))
            return plain, [file[f"{i}"] for i in range(len(file.files) - 1)]
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, reason: str) -> FileError:
    return FileError(
        f"{path}: the checkpoint is damaged ({reason}); delete {path.parent} to begin anew."
    )


def _require_same(folder: Path, plain: dict[str, Any], task: dict[str, Any]) -> None:
    if plain["format"] != FORMAT:
        age = "a newer" if plain["format"] > FORMAT else "an older"
        raise FileError(
            f"{folder}: written by dpmf {plain['made by']['dpmf']} in {age} format. Take that "
            "version to go on, or delete the folder to begin anew."
        )
    other = _others(plain["made by"], made_by())
    if other:
        raise FileError(
            f"{folder}: the checkpoint was made with another {other}, and would not end with "
            "the same numbers. Go on where it was made, or delete the folder to begin anew."
        )
    other = _others(plain["task"], task)
    if other:
        raise ConfigError(
            f"{folder}: holds a run with another {other}; expected the same run, or no such "
            "folder. Choose another place, or delete the folder to begin anew."
        )


def _others(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs, in words."""
    told = []
    for name in sorted(found.keys() | expected.keys()):
        own, wanted = found.get(name), expected.get(name)
        if own != wanted:
            short = max(len(str(own)), len(str(wanted))) <= SHOWN
            told.append(f"{name} ({own}, expected {wanted})" if short else name)
    return ", ".join(told)
