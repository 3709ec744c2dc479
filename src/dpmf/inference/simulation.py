"""Events drawn from the prior."""

import dataclasses

import jax
import jax.random as jr
import numpy as np

from dpmf.data import Dyads
from dpmf.model.coordinates import parameters
from dpmf.model.layout import grids, layout
from dpmf.model.predictor import predictor
from dpmf.model.simulate import simulate_state, simulate_values
from dpmf.model.spec import Spec
from dpmf.model.state import Parameters, State


@dataclasses.dataclass(frozen=True, eq=False)
class Simulation:
    """Events drawn from the prior, with what produced them."""

    data: Dyads
    parameters: Parameters
    y: np.ndarray
    state: State


def simulated(spec: Spec, data: Dyads, seed: int) -> Simulation:
    """New values for the events of `data`, and the state behind them."""
    arrays = layout(grids(spec, data), data)[1]
    key_state, key_values = jr.split(jr.key(seed))
    state = simulate_state(spec, arrays, key_state)
    values = parameters(spec, state.free)
    y = predictor(spec, state.white, values, arrays)
    drawn = simulate_values(spec, state, arrays, key_values)
    replaced = dataclasses.replace(data, values=np.asarray(drawn))
    host = jax.tree.map(np.asarray, (values, state))
    return Simulation(replaced, host[0], np.asarray(y), host[1])
