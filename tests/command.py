"""The `dpmf` command as a test calls it."""

import pytest

from dpmf.cli import main


def status(*arguments: str) -> int | str | None:
    """What the command exits with."""
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    return leaving.value.code
