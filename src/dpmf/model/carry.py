"""White coordinates carried from one grid to another, so that functions keep their values."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import solve_triangular

from dpmf.data.distinct import extended
from dpmf.kernels import Kernel
from dpmf.model.features import factors
from dpmf.model.grid import Grid
from dpmf.model.state import Theta


class _Axis(NamedTuple):
    """Matrices for one factor of the grid, for each latent function."""

    to_common: Float[np.ndarray, "rank common old"]  # old white to white of kept levels
    to_new: Float[np.ndarray, "rank new new"]  # white in the order (kept, fresh) to new white


def carried(
    white: Float[np.ndarray, "rank members inputs"],
    kernel: Kernel,
    theta: Theta,
    old: Grid,
    new: Grid,
    members: Int[np.ndarray, " new_members"],
    generator: np.random.Generator,
) -> Float[np.ndarray, "rank new_members new_inputs"]:
    """White coordinates on `new` of functions whose values at shared levels stay the same.

    Values at new levels, and all functions of new members, are drawn from the prior
    given what is kept. Where nothing was dropped or reordered this appends fresh normals.

    Args:
        white: On the old grid.
        kernel: Kernel of the side.
        theta: Its hyperparameters, one set per latent function.
        old: Grid of `white`; its factors read the same columns as those of `new`.
        new: Grid to carry to.
        members: For each new member its old place, or -1.
        generator: Source of the fresh normals.
    """
    rank = white.shape[0]
    axes = [_axis(kernel, theta, old, new, which, rank) for which in range(len(old.levels))]
    kept = white.reshape(rank, -1, *old.shape)[:, members]
    for place, axis in enumerate(axes):
        kept = _along(kept, axis.to_common, place + 2)
    shape = (rank, len(members), *new.shape)
    fresh = generator.standard_normal(shape)
    corner: tuple[Any, ...] = tuple(np.s_[: axis.to_common.shape[1]] for axis in axes)
    known = np.flatnonzero(members >= 0)
    fresh[(slice(None), known, *corner)] = kept[:, known]
    for place, axis in enumerate(axes):
        fresh = _along(fresh, axis.to_new, place + 2)
    return fresh.reshape(rank, len(members), -1)


def _axis(kernel: Kernel, theta: Theta, old: Grid, new: Grid, which: int, rank: int) -> _Axis:
    before, after = old.levels[which], new.levels[which]
    place = extended(before, after)[1]  # of each new level among the old ones, or past them
    common_new = np.flatnonzero(place < len(before))
    order = np.concatenate([common_new, np.flatnonzero(place >= len(before))])
    common_old, count = place[common_new], len(common_new)
    old_factor = _factor(kernel, theta, old, which, before, rank)
    ordered = _factor(kernel, theta, new, which, after[order], rank)
    if np.array_equal(common_old, np.arange(len(before))):
        to_common = np.broadcast_to(np.eye(count), (rank, count, count))
    else:
        to_common = np.stack(
            [
                solve_triangular(
                    ordered[k, :count, :count], old_factor[k][common_old], lower=True
                )
                for k in range(rank)
            ]
        )
    if np.array_equal(order, np.arange(len(after))):
        return _Axis(to_common, np.broadcast_to(np.eye(len(after)), (rank, *[len(after)] * 2)))
    target = _factor(kernel, theta, new, which, after, rank)
    back = np.argsort(order)
    to_new = [solve_triangular(target[k], ordered[k][back], lower=True) for k in range(rank)]
    return _Axis(to_common, np.stack(to_new))


def _factor(kernel, theta, grid: Grid, which: int, levels, rank: int) -> np.ndarray:
    """The Cholesky factor over other levels of one factor of the grid."""
    swapped = [jnp.asarray(one) for one in grid.levels]
    swapped[which] = jnp.asarray(levels)
    if not len(levels):
        return np.zeros((rank, 0, 0))
    found = np.asarray(factors(kernel, theta, tuple(swapped))[which])
    return np.broadcast_to(found, (rank, *found.shape[1:]))


def _along(grid: np.ndarray, matrix: np.ndarray, axis: int) -> np.ndarray:
    last = np.moveaxis(grid, axis, -1)
    return np.moveaxis(np.einsum("k...i,koi->k...o", last, matrix), -1, axis)
