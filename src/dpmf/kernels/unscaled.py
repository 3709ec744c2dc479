"""Kernels without length scales, as users write them."""

import dataclasses
from collections.abc import Mapping

from jaxtyping import Array

from dpmf.kernels.correlation import Correlation
from dpmf.kernels.discrete import CategoricalCorrelation, ConstantCorrelation
from dpmf.kernels.kernel import Kernel
from dpmf.kernels.labels import label
from dpmf.kernels.warp import named_columns
from dpmf.priors import Prior, Uniform


@dataclasses.dataclass(frozen=True)
class Categorical(Kernel):
    """Levels without order: any two different ones share the same learned correlation."""

    column: str

    def __post_init__(self) -> None:
        named_columns(type(self).__name__, (self.column,))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def priors(self) -> dict[str, Prior]:
        return {label(self.columns, "correlation"): Uniform(0.0, 1.0, (1,))}

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        return CategoricalCorrelation(theta[label(self.columns, "correlation")][0])


@dataclasses.dataclass(frozen=True)
class Constant(Kernel):
    """Nothing varies: with it alone the model is probabilistic matrix factorization."""

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    def priors(self) -> dict[str, Prior]:
        return {}

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        return ConstantCorrelation()
