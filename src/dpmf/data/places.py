"""Where a row of a table came from, for messages: the line of a file, or the row of a frame."""

from collections.abc import Sequence


class FileSource(str):
    """The name of a file that knows on which of its lines each row of a table began."""

    lines: Sequence[int]  # counted from 1; a quoted field may span several

    def __new__(cls, name: str, lines: Sequence[int]) -> "FileSource":
        source = super().__new__(cls, name)
        source.lines = lines
        return source


def place(source: str, row: int) -> str:
    """The file and its line, or the source and its row; `row` counts from 0."""
    return f"{source}: {spot(source, row)}"


def spot(source: str, row: int) -> str:
    """The line or row alone."""
    if isinstance(source, FileSource):
        return f"line {source.lines[row]}"
    return f"row {row + 1}"
