"""Slices along kernel hyperparameters, one latent function at a time.

A trial recomputes one factor of one side, and never a gradient. A noisy copy of the function
is held on shared inputs (`gridded`), and of series and Markov chains (`copied`); elsewhere its
white and its values are held in turn (`interwoven`).
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Key

from dpmf.inference import copied, gridded, interwoven, theta
from dpmf.inference.filtered import Filtered
from dpmf.inference.function import Function, Moved
from dpmf.inference.problem import Problem
from dpmf.inference.rescaled import Rescaled
from dpmf.kernels import Kernel
from dpmf.model.colouring import Colouring, Over
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
from dpmf.samplers.turns import turns


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
        each = jnp.maximum(curvature, 0.0) * slope**2
        # A likelihood may have no second derivative at some values.
        return 1 / jnp.maximum(jnp.sum(jnp.where(jnp.isfinite(each), each, 0.0)), 1e-12)


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
) -> Moved:
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

        white, own_over = jax.tree.map(lambda x: x[k], (family.white, over))
        spread = likelihood.noise_of(others, direction) * white.size
        here = _Here(now[k], own_over, spread)
        function = Function(family.own, family.kernel, family.priors, log_likelihood)
        key_k = jr.fold_in(key, k)
        found = _function(family.own, key_k, function, theta, white, own_widths, here)
        return now.at[k].set(found.cells), found

    return turns(one, now, now.shape[0])[1]


class _Here(NamedTuple):
    """Where one function is, and how far the data say so."""

    cells: Float[Array, " cells"]
    over: Over
    spread: Float[Array, ""]  # variance that the data leave to one of its coordinates


@singledispatch
def _function(
    own: Colouring, key, one: Function, theta: Theta, white, widths: Theta, here: _Here
) -> Moved:
    """Slice the hyperparameters of one function, in the way of its representation."""
    return interwoven.moved(key, one, theta, white, widths)


@_function.register
def _of_series(
    own: Series, key, one: Function, theta: Theta, white, widths: Theta, here: _Here
) -> Moved:
    """Every cell of a member sees all its coefficients."""
    spread = here.spread / own.shape[1]
    return copied.moved(key, one, theta, white, here.cells, widths, spread, Rescaled.by)


@_function.register
def _of_markov_chains(
    own: MarkovChains, key, one: Function, theta: Theta, white, widths: Theta, here: _Here
) -> Moved:
    """A cell sees one point."""
    return copied.moved(key, one, theta, white, here.cells, widths, here.spread, Filtered.by)


@_function.register
def _on_shared_inputs(
    own: SharedInputs, key, one: Function, theta: Theta, white, widths: Theta, here: _Here
) -> Moved:
    return gridded.moved(key, one, theta, white, here.cells, here.over, widths, here.spread)


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
