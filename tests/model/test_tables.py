"""Members are put into few padded tables, in the way that costs least."""

import itertools

import numpy as np
import pytest

from dpmf.model.tables import MOST_TABLES, places, tables, widths


def cost(count, chosen, power):
    """Of rows padded to the next width."""
    return sum(min(w for w in chosen if w >= n) ** power for n in count if n)


@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_widths_are_the_best_of_all(power, seed):
    random = np.random.default_rng(seed)
    count = random.geometric(0.15, 30) * random.integers(2, size=30)
    found = widths(count, power)
    sizes = np.unique(count[count > 0])
    every = itertools.chain(
        *(itertools.combinations(sizes, n) for n in range(1, MOST_TABLES + 1))
    )
    best = min(cost(count, one, power) for one in every if one[-1] == sizes[-1])
    assert cost(count, found, power) == best
    assert len(found) <= MOST_TABLES


def test_one_heavy_user_does_not_pad_everyone():
    count = np.array([3] * 1000 + [500])
    assert widths(count, 3) == (3, 500)


def test_every_point_has_its_place():
    whose = np.array([0, 0, 0, 2, 3, 3, 3, 5])
    each = tables(whose, 3)
    assert [one.members.tolist() for one in each] == [[2, 5], [0, 3]]
    assert [one.point.tolist() for one in each] == [[[3], [7]], [[0, 1, 2], [4, 5, 6]]]
    flat = np.concatenate([one.point.reshape(-1) for one in each])
    np.testing.assert_array_equal(flat[places(each, 8)], np.arange(8))


def test_nobody_needs_no_table():
    assert tables(np.zeros(0, int), 3) == ()
