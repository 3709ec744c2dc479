"""The training block that samplers are compared on."""

from pathlib import Path

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from block import block

from dpmf.inference.start import log_densities, starts


def test_a_block_of_the_embedded_games_is_a_problem_that_chains_can_start_on(x64):
    own = block(2, Path("there is no such file"))
    assert own.name == "NFL, season 2018, block 4"
    chains = starts(own.problem, jnp.asarray(own.centre), jr.split(jr.key(0), 3))
    assert np.isfinite(np.asarray(log_densities(own.problem, chains))).all()
    assert 15 < own.centre < 30  # points of a team in a game of football
