"""Draws from the prior: a state, and the values it produces."""

import jax.random as jr
from jaxtyping import Array, Float, Key

from dpmf.model.coordinates import free_coordinates, parameters, sample_parameters
from dpmf.model.layout import Layout, SideLayout
from dpmf.model.noise import noise_at
from dpmf.model.predictor import predictor
from dpmf.model.spec import SideSpec, Spec
from dpmf.model.state import FREE_ALL, Fixed, State, White


def white_shapes(spec: Spec, arrays: Layout) -> White:
    """Shapes of all white blocks."""
    rank = spec.rank

    def own(cells: SideLayout) -> tuple[int, ...]:
        return rank, *cells.functions.shape

    def pooled(cells: SideLayout) -> tuple[int, ...] | None:
        return None if cells.pooled is None else (rank, *cells.pooled.shape)

    def intercept(side: SideSpec, cells: SideLayout) -> tuple[int, ...] | None:
        return None if side.intercept is None else (cells.members,)

    rows, cols = arrays.rows, arrays.cols
    added = intercept(spec.rows, rows), intercept(spec.cols, cols)
    noise = spec.likelihood.own and (rows.members, spec.likelihood.own.size)
    return White(own(rows), own(cols), pooled(rows), pooled(cols), *added, noise)


def sample_white(key: Key[Array, ""], shapes: White) -> White:
    """Functions drawn from the prior, whatever the hyperparameters."""
    keys = jr.split(key, len(shapes))
    pairs = zip(keys, shapes, strict=True)
    return White(*(None if shape is None else jr.normal(k, shape) for k, shape in pairs))


def simulate_state(
    spec: Spec, arrays: Layout, key: Key[Array, ""], fixed: Fixed = FREE_ALL
) -> State:
    """A state drawn from the prior."""
    key_white, key_values = jr.split(key)
    values = sample_parameters(spec, key_values)
    white = sample_white(key_white, white_shapes(spec, arrays))
    return State(white, free_coordinates(spec, values, fixed))


def simulate_values(
    spec: Spec,
    state: State,
    arrays: Layout,
    key: Key[Array, ""],
    fixed: Fixed = FREE_ALL,
) -> Float[Array, "events pair"]:
    """Values of all events, drawn given a state."""
    values = parameters(spec, state.free, fixed)
    y = predictor(spec, state.white, values, arrays)
    return noise_at(spec, state.white, values, arrays).sample(key, y)
