"""The log posterior density of a state, and its parts."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.model.coordinates import log_prior, parameters
from dpmf.model.layout import Layout
from dpmf.model.noise import noise_at
from dpmf.model.predictor import predictor
from dpmf.model.spec import Spec
from dpmf.model.state import FREE_ALL, Fixed, State


def log_likelihoods(
    spec: Spec, state: State, arrays: Layout, fixed: Fixed = FREE_ALL
) -> Float[Array, " events"]:
    """Log probability of each event."""
    values = parameters(spec, state.free, fixed)
    y = predictor(spec, state.white, values, arrays)
    return noise_at(spec, state.white, values, arrays).log_prob(y, arrays.values)


def log_likelihood(
    spec: Spec, state: State, arrays: Layout, fixed: Fixed = FREE_ALL
) -> Float[Array, ""]:
    """Log probability of all events; those of weight 0 only fill a shape."""
    return jnp.sum(arrays.weight * log_likelihoods(spec, state, arrays, fixed))


def log_white(state: State) -> Float[Array, ""]:
    """Log prior density of the functions, up to a constant."""
    squares = [jnp.sum(one**2) for one in jax.tree.leaves(state.white)]
    return -0.5 * jnp.sum(jnp.stack(squares))


def log_density(
    spec: Spec, state: State, arrays: Layout, fixed: Fixed = FREE_ALL
) -> Float[Array, ""]:
    """Log posterior density, up to a constant."""
    prior = log_prior(spec, state.free, fixed) + log_white(state)
    return prior + log_likelihood(spec, state, arrays, fixed)
