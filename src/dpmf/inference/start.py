"""Where chains begin: scattered around the centre of the prior, level with the data, calm."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Key

from dpmf.errors import SamplingError
from dpmf.inference import spreads
from dpmf.inference.problem import Problem
from dpmf.model.state import State

CALM = 0.3  # standard deviation of white and free coordinates, most of which have about 1
QUIET = 0.1  # scale of the columns' intercepts, against that of others


def start(problem: Problem, centre: Float[Array, ""], key: Key[Array, ""]) -> State:
    """A state near the centre of the prior whose y is about `centre` everywhere.

    Its scales are those of the data, for every feature by itself. The prior's would spread y
    by half its level, and where columns differ that much, be it in features that cancel, the
    density is so sharp that a chain can be caught there.

    Intercepts of columns begin small, so that features learn first which columns are better.
    Otherwise chance decides whether better columns have larger features or smaller ones. With
    cut points that shift with y both fit nearly alike, y being on one side of 0 or on the
    other, and no chain was seen to change over.

    Args:
        problem: What is to be sampled.
        centre: The average of y, on the link scale.
        key: Random key.
    """
    # One draw for all: a draw from every prior by itself takes ten seconds to compile.
    size = sum(x.size for x in jax.tree.leaves(problem.template()))
    calm = problem.unflat(CALM * jnp.clip(jr.normal(key, (size,)), -3.0, 3.0))
    rows = calm.free.rows
    # The first free coordinate of the row mean is the average of y over features.
    mean = rows.mean.at[0].set(centre / problem.spec.scale + CALM * 0.1 * rows.mean[0])
    cols = calm.free.cols
    if cols.intercept_sd is not None:
        cols = cols._replace(intercept_sd=cols.intercept_sd + jnp.log(QUIET))
    level = calm._replace(free=calm.free._replace(rows=rows._replace(mean=mean), cols=cols))
    jitter = jnp.exp(CALM * jr.normal(jr.fold_in(key, 1), (2, problem.spec.rank)))
    return spreads.spread_to(problem, level, CALM * jitter)


@jax.jit
def starts(problem: Problem, centre: Float[Array, ""], keys: Key[Array, " chains"]) -> State:
    """One start for each chain; compiled once for all problems of the same shape."""
    return jax.vmap(lambda key: start(problem, centre, key))(keys)


@jax.jit
def log_densities(problem: Problem, states: State) -> Float[Array, " chains"]:
    """The log posterior density of each chain's state."""
    return jax.vmap(problem.log_density)(states)


def require_finite(log_densities: Float[Array, " chains"]) -> None:
    """Refuse a start that a chain could never leave."""
    found_all = np.asarray(log_densities)
    wrong = np.flatnonzero(~np.isfinite(found_all))
    if wrong.size:
        found = found_all[wrong[0]]
        raise SamplingError(
            f"chain {wrong[0]}: the log density is {found} at the start, expected a finite "
            "number. Check the values for extreme entries, and a likelihood or kernel of "
            "your own for divisions by zero."
        )
