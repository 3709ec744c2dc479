r"""What the parameters do to y, to first order: a level, what a row adds, what a column adds.

$$ y \approx \ell + \sum_k c_k (u_k - \mu_k) + \sum_k m_k \frac{\sigma_k}{c_k} (v_k - \mu^V_k),
   \qquad m_k = c_k \mu_k, \quad \sum_k m_k = \ell . $$

Of the K features of a member the data see one direction, and leave the others to the prior. In
white coordinates that direction is $b = M^\top c$ for rows, with $M$ the factor of Sigma: it
turns with every scale and correlation, and for columns with every contrast between the $m_k$.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dpmf.inference import level
from dpmf.inference.problem import Problem
from dpmf.model.coordinates import sum_first
from dpmf.model.state import Parameters, State


def on_rows(values: Parameters) -> Float[Array, "rank rank"]:
    """What white of a row adds to y through each feature."""
    unit = jax.nn.softplus(values.cols.mean)
    return (values.rows.sd * unit)[:, None] * values.rows.corr


def on_cols(values: Parameters) -> Float[Array, "rank rank"]:
    """What white of a column adds to each feature, relative to its mean."""
    cols = values.cols
    slope = jax.nn.sigmoid(cols.mean) / jax.nn.softplus(cols.mean)
    return (cols.sd * slope)[:, None] * cols.corr


def levels(problem: Problem, state: State) -> Float[Array, " rank"]:
    """What features add to the level, in units of the row mean: the sum, then contrasts.

    Taken from the coordinates of a levelled state, where the sum is one of them.
    """
    mean, pooled = state.free.rows.mean, state.white.rows_pooled
    if level.by_point(problem) is None:
        return mean
    weight = jnp.where(level.settled(problem), level.count(problem), 0.0)
    total = jnp.sum(weight)
    average = pooled[:, 0] @ weight / jnp.maximum(total, 1e-300)
    kept = jnp.where(total > 0, 0.0, mean[0])  # no level: the mean itself is a coordinate
    return mean.at[0].set(kept) + average


def row_direction(problem: Problem, state: State) -> Float[Array, " rank"]:
    """b of the rows."""
    return jnp.sum(on_rows(problem.parameters(state)), axis=0)


def col_direction(problem: Problem, state: State) -> Float[Array, " rank"]:
    """b of the columns, in units of the row mean, from a levelled state."""
    each = through(levels(problem, state), sum_first(problem.spec.rank).T)
    return through(each, on_cols(problem.parameters(state)))


def through(
    vector: Float[Array, " rank"], matrix: Float[Array, "rank other"]
) -> Float[Array, " other"]:
    """A product written as a sum, which is fused with what comes before and after."""
    return jnp.sum(vector[:, None] * matrix, axis=0)


def length_of(vector: Float[Array, " contrasts"]) -> Float[Array, ""]:
    """Of a vector; never quite 0, where its gradient would be lost."""
    return jnp.sqrt(jnp.sum(vector**2) + 1e-20)


def turned(
    vectors: Float[Array, "rank some"],
    start: Float[Array, " rank"],
    end: Float[Array, " rank"],
) -> Float[Array, "rank some"]:
    """Vectors after the rotation that takes a unit vector to another, in their plane."""
    both = start + end
    across = both[:, None] * through(both, vectors) / (1 + jnp.sum(start * end))
    return vectors - across + 2 * end[:, None] * through(start, vectors)
