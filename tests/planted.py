"""Bugs planted in the source, to show that a test would find them."""

import inspect
import sys
from typing import Any


def planted(target: Any, old: str, new: str, **names: Any) -> Any:
    """A copy of a function or class with `old` replaced by `new` in its source.

    Args:
        target: A function or class at the top of its module.
        old: Text that occurs exactly once in its source.
        new: What a mistaken author would have written.
        names: Other values for names of its module, such as a lower limit, or a planted
            function that the target calls.
    """
    source = inspect.getsource(target)
    count = source.count(old)
    if count != 1:  # no AssertionError: the test of the test would take it for what it awaits
        raise ValueError(f"{old!r} occurs {count} times in {target.__name__}")
    module = sys.modules[target.__module__]
    namespace = {**vars(module), **names}
    exec(source.replace(old, new), namespace)
    return namespace[target.__name__]
