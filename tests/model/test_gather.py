"""Lookups and their gradients against plain indexing and numpy's scatter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmf.model import gather
from dpmf.model.gather import lookup, sums, take

ENTRIES, CELLS = 5, 12
ENTRY = np.array([3, 0, 3, 3, 1, 3, 3, 3, 4, 3, 3, 3])  # entry 2 is never read, entry 3 most


@pytest.fixture(params=["lists", "pieces", "scatter"])
def index(request, monkeypatch):
    if request.param != "lists":
        monkeypatch.setattr(gather, "PADDING_LIMIT", 0 if request.param == "scatter" else 3)
        monkeypatch.setattr(gather, "WIDTHS", np.array([5]))
    index = lookup(ENTRY, ENTRIES, pieces=True)
    assert (index.users is None) == (request.param == "scatter")
    assert (index.pieces is not None) == (request.param == "pieces")
    return index


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
def test_take_is_indexing_and_so_is_its_gradient(index, batch):
    random = np.random.default_rng(0)
    table = jnp.asarray(random.normal(size=(*batch, ENTRIES)))
    weight = jnp.asarray(random.normal(size=(*batch, CELLS)))

    def total(function):
        return lambda table: jnp.sum(weight * jnp.sin(function(table)))

    found = jax.jit(lambda t: take(t, index))(table)
    np.testing.assert_array_equal(found, np.asarray(table)[..., ENTRY])
    gradient = jax.jit(jax.grad(total(lambda t: take(t, index))))(table)
    expected = jax.grad(total(lambda t: t[..., ENTRY]))(table)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(gradient[..., 2], 0)


def test_take_under_vmap(index):
    random = np.random.default_rng(0)
    tables = jnp.asarray(random.normal(size=(4, 2, ENTRIES)))
    values = jax.vmap(lambda t: take(t, index))(tables)
    np.testing.assert_array_equal(values, np.asarray(tables)[..., ENTRY])

    def gradient(table):
        return jax.grad(lambda t: jnp.sum(take(t, index) ** 3))(table)

    each = jnp.stack([gradient(table) for table in tables])
    np.testing.assert_allclose(jax.vmap(gradient)(tables), each, rtol=1e-12)


@given(entry=st.lists(st.integers(0, ENTRIES - 1), min_size=CELLS, max_size=CELLS))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_sums_are_those_of_numpy(entry):
    with jax.enable_x64(True):
        entry = np.array(entry)
        per_cell = np.random.default_rng(0).normal(size=(2, CELLS))
        expected = np.zeros((2, ENTRIES))
        np.add.at(expected, (slice(None), entry), per_cell)
        index = lookup(entry, ENTRIES)
        assert index.users is not None
        for way in (index, gather.Lookup(index.entry, None)):
            found = sums(way, jnp.asarray(per_cell), ENTRIES)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_sums_hear_back_from_their_entries(index, x64):
    """Their gradient is a lookup; left to jax it would be a scatter."""
    random = np.random.default_rng(0)
    per_cell, weight = (jnp.asarray(random.normal(size=(2, n))) for n in (CELLS, ENTRIES))

    def total(x):
        return jnp.sum(weight * jnp.sin(sums(index, x, ENTRIES)))

    expected = (weight * jnp.cos(sums(index, per_cell, ENTRIES)))[:, ENTRY]
    np.testing.assert_allclose(jax.grad(total)(per_cell), expected, rtol=1e-12)
    assert "scatter" not in str(jax.make_jaxpr(jax.vjp(total, per_cell)[1])(1.0))


def test_a_few_entries_with_most_of_the_cells():
    """Their lists are cut into pieces, so that nothing is scattered on a GPU."""
    with jax.enable_x64(True):
        random = np.random.default_rng(0)
        weight = np.arange(1, 301.0) ** -0.8
        entry = random.choice(300, 5000, p=weight / weight.sum())
        index = lookup(entry, 300, pieces=True)
        assert index.pieces is not None
        per_cell = random.normal(size=5000)
        expected = np.bincount(entry, per_cell, minlength=300)
        found = sums(index, jnp.asarray(per_cell), 300)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        plain = lookup(entry, 300, pieces=False)
        assert plain.users is None and not index.listed
        table = jnp.asarray(random.normal(size=300))
        gradients = [
            jax.grad(lambda t, way=way: jnp.sum(jnp.sin(take(t, way)) * per_cell))(table)
            for way in (index, plain)
        ]
        np.testing.assert_allclose(*gradients, rtol=1e-10, atol=1e-12)


@given(entry=st.lists(st.integers(0, 30), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_lists_hold_every_cell_once(entry):
    entry = np.array(entry)
    users = lookup(entry, 31).users
    if users is None:
        assert np.bincount(entry).max() * 31 > gather.PADDING_LIMIT * len(entry)
        return
    for one, cells in enumerate(np.asarray(users)):
        real = cells[cells < len(entry)]
        np.testing.assert_array_equal(real, np.flatnonzero(entry == one))


def test_long_lists_are_left_to_scatter():
    """One entry that all cells read would pad every other list to its length."""
    assert lookup(np.zeros(100, int), 9).users is None
    assert lookup(np.zeros(100, int), 8).users is not None
    assert lookup(np.zeros(0, int), 3).users is not None
