"""What a noise model must say, and what it gets for saying it."""

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key, Shaped

from dpmf.checks import require_free_name
from dpmf.errors import ConfigError, DataError
from dpmf.priors import Prior

CellLogProb = Callable[[Float[Array, "events pair"]], Float[Array, "events pair"]]


class Noise(abc.ABC):
    """A noise model at known parameters: how values scatter around `y`.

    `y` is the matrix entry of each cell, on the link scale. Only `log_prob` and
    `sample` are needed to fit and to forecast; `mean` and `covariance` default to
    moments of `sample`.
    """

    @abc.abstractmethod
    def log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, " events"]:
        """Log probability (density or mass) of each event's values."""

    @abc.abstractmethod
    def sample(
        self, key: Key[Array, ""], y: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Values drawn given `y`."""

    def mean(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair"]:
        """Expected values."""
        return jnp.mean(self._samples(y), axis=0)

    def covariance(self, y: Float[Array, "events pair"]) -> Float[Array, "events pair pair"]:
        """Covariance of each event's values around their mean."""
        centred = self._samples(y) - self.mean(y)[None]
        return jnp.einsum("sei,sej->eij", centred, centred) / centred.shape[0]

    def first_exceeds(self, y: Float[Array, "events pair"]) -> Float[Array, " events"] | None:
        """Probability that the first value of a pair exceeds the second; None: no formula."""
        return None

    def equal(self, y: Float[Array, "events pair"]) -> Float[Array, " events"] | None:
        """Probability that both values of a pair are equal; None: no formula, or never.

        Where values are counts, `first_exceeds` does not include it.
        """
        return None

    def _samples(self, y: Float[Array, "events pair"]) -> Float[Array, "samples events pair"]:
        return jax.vmap(lambda k: self.sample(k, y))(jr.split(jr.key(0), 256))

    def split(
        self,
        key: Key[Array, ""],
        y: Float[Array, "events pair"],
        values: Float[Array, "events pair"],
    ) -> CellLogProb | None:
        """A log probability per cell, under which the cells of an event are independent.

        For a likelihood whose cells are dependent this draws auxiliary variables from
        their full conditional given `y`; the result is used for one pass over the
        members and then thrown away. None says that there is no such form: members
        then move one after another.
        """
        return None


class IndependentNoise(Noise):
    """Noise whose cells are independent given `y`: one log probability per cell says all."""

    @abc.abstractmethod
    def cell_log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, "events pair"]:
        """Log probability of each cell."""

    def log_prob(
        self, y: Float[Array, "events pair"], values: Float[Array, "events pair"]
    ) -> Float[Array, " events"]:
        """Log probability of each event: the sum over its cells."""
        cells = self.cell_log_prob(y, values)
        # Sums over one entry each are all but free to write, and slow on a CPU.
        return cells[:, 0] if cells.shape[1] == 1 else jnp.sum(cells, axis=1)

    def split(
        self,
        key: Key[Array, ""],
        y: Float[Array, "events pair"],
        values: Float[Array, "events pair"],
    ) -> CellLogProb:
        """Cells are independent as they are."""
        return lambda moved: self.cell_log_prob(moved, values)


OWN, OWNER = "own", "owner"  # among the parameters of a noise model


class Own(NamedTuple):
    """Numbers that every row has for itself: centre + scale times standard normals.

    Noise with such numbers is `IndependentNoise`. Centre and scale are parameters with as many
    entries, the one with a normal prior and the other with a half-normal one.
    """

    size: int  # how many there are
    centre: str
    scale: str


class Likelihood(abc.ABC):
    """A choice of noise model: what a user writes, before its parameters are known."""

    registry: ClassVar[dict[str, type["Likelihood"]]] = {}
    pair: ClassVar[int | None] = None  # cells per event it needs; None takes any number

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        """Remember the class by name, so that a saved fit can name it.

        Args:
            abstract: Whether it is no choice by itself, but what some have in common.
            **kwargs: Of other base classes.
        """
        super().__init_subclass__(**kwargs)
        if abstract:
            return
        require_free_name(Likelihood.registry.get(cls.__name__), cls)
        Likelihood.registry[cls.__name__] = cls

    @property
    def shifts(self) -> str | None:
        """A parameter with a normal prior that makes up for any number added to all y."""
        return None

    @property
    def own(self) -> "Own | None":
        """What every row has for itself; None: all parameters are shared."""
        return None

    @abc.abstractmethod
    def priors(self, spread: float) -> dict[str, Prior]:
        """Priors of its parameters; `spread` is the standard deviation of the values."""

    @abc.abstractmethod
    def at(self, parameters: Mapping[str, Shaped[Array, "..."]]) -> Noise:
        """The noise model at given parameters.

        Where rows have numbers of their own, so are `OWN`, those numbers in standard normal
        units with axes (owners, size), and `OWNER`, the owner of every cell.
        """

    def scales(self, values: Float[np.ndarray, "events pair"]) -> tuple[float, float]:
        """Root mean square and standard deviation that the features should reach.

        The default suits values on a link scale (logits).
        """
        return 2.5, 2.5

    def centre(self, values: Float[np.ndarray, "events pair"]) -> float:
        """Where `y` should start, on the link scale."""
        return 0.0

    def check(self, values: Float[np.ndarray, "events pair"]) -> None:
        """Refuse values that the noise model cannot produce.

        Raises:
            DataError: with the first offending row.
        """
        if self.pair is not None and values.shape[1] != self.pair:
            name = type(self).__name__
            raise DataError(
                f"{name}: events have {values.shape[1]} value(s), expected {self.pair}. "
                'Give value=("first", "second") for a pair, one name otherwise.'
            )

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain data; the inverse of `from_dict`."""
        fields: dict[str, Any] = (
            dataclasses.asdict(self) if dataclasses.is_dataclass(self) else {}
        )
        return {"type": type(self).__name__, **fields}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "Likelihood":
        """The choice that `to_dict` described."""
        fields = dict(plain)
        name = fields.pop("type")
        if name not in Likelihood.registry:
            known = ", ".join(sorted(Likelihood.registry))
            raise ConfigError(
                f"there is no likelihood {name!r} here (known: {known}). "
                "Import the module that defines it, then load again."
            )
        # JSON has no tuples; a field of a frozen dataclass is never a list.
        plain_fields = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in fields.items()
        }
        return Likelihood.registry[name](**plain_fields)


def first_row(wrong: np.ndarray) -> int:
    """The 1-based data row of the first event with a wrong value."""
    return int(np.argmax(wrong.any(axis=1))) + 1
