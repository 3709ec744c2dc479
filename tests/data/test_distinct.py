"""Distinct points keep first-seen order, and extension never moves an old one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpmf.data import distinct, extended

# Few different coordinates, so that points meet; both zeros are among them.
COORDINATES = st.sampled_from([-1.5, -0.0, 0.0, 1e-300, 0.1 + 0.2, 0.3, 7.0])


def points(columns):
    rows = st.integers(0, 12)
    return rows.flatmap(lambda n: hnp.arrays(float, (n, columns), elements=COORDINATES))


def first_seen(found):
    """The slow twin: a dictionary keeps insertion order, and -0.0 hashes as 0.0."""
    return list(dict.fromkeys(map(tuple, found.tolist())))


def test_order_is_that_of_first_appearance():
    levels, index = distinct(np.array([[3.0], [1.0], [3.0], [2.0], [1.0]]))
    np.testing.assert_array_equal(levels, [[3.0], [1.0], [2.0]])
    np.testing.assert_array_equal(index, [0, 1, 0, 2, 1])


def test_the_two_zeros_are_one_level():
    levels, index = distinct(np.array([[-0.0, 1.0], [0.0, 1.0]]))
    assert index.tolist() == [0, 0]
    assert not np.signbit(levels).any()


def test_points_without_columns_are_all_equal():
    levels, index = distinct(np.empty((3, 0)))
    assert levels.shape == (1, 0)
    assert index.tolist() == [0, 0, 0]


def test_extension_appends_only_what_is_new():
    levels, index = extended(np.array([[3.0], [0.0]]), np.array([[9.0], [-0.0], [5.0], [9.0]]))
    np.testing.assert_array_equal(levels, [[3.0], [0.0], [9.0], [5.0]])
    np.testing.assert_array_equal(index, [2, 1, 3, 2])


@given(st.integers(0, 3).flatmap(points))
def test_distinct_agrees_with_a_dictionary_and_gives_the_points_back(found):
    levels, index = distinct(found)
    assert list(map(tuple, levels.tolist())) == first_seen(found)
    np.testing.assert_array_equal(levels[index], found)


@given(st.integers(0, 3).flatmap(lambda d: st.tuples(points(d), points(d))))
def test_extension_keeps_the_prefix_and_gives_the_points_back(both):
    old, new = both
    levels, _ = distinct(old)
    longer, index = extended(levels, new)
    np.testing.assert_array_equal(longer[: len(levels)], levels)
    np.testing.assert_array_equal(longer[index], new)
    assert list(map(tuple, longer.tolist())) == first_seen(np.concatenate([old, new]))
