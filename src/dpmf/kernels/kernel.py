"""What every kernel spec is: a static description that becomes a correlation function."""

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Array

from dpmf.errors import ConfigError
from dpmf.kernels import registry
from dpmf.kernels.correlation import Correlation
from dpmf.priors import Prior


class Kernel(abc.ABC):
    """A correlation function yet to be told its hyperparameters.

    A subclass is a frozen dataclass whose fields are strings, numbers, kernels, warps, or
    tuples of them, so that it can be compared, hashed and saved.
    """

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        registry.register(cls)

    @property
    @abc.abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The input columns it reads, each once."""

    @property
    def measured(self) -> tuple[str, ...]:
        """Those of its columns in which it measures distances; text has none."""
        return ()

    @abc.abstractmethod
    def priors(self) -> dict[str, Prior]:
        """Prior of each hyperparameter, by a label such as `time.length`.

        Raises:
            ConfigError: Bounds were left open and `bounded` has not been called.
        """

    @abc.abstractmethod
    def at(self, theta: Mapping[str, Array]) -> Correlation:
        """The correlation between rows that hold exactly `columns`, in that order.

        Args:
            theta: A value for each label of `priors`, of the prior's shape.
        """

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> "Kernel":
        """The same kernel with every open bound filled from the training inputs.

        Args:
            inputs: The values of each input column at all training cells.

        Raises:
            DataError: A column is missing or not finite.
        """
        return self

    def factors(self) -> tuple["Kernel", ...]:
        """Kernels that read disjoint columns and whose product this kernel is."""
        return (self,)

    def factors_at(self, theta: Mapping[str, Array]) -> tuple[Correlation, ...]:
        """The correlation of each of `factors`, from the labels of the whole kernel."""
        return (self.at(theta),)

    def factor_labels(self) -> tuple[tuple[str, ...], ...]:
        """Which labels of the whole kernel each of `factors` reads."""
        return (tuple(self.priors()),)

    def __mul__(self, other: "Kernel") -> "Kernel":
        from dpmf.kernels.composite import Product, product_terms

        if not isinstance(other, Kernel):
            return NotImplemented
        return Product(product_terms(self) + product_terms(other))

    def __add__(self, other: "Kernel") -> "Kernel":
        from dpmf.kernels.composite import Mixture, mixture_terms

        if not isinstance(other, Kernel):
            return NotImplemented
        return Mixture(mixture_terms(self) + mixture_terms(other))

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.columns))})"

    def to_dict(self) -> dict[str, Any]:
        """The kernel in values that JSON knows."""
        return registry.to_dict(self)

    @staticmethod
    def from_dict(saved: Mapping[str, Any]) -> "Kernel":
        """The kernel that `to_dict` turned into `saved`.

        Raises:
            ConfigError: It is no kernel, or one whose class has not been imported.
        """
        kernel = registry.from_dict(saved)
        if not isinstance(kernel, Kernel):
            raise ConfigError(f"{saved['type']} is not a kernel; expected a saved kernel.")
        return kernel
