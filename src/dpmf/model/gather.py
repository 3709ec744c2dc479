"""Lookups into tables, with gradients that are sums over lists instead of scatters.

XLA on a CPU is slow at most scatter-adds, and a GPU that is asked for the same sums every time
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

PADDING_LIMIT = 8  # lists may be this many times longer than the cells
WIDTHS = 2 ** np.arange(2, 13)  # of pieces that lists of very different lengths are cut into


@pytree_dataclass
class Lookup:
    """Which entry each cell reads, and the way back."""

    entry: Int[Array, " cells"]
    users: Int[Array, "lists most"] | None  # cells of each entry; padding = cells
    # Where a few entries have most of the cells, lists are cut into pieces: the pieces of each
    # entry; padding = pieces. None: every entry has one list.
    pieces: Int[Array, "entries parts"] | None = None

    @property
    def listed(self) -> bool:
        """Whether every entry has one list."""
        return self.users is not None and self.pieces is None


def lookup(
    entry: Int[np.ndarray, " cells"], entries: int, *, pieces: bool | None = None
) -> Lookup:
    """Index the cells by the entry they read.

    Args:
        entry: That each cell reads.
        entries: How many there are.
        pieces: Whether lists of very different lengths are cut into pieces; else their cells
            are scattered. None: on anything but a CPU, which is faster at scatters.
    """
    if pieces is None:
        pieces = jax.default_backend() != "cpu"
    counts = np.bincount(entry, minlength=entries)
    room = PADDING_LIMIT * max(len(entry), 1)
    if _longest(counts) * entries <= room:
        return Lookup(*jax.device_put((entry, _lists(entry, counts))))
    costs = [np.sum(-(-counts // w)) * w + _longest(-(-counts // w)) * entries for w in WIDTHS]
    if not pieces or min(costs) > room:
        return Lookup(jax.device_put(entry), None)
    width = WIDTHS[np.argmin(costs)]
    cut = -(-counts // width)  # pieces of each entry
    first = np.cumsum(cut) - cut
    piece = first[entry] + _places(entry, counts) // width
    owner = np.repeat(np.arange(entries), cut)
    users = _lists(piece, np.bincount(piece, minlength=cut.sum()))
    return Lookup(*jax.device_put((entry, users, _lists(owner, cut))))


def _longest(counts: Int[np.ndarray, " entries"]) -> int:
    return max(int(counts.max(initial=0)), 1)


def _places(
    entry: Int[np.ndarray, " cells"], counts: Int[np.ndarray, " entries"]
) -> Int[np.ndarray, " cells"]:
    """Where in the list of its entry each cell stands."""
    order = np.argsort(entry, kind="stable")
    place = np.empty(len(entry), int)
    place[order] = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place


def _lists(
    entry: Int[np.ndarray, " cells"], counts: Int[np.ndarray, " entries"]
) -> Int[np.ndarray, "entries most"]:
    """The cells of each entry, in order, padded with their number."""
    users = np.full((len(counts), _longest(counts)), len(entry))
    users[entry, _places(entry, counts)] = np.arange(len(entry))
    return users


def sums(
    index: Lookup, per_cell: Float[Array, "*batch cells"], entries: int
) -> Float[Array, "*batch entries"]:
    """Sum over the cells of each entry."""
    return _sums(entries, per_cell, index)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sums(entries, per_cell, index):
    if index.users is None:
        empty = jnp.zeros((*per_cell.shape[:-1], entries), per_cell.dtype)
        return empty.at[..., index.entry].add(per_cell)
    found = _over(index.users, per_cell)
    return found if index.pieces is None else _over(index.pieces, found)


def _over(lists, values):
    """Sum over the values that each list names."""
    padded = jnp.concatenate([values, jnp.zeros_like(values[..., :1])], axis=-1)
    return jnp.sum(padded[..., lists], axis=-1)


def _sums_forward(entries, per_cell, index):
    return _sums(entries, per_cell, index), index


def _sums_backward(entries, index, cotangent):
    """Every cell hears from its entry; left alone, lists would be scattered back."""
    return cotangent[..., index.entry], None


_sums.defvjp(_sums_forward, _sums_backward)


def take(table: Float[Array, "*batch entries"], index: Lookup) -> Float[Array, "*batch cells"]:
    """The entry that each cell reads."""
    return _take(table, index)


@jax.custom_vjp
def _take(table, index):
    # Or a CPU would compute an entry anew for every cell that reads it.
    return jax.lax.optimization_barrier(table)[..., index.entry]


def _take_forward(table, index):
    return _take(table, index), (index, table.shape[-1])


def _take_backward(saved, cotangent):
    index, entries = saved
    return _sums(entries, cotangent, index), None


_take.defvjp(_take_forward, _take_backward)
