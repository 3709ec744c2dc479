"""Lookups into tables, with gradients that are sums over lists instead of scatters.

XLA on a CPU is slow at scatter-adds, and a GPU that is asked for the same sums every time
sorts before each of them. Which cells look up which entry is known before sampling, so the
gradient of a lookup can gather too: each entry has the list of the cells that use it, padded
to the longest.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dpmf.types import pytree_dataclass

PADDING_LIMIT = 8  # lists may be this many times longer than the cells; past it, scatter


@pytree_dataclass
class Lookup:
    """Which entry each cell reads, and the way back."""

    entry: Int[Array, " cells"]
    users: Int[Array, "entries most"] | None  # cells of each entry; padding = cells


def lookup(entry: Int[np.ndarray, " cells"], entries: int) -> Lookup:
    """Index the cells by the entry they read."""
    counts = np.bincount(entry, minlength=entries)
    most = max(int(counts.max(initial=0)), 1)
    if most * entries > PADDING_LIMIT * max(len(entry), 1):
        return Lookup(jax.device_put(entry), None)
    order = np.argsort(entry, kind="stable")
    rank_within = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    users = np.full((entries, most), len(entry))
    users[entry[order], rank_within] = order
    return Lookup(jax.device_put(entry), jax.device_put(users))


def sums(
    index: Lookup, per_cell: Float[Array, "*batch cells"], entries: int
) -> Float[Array, "*batch entries"]:
    """Sum over the cells of each entry."""
    return _sums(entries, per_cell, index.entry, index.users)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sums(entries, per_cell, entry, users):
    if users is None:
        empty = jnp.zeros((*per_cell.shape[:-1], entries), per_cell.dtype)
        return empty.at[..., entry].add(per_cell)
    padded = jnp.concatenate([per_cell, jnp.zeros_like(per_cell[..., :1])], axis=-1)
    return jnp.sum(padded[..., users], axis=-1)


def _sums_forward(entries, per_cell, entry, users):
    return _sums(entries, per_cell, entry, users), entry


def _sums_backward(entries, entry, cotangent):
    """Every cell hears from its entry; left alone, lists would be scattered back."""
    return cotangent[..., entry], None, None


_sums.defvjp(_sums_forward, _sums_backward)


def take(table: Float[Array, "*batch entries"], index: Lookup) -> Float[Array, "*batch cells"]:
    """The entry that each cell reads."""
    return _take(table, index.entry, index.users)


@jax.custom_vjp
def _take(table, entry, users):  # arrays only: jax unflattens arguments with placeholders
    # Or a CPU would compute an entry anew for every cell that reads it.
    return jax.lax.optimization_barrier(table)[..., entry]


def _take_forward(table, entry, users):
    return _take(table, entry, users), (Lookup(entry, users), table.shape[-1])


def _take_backward(saved, cotangent):
    index, entries = saved
    return sums(index, cotangent, entries), None, None


_take.defvjp(_take_forward, _take_backward)
