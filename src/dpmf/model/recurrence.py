r"""Linear recurrences along one long axis: $x_t = a_t x_{t-1} + b_t$, with $x_{-1} = 0$.

On a CPU the axis is cut into blocks that run side by side, and what each hands to the next is
added afterwards: two short loops in place of a long one. Elsewhere a parallel scan is faster.
Chains laid end to end are kept apart by $a_t = 0$ at the first step of each.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

WIDE = 4  # blocks are this much shorter than their number


@jax.custom_vjp
def recurrence(
    decay: Float[Array, "rank points"], steps: Float[Array, "rank points"]
) -> Float[Array, "rank points"]:
    """x, from a and b."""
    return jax.lax.platform_dependent(decay, steps, cpu=_blocked, default=_associative)


def _forward(decay, steps):
    found = recurrence(decay, steps)
    return found, (decay, found)


def _backward(saved, cotangent):
    """The same recurrence from the end: $g_t = c_t + a_{t+1} g_{t+1}$."""
    decay, found = saved
    later = jnp.flip(_shifted(jnp.flip(decay, axis=1)), axis=1)
    gradient = _reversed(later, cotangent)
    return gradient * _shifted(found), gradient


recurrence.defvjp(_forward, _backward)


def _reversed(decay, steps):
    return jnp.flip(recurrence(jnp.flip(decay, axis=1), jnp.flip(steps, axis=1)), axis=1)


def _shifted(values: Float[Array, "rank points"]) -> Float[Array, "rank points"]:
    """What stands one place before; 0 at the first."""
    return jnp.pad(values, ((0, 0), (1, 0)))[:, :-1]


def _blocked(decay, steps):
    rank, points = steps.shape
    length = max(math.isqrt(points) // WIDE, 1)
    blocks = -(-points // length)

    def cut(values):  # (place in a block, rank, blocks)
        padded = jnp.pad(values, ((0, 0), (0, length * blocks - points)))
        return jnp.moveaxis(padded.reshape(rank, blocks, length), 2, 0)

    def within(carry, step):
        last, product = carry
        new = step[0] * last + step[1], step[0] * product
        return new, new

    start = (jnp.zeros((rank, blocks)), jnp.ones((rank, blocks)))
    _, (own, product) = jax.lax.scan(within, start, (cut(decay), cut(steps)))

    def across(last, block):
        return block[0] * last + block[1], last

    ends = (product[-1].T, own[-1].T)
    _, handed = jax.lax.scan(across, jnp.zeros(rank), ends)
    whole = own + product * handed.T[None]
    return jnp.moveaxis(whole, 0, 2).reshape(rank, length * blocks)[:, :points]


def _associative(decay, steps):
    def joined(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    return jax.lax.associative_scan(joined, (decay, steps), axis=1)[1]
