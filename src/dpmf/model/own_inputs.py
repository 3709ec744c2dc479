r"""Functions at every member's own inputs: any kernel, exactly, a factor for each member.

Members with about as many inputs share a padded table. What only fills a row has correlation
1 with itself and 0 with all else, so that its factor is that of the inputs before it.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dpmf.kernels import Kernel
from dpmf.kernels.cholesky import triangular_inverse
from dpmf.kernels.factor import cholesky_factor
from dpmf.model.features import gram
from dpmf.model.gather import Lookup, take
from dpmf.model.own_points import OwnPoints
from dpmf.model.state import Theta
from dpmf.model.tables import Table, places
from dpmf.types import pytree_dataclass

Factors = tuple[Float[Array, "..."], ...]  # (rank,) some x most x most, of each table


@pytree_dataclass
class Rows:
    """One table: inputs of some members side by side."""

    inputs: Float[Array, "some most columns"]
    filled: Bool[Array, "some most"]

    def factor(self, kernel: Kernel, theta: Theta) -> Float[Array, "some most most"]:
        """Lower factors of the correlations within each member."""

        def one(inputs, filled):
            both = filled[:, None] & filled[None]
            own = jnp.where(both, gram(kernel, theta, (inputs,)), jnp.eye(len(filled)))
            return cholesky_factor(own)

        return jax.vmap(one)(self.inputs, self.filled)


@pytree_dataclass
class OwnInputs(OwnPoints):
    """Inputs of every member (`lists.Lists`) as arrays."""

    rows: tuple[Rows, ...]
    into: Lookup  # entry = point, of every place of all tables; whatever where there is none
    back: Lookup  # entry = place, of every point

    def factor(self, kernel: Kernel, theta: Theta) -> Factors:
        return tuple(one.factor(kernel, theta) for one in self.rows)

    def coloured(
        self, white: Float[Array, "rank points"], over: Factors
    ) -> Float[Array, "rank points"]:
        """White noise into functions: each member's by its own factor."""
        spread, start, found = take(white, self.into), 0, []
        for rows, lower in zip(self.rows, over, strict=True):
            size = rows.filled.size
            own = spread[:, start : start + size].reshape(-1, *rows.filled.shape)
            each = jnp.broadcast_to(lower, (len(white), *lower.shape[1:]))
            found.append(jnp.einsum("kmij,kmj->kmi", each, own).reshape(len(white), size))
            start += size
        return take(jnp.concatenate([white[:, :0], *found], axis=1), self.back)

    def whitened(
        self, functions: Float[Array, "rank points"], over: Factors
    ) -> Float[Array, "rank points"]:
        return self.coloured(functions, tuple(map(triangular_inverse, over)))

    def log_volume(self, over: Factors) -> Float[Array, " rank"]:
        diagonals = (jnp.diagonal(one, axis1=-2, axis2=-1) for one in over)
        return sum((jnp.sum(jnp.log(one), axis=(1, 2)) for one in diagonals), jnp.zeros(()))


def own_inputs(
    inputs: Float[np.ndarray, "points columns"],
    each: tuple[Table, ...],
    whose: Lookup,
    cells: Lookup,
    members: int,
) -> OwnInputs:
    """Tables of inputs as arrays.

    Args:
        inputs: Of every point.
        each: The points of each member, side by side.
        whose: The member of each point.
        cells: The point of each cell.
        members: How many there are.
    """
    count = len(inputs)
    place = places(each, count)
    point = np.concatenate([np.zeros(0, int), *(one.point.reshape(-1) for one in each)])
    rows = []
    for one in each:
        filled = one.point < count
        # A row is filled with its first input: correlations there are finite and unused.
        shown = np.where(filled, one.point, one.point[:, :1])
        rows.append(Rows(*jax.device_put((inputs[shown], filled))))
    into = Lookup(*jax.device_put((np.where(point < count, point, 0), place[:, None])))
    back = Lookup(*jax.device_put((place, point[:, None])))
    return OwnInputs(whose, cells, members, tuple(rows), into, back)
