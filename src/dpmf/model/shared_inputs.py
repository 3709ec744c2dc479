"""Functions on inputs that all members share: one Cholesky factor serves every member."""

import dataclasses
import math

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dpmf.kernels import Kernel
from dpmf.kernels.cholesky import triangular_inverse
from dpmf.model.colouring import Colouring
from dpmf.model.features import Factors, coloured, factor
from dpmf.model.gather import Lookup, take
from dpmf.model.state import Theta
from dpmf.types import pytree_dataclass


@pytree_dataclass
class SharedInputs(Colouring):
    """A grid (`grid.Grid`) as arrays; white has the axes (rank, members, points)."""

    levels: tuple[Float[Array, "_ _"], ...]  # levels x columns, of each factor of the grid
    cells: Lookup  # entry = member * points + point
    members: int = dataclasses.field(metadata={"static": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.members, math.prod(len(one) for one in self.levels)

    @property
    def points(self) -> Lookup | None:
        return self.cells if self.members == 1 else None

    def factor(self, kernel: Kernel, theta: Theta) -> tuple[Float[Array, "_ _"], ...]:
        axes = range(len(self.levels))
        return tuple(factor(kernel, theta, self.levels, axis) for axis in axes)

    def coloured(
        self, white: Float[Array, "rank members inputs"], over: Factors
    ) -> Float[Array, "rank members inputs"]:
        return coloured(white, over)

    def whitened(
        self, functions: Float[Array, "rank members inputs"], over: Factors
    ) -> Float[Array, "rank members inputs"]:
        return coloured(functions, tuple(triangular_inverse(one) for one in over))

    def log_volume(self, over: Factors) -> Float[Array, " rank"]:
        total = jnp.zeros(())
        for one in over:
            logs = jnp.sum(jnp.log(jnp.diagonal(one, axis1=-2, axis2=-1)), axis=-1)
            total += logs * math.prod(self.shape) / one.shape[-1]
        return total

    def at_cells(
        self, functions: Float[Array, "rank members inputs"]
    ) -> Float[Array, "rank cells"]:
        return take(functions.reshape(functions.shape[0], -1), self.cells)

    def per_member(self, values: Float[Array, " members"]) -> Float[Array, "members 1"]:
        return values[:, None]

    def member_sums(self, values: Float[Array, "members inputs"]) -> Float[Array, " members"]:
        return jnp.sum(values, axis=1)

    @property
    def first(self) -> Bool[Array, " inputs"]:
        return jnp.arange(self.shape[1]) == 0
