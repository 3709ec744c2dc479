"""Problems padded to one shape have the densities they had."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf import DPMF
from dpmf.model.density import log_density
from dpmf.model.gather import lookup
from dpmf.model.layout import grids, layout
from dpmf.model.stacking import common_shape, stacked
from inference.fitted import FORM, game_dyads, games, problem_of, state_of


@pytest.fixture
def layouts():
    """The same games twice, the second time without the last five."""
    data = game_dyads(games())
    spec = DPMF(2, FORM).spec(data)
    every = grids(spec, data)
    return [layout(every, data.take(np.arange(n)))[1] for n in (data.events, data.events - 5)]


def densities(layouts, arrays):
    """Of the layouts as they are, and of those in the stack."""
    problem = problem_of(DPMF(2, FORM), game_dyads(games()))
    state = state_of(problem, 3)
    apart = [float(log_density(problem.spec, state, one)) for one in layouts]
    each = jax.vmap(lambda one: log_density(problem.spec, state, one))(arrays)
    return apart, np.asarray(each)


def test_padding_changes_no_density(x64, layouts):
    apart, together = densities(layouts, stacked(layouts))
    np.testing.assert_allclose(together, apart, rtol=1e-12)


@pytest.mark.parametrize("known", [True, False])
def test_lists_in_pieces_are_not_taken_for_lists(x64, layouts, known):
    """A stack has one list for each entry or none, whatever shape it is told."""
    shape = common_shape(layouts) if known else None
    functions = layouts[0].rows.functions
    index = functions.cells
    entries = functions.members * functions.shape[1]
    cut = dataclasses.replace(
        lookup(np.asarray(index.entry), entries), pieces=jnp.arange(entries)[:, None]
    )
    rows = dataclasses.replace(
        layouts[0].rows, functions=dataclasses.replace(functions, cells=cut)
    )
    one = dataclasses.replace(layouts[0], rows=rows)
    assert stacked([one], shape).rows.functions.cells.users is None
