"""Kernels: which inputs resemble each other, and what a season's break does to time.

A kernel names the input columns that it reads: `Matern12("time")`. `a * b` is a product,
`a + b + c` one mixture with learned weights. All are correlations: amplitudes live in the
model. Bounds of the hyperparameters may be given; otherwise they come from the training
inputs.

A kernel of your own takes two classes. The correlation is a function of one pair of rows
and must be 1 where they are equal. If all it has is a length scale per column, the spec is
one line:

    import jax.numpy as jnp
    from dpmf.kernels import Correlation, Kernel, Scaled
    from dpmf.types import pytree_dataclass

    @pytree_dataclass
    class CauchyCorrelation(Correlation):
        length: jnp.ndarray  # one per column

        def pair(self, x, z):
            return 1 / (1 + jnp.sum(((x - z) / self.length) ** 2))

    class Cauchy(Scaled):
        correlation = CauchyCorrelation

Otherwise the spec is a frozen dataclass that says which columns it reads, which
hyperparameters it has, and how they make a correlation:

    import dataclasses
    from dpmf.priors import LogUniform

    @pytree_dataclass
    class CosineCorrelation(Correlation):
        period: jnp.ndarray

        def pair(self, x, z):
            return jnp.cos(2 * jnp.pi * (x[0] - z[0]) / self.period)

    @dataclasses.dataclass(frozen=True)
    class Cosine(Kernel):
        column: str
        low: float
        high: float

        @property
        def columns(self):
            return (self.column,)

        def priors(self):
            return {f"{self.column}.period": LogUniform((self.low,), (self.high,))}

        def at(self, theta):
            return CosineCorrelation(theta[f"{self.column}.period"][0])

Both can then be used as the built-in ones, saved and loaded included; a program that loads
such a fit imports the module with these classes first.
"""

from dpmf.kernels.composite import Mixture, Product
from dpmf.kernels.correlation import Correlation
from dpmf.kernels.kernel import Kernel
from dpmf.kernels.scaled import (
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    Scaled,
    SquaredExponential,
)
from dpmf.kernels.season_gap import SeasonGap
from dpmf.kernels.unscaled import Categorical, Constant
from dpmf.kernels.warp import Warp

__all__ = [
    "Categorical",
    "Constant",
    "Correlation",
    "Kernel",
    "Matern12",
    "Matern32",
    "Matern52",
    "Mixture",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SeasonGap",
    "SquaredExponential",
    "Warp",
]
