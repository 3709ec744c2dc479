"""How the chains of one step run: as one array, or each by itself on a core of its own.

As one array they share every instruction, which a GPU and small problems need. On a CPU the
sums over members of large problems are then four times slower than one chain after another
(two chains, 90,000 ratings). Where jax has several CPU devices, they share the chains:

    jax.config.update("jax_num_cpu_devices", 2)  # before anything is computed
"""

import math
from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AxisType, PartitionSpec

LARGE = 20_000  # cells from which on chains run by themselves on a CPU
_AXIS = "chains"


def chains_apart(cells: int) -> bool:
    """Whether chains of a problem of this size run by themselves."""
    return jax.default_backend() == "cpu" and cells >= LARGE


def each_chain(one: Callable[..., Any], shared: Any, own: Any, *, apart: bool) -> Any:
    """`one(shared, own)` of every chain, stacked.

    Args:
        one: What a chain does; it returns arrays.
        shared: What all chains share.
        own: What each has; leading axis chains.
        apart: Whether chains run by themselves.
    """
    if not apart:
        return jax.vmap(one, in_axes=(None, 0))(shared, own)

    def in_turn(shared, own):
        return jax.lax.map(lambda mine: one(shared, mine), own)

    count = math.gcd(jax.tree.leaves(own)[0].shape[0], jax.local_device_count())
    if count == 1:
        return in_turn(shared, own)
    mesh = jax.make_mesh(
        (count,), (_AXIS,), axis_types=(AxisType.Auto,), devices=jax.local_devices()[:count]
    )
    everyone, split = PartitionSpec(), PartitionSpec(_AXIS)
    # What chains share is the same on every core: there is nothing to check.
    spread = jax.shard_map(
        in_turn, mesh=mesh, in_specs=(everyone, split), out_specs=split, check_vma=False
    )
    return spread(shared, own)
