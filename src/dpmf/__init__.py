"""Dependent probabilistic matrix factorization; public names are loaded when first used."""

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

from dpmf.collection import no_collection
from dpmf.errors import (
    ConfigError,
    DataError,
    DpmfError,
    DpmfWarning,
    FileError,
    SamplingError,
    WorkerError,
)

if TYPE_CHECKING:
    from dpmf import backtest, datasets, errors, kernels, likelihoods, plots, sports
    from dpmf.data import Dyads
    from dpmf.inference.estimator import DPMF, PMF
    from dpmf.inference.hyperparameters import Hyperparameters
    from dpmf.posterior import load
    from dpmf.sports import Games, read_games

    __version__: str

__all__ = [
    "DPMF",
    "PMF",
    "ConfigError",
    "DataError",
    "DpmfError",
    "DpmfWarning",
    "Dyads",
    "FileError",
    "Games",
    "Hyperparameters",
    "SamplingError",
    "WorkerError",
    "__version__",
    "backtest",
    "datasets",
    "errors",
    "kernels",
    "likelihoods",
    "load",
    "plots",
    "read_games",
    "sports",
]

# Most of these import jax, which takes half a second: too long for `dpmf --help`.
_MODULE_OF = {
    "DPMF": "dpmf.inference.estimator",
    "Hyperparameters": "dpmf.inference.hyperparameters",
    "PMF": "dpmf.inference.estimator",
    "Dyads": "dpmf.data",
    "Games": "dpmf.sports",
    "load": "dpmf.posterior",
    "read_games": "dpmf.sports",
}
_SUBMODULES = {"backtest", "datasets", "errors", "kernels", "likelihoods", "plots", "sports"}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return _module(f"dpmf.{name}")
    if name == "__version__":
        return importlib.metadata.version("dpmf")
    if name in _MODULE_OF:
        return getattr(_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'dpmf' has no attribute {name!r}")


def _module(name: str) -> Any:
    with no_collection():
        return importlib.import_module(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
