"""`dpmf demo`: fit the embedded games, forecast what follows, write both to a folder."""

from pathlib import Path

from dpmf.errors import DpmfError


def run(out: Path, *, quiet: bool, json: bool) -> None:
    """Run the demo.

    Args:
        out: Folder to write to.
        quiet: Print nothing.
        json: Print the result as JSON instead of words.

    Raises:
        DpmfError: The demo has not been written yet.
    """
    raise DpmfError("the demo has not been written yet")
