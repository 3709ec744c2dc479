"""A checksum at the end of a file: whether its bytes are those that were written.

HDF5 ignores what follows its own data, so a sealed file is a netCDF file as before; and an
altered one is known before a library for HDF5, which may not bear it, sees any of it.
"""

import hashlib
from pathlib import Path

MARK = b"\ndpmf sha256 "
LENGTH = len(MARK) + 64  # bytes of a seal
_CHUNK = 2**20


def write_sealed(path: Path, contents: bytes) -> None:
    """Write some bytes and, after them, their checksum."""
    with path.open("wb") as file:
        file.write(contents)
        file.write(MARK + hashlib.sha256(contents).hexdigest().encode())


def sealed(path: Path) -> bool | None:
    """Whether the seal of a file is unbroken; None where there is none."""
    size = path.stat().st_size - LENGTH
    if size < 0:
        return None
    with path.open("rb") as file:
        file.seek(size)
        found = file.read()
    if not found.startswith(MARK):
        return None
    return found == MARK + _digest(path, size).encode()


def _digest(path: Path, size: int) -> str:
    """Of the first bytes of a file, in pieces: a fit may be large."""
    known, left = hashlib.sha256(), size
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, _CHUNK))):
            known.update(piece)
            left -= len(piece)
    return known.hexdigest()
