"""What an argument must be, said once for all that take such an argument."""

from typing import Any

import numpy as np

from dpmf.errors import ConfigError

_OWN = "dpmf."


def whole_number(name: str, value: Any, least: int) -> int:
    """A whole number of any integer type, as a plain one.

    Raises:
        ConfigError: It is none, or less than `least`.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ConfigError(f"{name}={value!r}, expected a whole number of at least {least}.")
    return int(value)


def positive_number(name: str, value: Any) -> float:
    """A finite number above 0, as a plain one.

    Raises:
        ConfigError: It is none.
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and np.isfinite(value) and value > 0):
        raise ConfigError(f"{name}={value!r}, expected a positive number.")
    return float(value)


def require_free_name(known: type | None, new: type) -> None:
    """Let a class take the place of another of its name, but never of one of dpmf's own.

    Raises:
        ConfigError: The name is taken.
    """
    if known is None or new.__module__.startswith(_OWN):
        return
    if known.__module__.startswith(_OWN):
        raise ConfigError(
            f"dpmf has a class named {new.__name__!r} of its own; give "
            f"{new.__module__}.{new.__name__} another name."
        )
