r"""Functions as series of waves that all members share: white, scaled, and summed at the cells.

$f(x) = \sum_b \phi_b(x) \sqrt{s_b(\theta)}\, w_b$. Only the scales depend on hyperparameters:
there is no matrix to factor, and nothing grows with the number of inputs.
"""

import dataclasses
import math
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dpmf.kernels import Kernel
from dpmf.model.colouring import Colouring
from dpmf.model.gather import Lookup, take
from dpmf.model.harmonics import length_of, log_shares, series_of
from dpmf.model.state import Theta
from dpmf.types import pytree_dataclass


@pytree_dataclass
class Series(Colouring):
    """A basis (`basis.Basis`) as arrays; white has the axes (rank, members, functions)."""

    waves: tuple[Float[Array, "_ _ functions"], ...]  # at inputs of members, in tables
    rows: Lookup  # entry = member, of every row of all tables
    cells: Lookup  # entry = place in the tables, one row after another
    picked: ClassVar[bool] = False  # it sums them all
    members: int = dataclasses.field(metadata={"static": True})
    period: float = dataclasses.field(metadata={"static": True})
    order: int = dataclasses.field(metadata={"static": True})  # harmonics

    @property
    def shape(self) -> tuple[int, ...]:
        return self.members, 2 * self.order + 1

    def factor(self, kernel: Kernel, theta: Theta) -> Float[Array, " functions"]:
        """Standard deviation of each function's coefficient."""
        one = series_of(kernel)
        assert one is not None
        logs = log_shares(one, length_of(one, theta), self.period, self.order)
        each = jnp.repeat(logs[1:] - math.log(2), 2)  # a cosine and a sine share it
        return jnp.exp(0.5 * jnp.concatenate([logs[:1], each]))

    def coloured(
        self, white: Float[Array, "rank members functions"], over: Float[Array, "_ functions"]
    ) -> Float[Array, "rank members functions"]:
        return over[:, None] * white

    def whitened(
        self,
        functions: Float[Array, "rank members functions"],
        over: Float[Array, "_ functions"],
    ) -> Float[Array, "rank members functions"]:
        return functions / over[:, None]

    def log_volume(self, over: Float[Array, "_ functions"]) -> Float[Array, " _"]:
        return self.members * jnp.sum(jnp.log(over), axis=1)

    def at_cells(
        self, functions: Float[Array, "rank members functions"]
    ) -> Float[Array, "rank cells"]:
        rank, start, found = len(functions), 0, []
        own = jnp.moveaxis(take(jnp.moveaxis(functions, 1, 2), self.rows), 2, 1)
        for waves in self.waves:
            some = own[:, start : start + len(waves)]
            found.append(jnp.einsum("mib,kmb->kmi", waves, some).reshape(rank, -1))
            start += len(waves)
        return take(jnp.concatenate([functions[:, 0, :0], *found], axis=1), self.cells)

    def per_member(self, values: Float[Array, " members"]) -> Float[Array, "members 1"]:
        return values[:, None]

    def member_sums(
        self, values: Float[Array, "members functions"]
    ) -> Float[Array, " members"]:
        return jnp.sum(values, axis=1)

    @property
    def first(self) -> Bool[Array, " functions"]:
        return jnp.arange(self.shape[1]) == 0
