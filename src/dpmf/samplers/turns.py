"""Loops that are traced no more often than they need to be.

A loop is traced once more for every axis in front of it and every loop around it, which is most
of the time until a first draw where its programs are compiled already.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Shaped


def turns(one: Callable[[Any, Any], tuple[Any, Any]], carry: Any, count: int) -> Any:
    """What `jax.lax.scan` over 0, 1, ... gives, which is no loop where there is one turn alone.

    Then nothing checks that what is carried keeps its type.

    Args:
        one: A turn, of what is carried and the turn's number.
        carry: What the first turn is given.
        count: Of the turns.
    """
    if count == 1:
        carry, found = one(carry, jnp.zeros((), int))
        return carry, jax.tree.map(lambda x: x[None], found)
    return jax.lax.scan(one, carry, jnp.arange(count))


def beside(other: Shaped[Array, "..."], value: float | int) -> Shaped[Array, "..."]:
    """A constant, of the shape of `other`, that chains side by side have one each of.

    Where a loop begins with what all chains share and ends with what each has, it is traced
    twice.
    """
    kind = other.dtype if isinstance(value, float) else int
    constant = jnp.full(other.shape, value, kind)
    return jnp.where(other == other, constant, constant)
