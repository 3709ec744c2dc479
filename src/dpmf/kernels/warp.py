"""What every warp is: a map of the input columns, made before a kernel reads them."""

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Array

from dpmf.errors import ConfigError
from dpmf.kernels import registry
from dpmf.kernels.bounds import Bounds, length_bounds, training_column
from dpmf.kernels.combination import WarpedCorrelation
from dpmf.kernels.correlation import Correlation
from dpmf.priors import Prior


class Warp(abc.ABC):
    """A map of input columns yet to be told its hyperparameters; a frozen dataclass."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        registry.register(cls)

    @property
    @abc.abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The input columns it reads, each once."""

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """How many warped columns come out."""

    @abc.abstractmethod
    def priors(self) -> dict[str, Prior]:
        """Prior of each hyperparameter, by a label such as `season+week.gap`."""

    @abc.abstractmethod
    def at(self, theta: Mapping[str, Array]) -> Callable[[Array], Array]:
        """The map, a pytree: from one row holding `columns` to one of `width` numbers."""

    @abc.abstractmethod
    def length_bounds(self, inputs: Mapping[str, np.ndarray]) -> tuple[Bounds, ...]:
        """Bounds for the length scale of each warped column; asked of a bounded warp."""

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> "Warp":
        """The same warp with everything left open filled from the training inputs."""
        return self

    def applied(self, base: Correlation, theta: Mapping[str, Array]) -> Correlation:
        """The base correlation between warped inputs."""
        return WarpedCorrelation(self.at(theta), base)

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.columns))})"


@dataclasses.dataclass(frozen=True)
class Columns(Warp):
    """Input columns taken as they are."""

    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def width(self) -> int:
        return len(self.names)

    def priors(self) -> dict[str, Prior]:
        return {}

    def at(self, theta: Mapping[str, Array]) -> Callable[[Array], Array]:
        return lambda row: row

    def length_bounds(self, inputs: Mapping[str, np.ndarray]) -> tuple[Bounds, ...]:
        return tuple(length_bounds(training_column(str(self), inputs, c)) for c in self.names)

    def applied(self, base: Correlation, theta: Mapping[str, Array]) -> Correlation:
        return base


def source(owner: str, given: tuple[Any, ...]) -> Warp:
    """What a kernel reads: one warp, or columns by name.

    Raises:
        ConfigError: There are no columns, or something that is neither.
    """
    if len(given) == 1 and isinstance(given[0], Warp):
        return given[0]
    return Columns(named_columns(owner, given))


def named_columns(owner: str, given: tuple[Any, ...]) -> tuple[str, ...]:
    """The names, checked.

    Raises:
        ConfigError: There are none, or one is repeated or no string.
    """
    if not given:
        raise ConfigError(
            f"{owner}() names no input column; expected at least one, such as {owner}('time')."
        )
    for name in given:
        if not isinstance(name, str) or not name:
            raise ConfigError(
                f"{owner}: {name!r} is not the name of an input column; expected strings, or "
                "one warp alone."
            )
    if len(set(given)) < len(given):
        raise ConfigError(f"{owner}: columns {given!r} repeat a name; expected each once.")
    return given
