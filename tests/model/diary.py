"""Who saw which film when: no two events at the same time, but for one pair of a viewer."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest
from jax.flatten_util import ravel_pytree

from dpmf.data import Dyads
from dpmf.kernels import Kernel, Matern12
from dpmf.likelihoods import Gaussian
from dpmf.model.density import log_density
from dpmf.model.inputs import GRID, Inputs
from dpmf.model.layout import Grids, Layout, grids, layout
from dpmf.model.simulate import simulate_state
from dpmf.model.spec import Spec, spec
from dpmf.model.state import State

ROWS, COLS = Matern12("time", length=(1, 90)), Matern12("time", length=(2, 40))
MARKOV = Inputs("markov", "as asked for")


class Diary(NamedTuple):
    spec: Spec
    data: Dyads
    grids: Grids
    arrays: Layout


def frame(count: int = 24, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    time = np.round(random.uniform(0, 60, count), 2)
    time[3], time[4] = time[2], 0.0  # one viewer, two films at once
    viewer, film = random.integers(4, size=count), random.integers(5, size=count)
    viewer[:4], viewer[2:4], film[:5] = np.arange(4), 1, np.arange(5)
    columns = {"viewer": [f"v{i}" for i in viewer], "film": [f"f{i}" for i in film]}
    return pd.DataFrame({**columns, "time": time, "stars": random.normal(3, 1, count)})


def dyads(events: pd.DataFrame) -> Dyads:
    return Dyads.from_frame(events, row="viewer", col="film", value="stars", inputs=["time"])


def diary(
    inputs: Inputs = MARKOV,
    data: Dyads | None = None,
    kernels: tuple[Kernel, Kernel] = (ROWS, COLS),
    pooled: bool = False,
) -> Diary:
    """The model at every member's own times, or on the grid of all of them."""
    data = dyads(frame()) if data is None else data
    shared = Matern12("time", length=(3, 50)) if pooled else None
    both = ((inputs, inputs), (inputs, inputs))
    rows, cols = ((kernel, shared) for kernel in kernels)
    model = spec(2, rows, cols, Gaussian(), 3.0, 1.0, both)
    return Diary(model, data, *layout(grids(model, data), data))


def state(case: Diary, seed: int = 0) -> State:
    """A state with every coordinate around 0."""
    random = np.random.default_rng(seed)
    shapes = jax.eval_shape(lambda: simulate_state(case.spec, case.arrays, jr.key(0)))
    return jax.tree.map(lambda x: jnp.asarray(random.normal(0, 0.7, x.shape)), shapes)


__all__ = ["COLS", "GRID", "MARKOV", "ROWS", "Diary", "diary", "dyads", "frame", "state"]


def require_gradient(case: Diary) -> None:
    """The gradient of the density is that of finite differences, at some coordinates."""
    one, step = state(case), 1e-6
    flat, restore = ravel_pytree(one)
    density = jax.jit(lambda x: log_density(case.spec, restore(x), case.arrays))
    gradient = jax.jit(jax.grad(density))(flat)
    for i in np.linspace(0, len(flat) - 1, 25).astype(int):
        bump = jnp.zeros_like(flat).at[i].set(step)
        slope = (density(flat + bump) - density(flat - bump)) / (2 * step)
        assert float(gradient[i]) == pytest.approx(float(slope), rel=2e-5, abs=2e-5)
