"""Files are written whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpmf.errors import FileError


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    """What went wrong, in the words of the system: those of libraries run over many lines."""
    return os.strerror(error.errno) if error.errno else str(error)


_UMASK = _umask()  # once: to read it is to set it, which threads must not do at a time


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Word what goes wrong while a file is written.

    Raises:
        FileError: It cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({_reason(error)}).") from error


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then put it in the place of `path`.

    Args:
        path: The file; an earlier one is replaced only when the new one is complete.
        write: Called with the path to write to.

    Raises:
        FileError: The file cannot be written; an earlier one is untouched.
    """
    with writing(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            with open(temporary, "rb+") as written:
                os.fsync(written.fileno())
            temporary.chmod(0o666 & ~_UMASK)  # as an ordinary file would be
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def require_writable(path: Path) -> None:
    """Refuse a place that cannot be written, before an hour's work.

    Raises:
        FileError: It is a folder, or its folder is not there or may not be written.
    """
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError("it is a folder, expected a file")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        Path(name).unlink()


def make_folder(path: Path) -> None:
    """Make a folder now: nobody wants to hear of it after an hour's work.

    Raises:
        FileError: It cannot be made.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
