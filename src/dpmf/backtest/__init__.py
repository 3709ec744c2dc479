"""Forecast the past as if it were the future: cutoffs, forecasters, metrics, tables.

The package is a function too: `dpmf.backtest(games, forecasters, ...)`.
"""

import sys
import types
from typing import Any

from dpmf.backtest.rolling import Result, backtest

__all__ = ["Result", "backtest"]


class _Callable(types.ModuleType):
    """Importing a folder binds its name in the package; this lets that name be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Result:
        """See `dpmf.backtest.rolling.backtest`."""
        return backtest(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
