"""A file or standard input in; its bytes out, unpacked where they were compressed."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from pathlib import Path
from typing import Any

from dpmf.errors import DataError, UnreadableFile
from dpmf.shown import printable

STDIN = "-"
CHUNK = 2**20  # bytes read at a time
LARGEST = 2**31  # bytes, also of what is unpacked: a small file may unpack to no end
_PACKED: dict[bytes, Any] = {  # how such files begin -> what opens them
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_ARCHIVE = b"PK\x03\x04"


def source_of(path: Any) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == STDIN else printable(path)


def file_bytes(path: Any) -> bytes:
    """All that is in a file.

    Args:
        path: A file, which may be compressed with gzip, bzip2 or xz; "-" is standard input.

    Raises:
        UnreadableFile: It cannot be read.
        DataError: It is larger than anything that dpmf reads.
    """
    source = source_of(path)
    try:
        raw = _within(_opened(path), source)
        for beginning, unpack in _PACKED.items():
            if raw.startswith(beginning):
                raw = _within(unpack(io.BytesIO(raw)), source)
                break
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or error  # that of a path would name it twice
        raise UnreadableFile(f"{source}: cannot be read ({reason}).") from error
    if raw.startswith(_ARCHIVE):
        raise DataError(
            f"{source}: this is no CSV table (but an archive or a spreadsheet); save the table "
            "as CSV."
        )
    return raw


def _opened(path: Any) -> Any:
    if str(path) != STDIN:
        return Path(path).open("rb")
    given = getattr(sys.stdin, "buffer", None)
    return given if given else io.BytesIO(sys.stdin.read().encode())


def _within(file: Any, source: str) -> bytes:
    found = bytearray()
    try:
        while chunk := file.read(CHUNK):  # asked for all at once, it would take room for all
            found += chunk
            if len(found) > LARGEST:
                raise DataError(
                    f"{source}: found more than {LARGEST // 2**20:,} MiB, expected a table of "
                    "games."
                )
    finally:
        if file is not getattr(sys.stdin, "buffer", None):
            file.close()
    return bytes(found)
