"""One training problem, as both engines see it."""

import dataclasses
import math
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dpmf.model.coordinates import parameters
from dpmf.model.density import log_density
from dpmf.model.layout import Layout
from dpmf.model.predictor import Factored, with_factors
from dpmf.model.simulate import simulate_state
from dpmf.model.spec import Spec
from dpmf.model.state import Fixed, Parameters, State
from dpmf.types import pytree_dataclass


@pytree_dataclass
class Problem:
    """A model, its data, and the hyperparameters that are held fixed."""

    arrays: Layout
    fixed: Fixed
    spec: Spec = dataclasses.field(metadata={"static": True})

    def log_density(self, state: State) -> Float[Array, ""]:
        """Log posterior density of an unconstrained state, up to a constant."""
        return log_density(self.spec, state, self.arrays, self.fixed)

    def parameters(self, state: State) -> Parameters:
        """The parameters that the free coordinates stand for."""
        return parameters(self.spec, state.free, self.fixed)

    def prepared(self) -> "Problem":
        """The same problem, with all that is the same at every step computed beforehand."""
        arrays = with_factors(self.spec, self.fixed, self.arrays)
        return dataclasses.replace(self, arrays=arrays)

    def with_factors(self, over: Factored) -> "Problem":
        """The same problem for states whose factors are known."""
        rows = dataclasses.replace(self.arrays.rows, factors=over.rows)
        cols = dataclasses.replace(self.arrays.cols, factors=over.cols)
        return dataclasses.replace(
            self, arrays=dataclasses.replace(self.arrays, rows=rows, cols=cols)
        )

    def template(self) -> State:
        """The shapes of a state."""
        leaves, structure = jax.tree.flatten(self)
        shapes = tuple((np.shape(x), jnp.result_type(x)) for x in leaves)
        return _template(structure, shapes, jnp.result_type(float))

    def flat(self, state: State) -> Float[Array, " dim"]:
        """A state as one vector."""
        return ravel_pytree(state)[0]

    def unflat(self, position: Float[Array, " dim"]) -> State:
        """The state behind a vector."""
        leaves, structure = jax.tree.flatten(self.template())
        return jax.tree.unflatten(structure, _split(tuple(x.shape for x in leaves), position))


@lru_cache(maxsize=32)  # asked for ten times a program, where it is always the same
def _template(structure: Any, shapes: tuple[tuple[Any, Any], ...], real: Any) -> State:
    """The shapes of a state, by all that they depend on: `real` is what a float now is."""
    leaves = [jax.ShapeDtypeStruct(*one) for one in shapes]
    problem = jax.tree.unflatten(structure, leaves)

    def state(problem: Problem) -> State:
        return simulate_state(problem.spec, problem.arrays, jax.random.key(0), problem.fixed)

    return jax.eval_shape(state, problem)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _split(
    shapes: tuple[tuple[int, ...], ...], flat: Float[Array, " dim"]
) -> list[Float[Array, "..."]]:
    """A vector in pieces of these shapes.

    Its gradient is the pieces side by side, each computed before. Left to itself, the compiler
    makes one program of all of them, which a GPU is slow at.
    """
    sizes = [math.prod(shape) for shape in shapes]
    pieces = jnp.split(jax.lax.optimization_barrier(flat), np.cumsum(sizes)[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def _split_forward(shapes, flat):
    return _split(shapes, flat), None


def _joined(shapes, saved, pieces):
    return (jnp.concatenate([x.reshape(-1) for x in jax.lax.optimization_barrier(pieces)]),)


_split.defvjp(_split_forward, _joined)
