"""Slices along kernel hyperparameters, one latent function at a time.

A trial recomputes one factor of one side, and never a gradient. On shared inputs a noisy copy
of the function is held (`surrogate`), so it is of a series (`rescaled`) and of Markov chains
(`filtered`); elsewhere its white and its values are held in turn (`interwoven`).
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Key

from dpmf.inference import copied, interwoven, surrogate, theta
from dpmf.inference.filtered import Filtered
from dpmf.inference.problem import Problem
from dpmf.inference.rescaled import Scaled
from dpmf.kernels import Kernel
from dpmf.model.colouring import Colouring, Over
from dpmf.model.features import factor
from dpmf.model.markov import MarkovChains
from dpmf.model.noise import noise_at
from dpmf.model.predictor import (
    Coloured,
    Factored,
    all_factors,
    intercepts,
    product,
    side_features,
)
from dpmf.model.series import Series
from dpmf.model.shared_inputs import SharedInputs
from dpmf.model.state import Parameters, State, Theta
from dpmf.priors import Prior
from dpmf.samplers import slice
from dpmf.samplers.turns import turns

# A density costs a Cholesky factor, and chains side by side wait for the slowest: so brackets
# are wide enough not to be grown, and few shrinks are made before a chain stays where it is.
# Three densities are needed on average, and the slowest of hundreds of chains would need ten or
# more. With five, one slice in twelve stays, of those that would have moved least: a posterior
# of games is explored as fast as with nine.
LIMIT = 4


class _Family(NamedTuple):
    """K functions that enter the features of a side linearly: rest + mix @ functions."""

    kernel: Kernel
    priors: dict[str, Prior]
    white: Float[Array, "rank *shape"]
    own: Colouring
    mix: Float[Array, "rank rank"]

    def at_cells(
        self, white: Float[Array, "some *shape"], over: Over
    ) -> Float[Array, "some cells"]:
        """Function values at every cell."""
        return self.own.at_cells(self.own.coloured(white, over))


class _Likelihood(NamedTuple):
    """The likelihood as a function of the features of one side."""

    entries: Callable[[Float[Array, "rank cells"]], Float[Array, " cells"]]  # y
    log_prob: Callable[[Float[Array, " cells"]], Float[Array, ""]]

    def noise_of(
        self, features: Float[Array, "rank cells"], direction: Float[Array, "rank one"]
    ) -> Float[Array, ""]:
        """Variance that the data leave to all values of a function together."""
        along = jnp.broadcast_to(direction, features.shape)
        y, slope = jax.jvp(self.entries, (features,), (along,))
        curvature = -jax.jvp(jax.grad(self.log_prob), (y,), (jnp.ones_like(y),))[1]
        return 1 / jnp.maximum(jnp.sum(jnp.maximum(curvature, 0.0) * slope**2), 1e-12)


class _Moved(NamedTuple):
    """What a trial of a hyperparameter leads to."""

    white: Float[Array, "members inputs"]
    cells: Float[Array, " cells"]  # the function at every cell
    factor: Float[Array, "levels levels"]


def moved(
    key: Key[Array, ""], problem: Problem, state: State, widths: Float[Array, " theta"]
) -> tuple[State, Factored, Bool[Array, " slices"]]:
    """Slice every hyperparameter once; white follows as the held copies say.

    Args:
        key: Random key.
        problem: What is sampled.
        state: Where the chain is.
        widths: Of the first bracket of each, in the order of `theta.free_values`.

    Returns:
        The new state, its factors, and of every slice whether it was cut off.
    """
    by_name = ravel_pytree(theta.free_values(state.free))[1](widths)
    over = all_factors(problem.spec, problem.parameters(state), problem.arrays)
    stayed = [jnp.zeros(0, bool)]
    for number, name in enumerate(by_name):
        side, part = name.split()
        key_part = jr.fold_in(key, number)
        new = _part(key_part, problem, state, over, side, part, by_name[name])
        own = getattr(state.free, side)._replace(**{part: new.theta})
        white = side if part == "theta" else f"{side}_pooled"
        state = State(
            state.white._replace(**{white: new.white}),
            state.free._replace(**{side: own}),
        )
        functions = "functions" if part == "theta" else "pooled"
        factors: Coloured = getattr(over, side)._replace(**{functions: new.over})
        over = over._replace(**{side: factors})
        stayed.append(new.stayed.reshape(-1))
    return state, over, jnp.concatenate(stayed)


def _part(
    key: Key[Array, ""],
    problem: Problem,
    state: State,
    factored: Factored,
    side: str,
    part: str,
    widths: Theta,
) -> interwoven.Moved:
    """Slice the hyperparameters of one family of functions, one function after another.

    What is found has an axis of functions in front.
    """
    values = problem.parameters(state)
    family = _family(problem, state, values, side, part)
    coloured: Coloured = getattr(factored, side)
    over = coloured.functions if part == "theta" else coloured.pooled
    now = family.at_cells(family.white, over)
    features, likelihood = _side(problem, state, values, factored, side)
    rest = features - family.mix @ now  # what other functions of the side add up to
    free: Theta = getattr(getattr(state.free, side), part)

    def one(now, k):
        theta, own_widths = jax.tree.map(lambda x: x[k], (free, widths))
        direction = family.mix[:, k][:, None]
        others = rest + family.mix @ now - direction * now[k]

        def log_likelihood(at_cells):
            return likelihood.log_prob(likelihood.entries(others + direction * at_cells))

        given = _Given(
            now[k],
            jax.tree.map(lambda x: x[k], over),
            likelihood.noise_of(others, direction) * family.white[k].size,
            log_likelihood,
        )
        key_k = jr.fold_in(key, k)
        found = _function(family.own, key_k, family, theta, family.white[k], own_widths, given)
        return now.at[k].set(found.cells), found

    return turns(one, now, now.shape[0])[1]


class _Given(NamedTuple):
    """One function where it is, and what the data say of it."""

    cells: Float[Array, " cells"]
    over: Over
    spread: Float[Array, ""]  # variance that the data leave to one of its coordinates
    log_likelihood: Callable[[Float[Array, " cells"]], Float[Array, ""]]


@singledispatch
def _function(
    own: Colouring, key, family: _Family, theta: Theta, white, widths: Theta, given: _Given
) -> interwoven.Moved:
    """Slice the hyperparameters of one function, in the way of its representation."""
    one = interwoven.Function(own, family.kernel, family.priors, given.log_likelihood)
    return interwoven.moved(key, one, theta, white, widths)


@_function.register
def _of_series(
    own: Series, key, family: _Family, theta: Theta, white, widths: Theta, given: _Given
) -> interwoven.Moved:
    """Every cell of a member sees all its coefficients."""
    one = interwoven.Function(own, family.kernel, family.priors, given.log_likelihood)
    spread = given.spread / own.shape[1]
    return copied.moved(key, one, theta, white, widths, spread, Scaled.of)


@_function.register
def _of_markov_chains(
    own: MarkovChains, key, family: _Family, theta: Theta, white, widths: Theta, given: _Given
) -> interwoven.Moved:
    """A cell sees one point."""
    one = interwoven.Function(own, family.kernel, family.priors, given.log_likelihood)
    return copied.moved(key, one, theta, white, widths, given.spread, Filtered.of)


@_function.register
def _on_shared_inputs(
    own: SharedInputs, key, family: _Family, theta: Theta, white, widths: Theta, given: _Given
) -> interwoven.Moved:
    """One factor of the grid after another."""
    cells, over, stayed = given.cells, list(given.over), []
    each = family.kernel.factor_labels()
    dense = len(own.levels) < len(each)
    for axis, labels in enumerate((tuple(family.priors),) if dense else each):
        if labels:
            theta, moved, own_stayed = _axis(
                jr.fold_in(key, axis), family, theta, white, cells, over, axis, labels, widths,
                given.spread, given.log_likelihood,
            )  # fmt: skip
            white, cells, over[axis] = moved
            stayed.append(own_stayed)
    return interwoven.Moved(theta, white, cells, tuple(over), jnp.concatenate(stayed))


def _axis(
    key,
    family: Any,
    theta: Theta,
    white,
    cells,
    over,
    axis,
    labels,
    widths,
    spread,
    log_likelihood,
):
    """Slice the hyperparameters of one factor of one function's grid.

    `over` holds the Cholesky factors of all factors of the grid.
    """
    key_copy, key_slice = jr.split(key)
    values = {name: prior.value(theta[name]) for name, prior in family.priors.items()}
    shape = tuple(len(one) for one in over)

    others = tuple(n for i, n in enumerate(shape) if i != axis)

    def series(white):  # (other points, the factor's axis, members)
        grid = jnp.moveaxis(white.reshape(-1, *shape), (axis + 1, 0), (-2, -1))
        return grid.reshape(-1, shape[axis], white.shape[0])

    def unseries(grid):
        grid = grid.reshape(*others, shape[axis], white.shape[0])
        return jnp.moveaxis(grid, (-2, -1), (axis + 1, 0)).reshape(white.shape)

    every = series(white)
    spread = surrogate.spreads(
        [one for i, one in enumerate(over) if i != axis], spread, shape[axis]
    )
    copied = surrogate.copied(len(every), shape[axis])
    here, beside = every[:copied], every[copied:]
    noise = jnp.sqrt(spread) * jr.normal(key_copy, here.shape)
    copy = over[axis] @ here + noise
    root, _, known = surrogate.given_copy(over[axis], copy, spread)
    held = jnp.swapaxes(root, -1, -2) @ here - known
    position, restore = ravel_pytree({label: theta[label] for label in labels})

    def log_density(position, root, known, cells):
        free = restore(position)
        prior = sum(family.priors[label].log_density(free[label]) for label in labels)
        volume = jnp.sum(jnp.log(jnp.diagonal(root, axis1=-2, axis2=-1)))
        volume *= copy.size / root.size * root.shape[-1]  # a root may serve many series
        return prior + 0.5 * jnp.sum(known**2) - volume + log_likelihood(cells)

    def at(position):
        free = restore(position)
        new = values | {label: family.priors[label].value(free[label]) for label in labels}
        lower = factor(family.kernel, new, family.own.levels, axis)
        root, inverse, known = surrogate.given_copy(lower, copy, spread)
        turned = jnp.swapaxes(inverse, -1, -2) @ (known + held)
        white = unseries(jnp.concatenate([turned, beside]))
        each = tuple((lower if i == axis else one)[None] for i, one in enumerate(over))
        cells = family.at_cells(white[None], each)[0]
        return log_density(position, root, known, cells), _Moved(white, cells, lower)

    flat_widths = ravel_pytree({label: widths[label] for label in labels})[0]
    start = log_density(position, root, known, cells), _Moved(white, cells, over[axis])
    position, moved, info = slice.sweep(
        key_slice, position, at, flat_widths, start, budget=1, limit=LIMIT
    )
    return theta | restore(position), moved, info.stayed


def _family(
    problem: Problem, state: State, values: Parameters, side: str, part: str
) -> _Family:
    spec, cells = getattr(problem.spec, side), getattr(problem.arrays, side)
    shared: Any = getattr(values, side)
    if part == "theta":
        white = getattr(state.white, side)
        mix = shared.sd[:, None] * shared.corr
        return _Family(spec.kernel, spec.theta(), white, cells.functions, mix)
    white, mix = getattr(state.white, f"{side}_pooled"), jnp.diag(shared.pooled_sd)
    return _Family(spec.pooled, spec.pooled_theta(), white, cells.pooled, mix)


def _side(
    problem: Problem, state: State, values: Parameters, over: Factored, side: str
) -> tuple[Float[Array, "rank cells"], _Likelihood]:
    """The features of one side, and the likelihood as a function of them."""
    spec, arrays, white = problem.spec, problem.arrays, state.white

    def features(name: str) -> Float[Array, "rank cells"]:
        shared, cells = getattr(values, name), getattr(arrays, name)
        own, pooled = getattr(white, name), getattr(white, f"{name}_pooled")
        return side_features(own, pooled, getattr(over, name), shared, cells)

    other = features("cols" if side == "rows" else "rows")
    unit = jax.nn.softplus(other)
    noise = noise_at(spec, white, values, arrays)

    added = intercepts(white, values, arrays)

    def entries(own):
        pair = (own, unit) if side == "rows" else (other, jax.nn.softplus(own))
        return product(*pair) + added

    def log_prob(y):
        each = noise.log_prob(y.reshape(arrays.values.shape), arrays.values)
        return jnp.sum(arrays.weight * each)

    return features(side), _Likelihood(entries, log_prob)
