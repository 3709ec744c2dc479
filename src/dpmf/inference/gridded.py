"""Hyperparameters of one function on shared inputs: a noisy copy is held (`surrogate`)."""

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from dpmf.inference import surrogate
from dpmf.inference.function import Function, Moved
from dpmf.model.features import factor
from dpmf.model.shared_inputs import SharedInputs
from dpmf.model.state import Theta
from dpmf.samplers import slice

Factors = tuple[Float[Array, "_ _"], ...]  # Cholesky factors of all factors of the grid


def moved(
    key: Key[Array, ""],
    function: Function,
    theta: Theta,
    white: Float[Array, "members inputs"],
    cells: Float[Array, " cells"],
    over: Factors,
    widths: Theta,
    spread: Float[Array, ""],
) -> Moved:
    """Slice every hyperparameter of one function, one factor of the grid after another.

    Args:
        key: Random key.
        function: What is moved.
        theta: Its free hyperparameters.
        white: Its white coordinates.
        cells: The function at every cell.
        over: What turns the white into the function.
        widths: Of the first bracket of each.
        spread: Variance that the data leave to one of its coordinates.
    """
    here = Moved(theta, white, cells, over, jnp.zeros(0, bool))
    each = function.kernel.factor_labels()
    dense = len(over) < len(each)
    for axis, labels in enumerate((tuple(function.priors),) if dense else each):
        if labels:
            here = _axis(jr.fold_in(key, axis), function, here, axis, labels, widths, spread)
    return here


def _axis(
    key,
    function: Function,
    here: Moved,
    axis: int,
    labels: tuple[str, ...],
    widths: Theta,
    spread,
) -> Moved:
    """Slice the hyperparameters of one factor of the grid."""
    key_copy, key_slice = jr.split(key)
    own, theta, over, priors = function.own, here.theta, here.over, function.priors
    assert isinstance(own, SharedInputs)
    values = {name: prior.value(theta[name]) for name, prior in priors.items()}
    shape = tuple(len(one) for one in over)
    others = tuple(n for i, n in enumerate(shape) if i != axis)

    def series(white):  # (other points, the factor's axis, members)
        grid = jnp.moveaxis(white.reshape(-1, *shape), (axis + 1, 0), (-2, -1))
        return grid.reshape(-1, shape[axis], white.shape[0])

    def unseries(grid):
        grid = grid.reshape(*others, shape[axis], here.white.shape[0])
        return jnp.moveaxis(grid, (-2, -1), (axis + 1, 0)).reshape(here.white.shape)

    every = series(here.white)
    spread = surrogate.spreads(
        [one for i, one in enumerate(over) if i != axis], spread, shape[axis]
    )
    copies = surrogate.copies(len(every), shape[axis])
    with_copy, beside = every[:copies], every[copies:]
    noise = jnp.sqrt(spread) * jr.normal(key_copy, with_copy.shape)
    copy = over[axis] @ with_copy + noise
    root, _, known = surrogate.given_copy(over[axis], copy, spread)
    held = jnp.swapaxes(root, -1, -2) @ with_copy - known
    position, restore = ravel_pytree({label: theta[label] for label in labels})

    def log_density(position, root, known, cells):
        free = restore(position)
        prior = sum(priors[label].log_density(free[label]) for label in labels)
        volume = jnp.sum(jnp.log(jnp.diagonal(root, axis1=-2, axis2=-1)))
        volume *= copy.size / root.size * root.shape[-1]  # a root may serve many series
        return prior + 0.5 * jnp.sum(known**2) - volume + function.log_likelihood(cells)

    def at(position):
        free = restore(position)
        new = values | {label: priors[label].value(free[label]) for label in labels}
        lower = factor(function.kernel, new, own.levels, axis)
        root, inverse, known = surrogate.given_copy(lower, copy, spread)
        turned = jnp.swapaxes(inverse, -1, -2) @ (known + held)
        white = unseries(jnp.concatenate([turned, beside]))
        each = tuple(lower if i == axis else one for i, one in enumerate(over))
        cells = own.at_cells(function.values(white, each)[None])[0]
        return log_density(position, root, known, cells), (white, cells, lower)

    start = log_density(position, root, known, here.cells), (here.white, here.cells, over[axis])
    flat_widths = ravel_pytree({label: widths[label] for label in labels})[0]
    position, (white, cells, lower), info = slice.sweep(
        key_slice, position, at, flat_widths, start, 1, surrogate.LIMIT
    )
    each = tuple(lower if i == axis else one for i, one in enumerate(over))
    stayed = jnp.concatenate([here.stayed, info.stayed])
    return Moved(theta | restore(position), white, cells, each, stayed)
