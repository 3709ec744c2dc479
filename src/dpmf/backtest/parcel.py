"""Games that are sent to the processes of an executor, each of which keeps them."""

import hashlib
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pandas as pd

MOST = 2  # tables that a process keeps
_kept: dict[str, pd.DataFrame] = {}  # of this process, by checksum


class Parcel(NamedTuple):
    """Where a table can be had, for a process that does not have it yet."""

    digest: str
    path: Path  # on the machine that sends it

    def opened(self, contents: bytes | None = None) -> pd.DataFrame | None:
        """The table, which nobody may change; None where this machine does not see the file.

        Args:
            contents: Of the file, where they came along.
        """
        frame = _kept.get(self.digest)
        if frame is None:
            found = contents if contents is not None else self._read()
            if found is None:
                return None
            frame = pickle.loads(found)
            _keep(self.digest, frame)
        return frame

    def contents(self) -> bytes:
        """What the file holds, for workers that do not see it."""
        return self.path.read_bytes()

    def _read(self) -> bytes | None:
        try:
            found = self.path.read_bytes()
        except OSError:
            return None
        # Another machine may have another file of that name.
        return found if hashlib.sha256(found).hexdigest() == self.digest else None


@contextmanager
def packed(frame: pd.DataFrame) -> Iterator[Parcel]:
    """A parcel with a table, as long as the work lasts."""
    contents = pickle.dumps(frame)
    digest = hashlib.sha256(contents).hexdigest()
    with tempfile.TemporaryDirectory(prefix="dpmf-") as folder:  # nobody else's
        path = Path(folder) / "games.pickle"
        path.write_bytes(contents)
        _keep(digest, frame)  # threads of this process need no copy
        try:
            yield Parcel(digest, path)
        finally:
            _kept.pop(digest, None)


def _keep(digest: str, frame: pd.DataFrame) -> None:
    _kept[digest] = frame
    for old in list(_kept)[:-MOST]:
        _kept.pop(old, None)  # another thread may have done it
