"""The `dpmf` command as a test calls it."""

import pytest

from dpmf.cli import main

# One season of a small league, hardly sampled.
SMALL_BACKTEST = [
    "--side",
    "none",
    "--seasons",
    "2003",
    "--chains",
    "2",
    "--warmup",
    "4",
    "--draws",
    "6",
]


def status(*arguments: str) -> int | str | None:
    """What the command exits with."""
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    return leaving.value.code
