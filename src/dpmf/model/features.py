"""From white noise to the feature functions of every row (or column)."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.kernels import Kernel
from dpmf.kernels.factor import cholesky_factor, dense_gram, jittered_gram
from dpmf.model.state import Theta

# Up to this size a product is written as a sum, which is fused with what comes before and
# after: libraries are slow at matrices of a few rows.
FEW = 8
Factors = tuple[Float[Array, "_ _ _"], ...]  # rank (or 1) x levels x levels, of each factor


def factors(kernel: Kernel, theta: Theta, levels: tuple[Float[Array, "_ _"], ...]) -> Factors:
    """Cholesky factors over the levels of each factor of the grid, for each latent function.

    Args:
        kernel: Kernel of the side.
        theta: Its hyperparameters, one set per latent function.
        levels: Of each factor of the kernel, or of all of them together (dense).
    """

    def one(theta: Theta) -> tuple[Float[Array, "_ _"], ...]:
        return tuple(factor(kernel, theta, levels, axis) for axis in range(len(levels)))

    if not theta:  # nothing varies between the latent functions
        return tuple(factor[None] for factor in one({}))
    return jax.vmap(one)(theta)


def factor(
    kernel: Kernel, theta: Theta, levels: tuple[Float[Array, "_ _"], ...], axis: int
) -> Float[Array, "levels levels"]:
    """One of the factors, for one latent function."""
    return cholesky_factor(gram(kernel, theta, levels, axis))


def gram(
    kernel: Kernel, theta: Theta, levels: tuple[Float[Array, "_ _"], ...], axis: int = 0
) -> Float[Array, "levels levels"]:
    """What is factored: correlations between levels, with their jitter."""
    parts, correlations = kernel.factors(), kernel.factors_at(theta)
    if len(levels) == len(parts):
        return jittered_gram(correlations[axis], levels[axis])
    ends = [sum(len(p.columns) for p in parts[: i + 1]) for i in range(len(parts))]
    spans = [
        tuple(range(end - len(p.columns), end)) for p, end in zip(parts, ends, strict=True)
    ]
    return dense_gram(list(zip(correlations, spans, strict=True)), levels[0])


def coloured(
    white: Float[Array, "rank members inputs"], over_inputs: Factors
) -> Float[Array, "rank members inputs"]:
    r"""White noise into functions: $f_{km} = (L_{k1} \otimes L_{k2} \otimes \dots) w_{km}$."""
    shape = tuple(factor.shape[-1] for factor in over_inputs)
    grid = white.reshape(*white.shape[:2], *shape)
    for axis, factor in enumerate(over_inputs):
        grid = along(grid, factor, axis + 2)
    return grid.reshape(white.shape[0], white.shape[1], math.prod(shape))


def along(
    grid: Float[Array, "rank members *levels"],
    factor: Float[Array, "#rank out in"],
    axis: int,
) -> Float[Array, "rank members *out"]:
    """Multiply one axis of a grid of functions by each latent function's matrix."""
    if factor.shape[-1] <= FEW:  # where it is: nothing is moved
        beside = [1] * (grid.ndim - axis - 1)
        columns = factor.reshape(len(factor), *[1] * (axis - 1), -1, *beside, factor.shape[-1])
        levels = jnp.split(grid, factor.shape[-1], axis)
        parts = (level * columns[..., i] for i, level in enumerate(levels))
        return sum(parts, jnp.zeros(()))
    last = jnp.moveaxis(grid, axis, -1)
    rows = last.reshape(last.shape[0], -1, last.shape[-1])
    every = jnp.broadcast_to(factor, (rows.shape[0], *factor.shape[1:]))
    product = jnp.einsum("kni,koi->kno", rows, every)
    return jnp.moveaxis(product.reshape(*last.shape[:-1], factor.shape[1]), -1, axis)


def features(
    functions: Float[Array, "rank *shape"], across_rank: Float[Array, "rank rank"]
) -> Float[Array, "rank *shape"]:
    r"""What members add to the mean: $u_m - \mu = L f_m$, pointwise in the inputs."""
    return mixed(across_rank, functions)


def mixed(
    matrix: Float[Array, "out rank"], functions: Float[Array, "rank *shape"]
) -> Float[Array, "out *shape"]:
    """Sums of functions, each with the weights of a row of the matrix."""
    return _mixed(matrix, functions)  # which, with its own gradient, cannot carry shapes


# With a gradient of its own: left to itself, that of the matrix is a sum over all points for
# each of its entries, which a CPU computes anew and a GPU one after another.
@jax.custom_vjp
def _mixed(matrix, functions):
    if len(functions) > FEW:
        return jnp.einsum("ok,k...->o...", matrix, functions)
    parts = (scaled(matrix[:, k], functions[k][None]) for k in range(len(functions)))
    return sum(parts, jnp.zeros(()))


def _mixed_forward(matrix, functions):
    return _mixed(matrix, functions), (matrix, functions)


def _mixed_backward(saved, cotangent):
    matrix, functions = saved
    each = jnp.einsum("om...,km...->mok", cotangent, functions)
    return jnp.sum(each, axis=0), _mixed(matrix.T, cotangent)


_mixed.defvjp(_mixed_forward, _mixed_backward)


def scaled(
    weights: Float[Array, " rank"], functions: Float[Array, "#rank *shape"]
) -> Float[Array, "rank *shape"]:
    """Each function times its weight."""
    return weights.reshape(-1, *[1] * (functions.ndim - 1)) * functions
