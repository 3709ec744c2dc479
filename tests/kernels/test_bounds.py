"""Bounds: what users give, and what the training inputs say."""

import numpy as np
import pytest

from dpmf.errors import ConfigError, DataError
from dpmf.kernels import (
    Categorical,
    Matern12,
    Periodic,
    RationalQuadratic,
    SeasonGap,
    SquaredExponential,
)
from dpmf.kernels.warp import source
from dpmf.priors import LogUniform

TIME = np.array([0.0, 2.0, 2.0, 5.0, 20.0])


def test_one_pair_serves_all_columns_or_each_has_its_own():
    shared = SquaredExponential("a", "b", length=(0.1, 10))
    assert shared.priors() == {"a+b.length": LogUniform((0.1, 0.1), (10.0, 10.0))}
    own = SquaredExponential("a", "b", length=[(0.1, 10), (2, 3)])
    assert own.priors() == {"a+b.length": LogUniform((0.1, 2.0), (10.0, 3.0))}


def test_default_length_bounds_come_from_spacing_and_range():
    inputs = {"a": TIME, "b": np.ones(5), "c": np.array([0.0, 1e-4, 0.5, 1.0, 1.0])}
    bounded = SquaredExponential("a", "b", "c").bounded(inputs)
    assert bounded.length == ((1.0, 200.0), (0.1, 10.0), (0.001, 10.0))


def test_a_function_of_many_inputs_may_not_be_noise():
    weeks = {"a": np.arange(20.0)}
    assert SquaredExponential("a").bounded(weeks).length == ((2.0, 190.0),)


def test_given_bounds_stay():
    given = Matern12("a", length=(0.1, 10))
    assert given.bounded({"a": TIME}) == given


def test_defaults_that_need_no_data():
    assert RationalQuadratic("a").alpha == ((0.1, 100.0),)
    assert Periodic("a", period=52).length == ((0.1, 10.0),)
    assert SeasonGap("season", "week").gap == ((0.5, 150.0),)
    assert Categorical("a").bounded({}) == Categorical("a")


@pytest.mark.parametrize(
    "length", [(10, 0.1), (0, 1), (-1, 1), (1, 1), (1, np.inf), (np.nan, 1)]
)
def test_bounds_must_be_positive_finite_and_ordered(length):
    with pytest.raises(
        ConfigError, match=r"Matern12: length bounds are \(.*\); expected 0 < low"
    ):
        Matern12("time", length=length)


def test_reversed_bounds_are_shown():
    with pytest.raises(ConfigError, match=r"SeasonGap: gap bounds are \(10, 0.5\)"):
        SeasonGap("season", "week", gap=(10, 0.5))
    with pytest.raises(ConfigError, match=r"RationalQuadratic: alpha bounds are \(5, 1\)"):
        RationalQuadratic("time", alpha=(5, 1))


@pytest.mark.parametrize(
    "length", [(1,), ((1, 2),) * 3, (1, 2, 3), ("low", "high"), ((1, 2), 3)]
)
def test_bounds_must_be_pairs(length):
    with pytest.raises(ConfigError, match=r"expected one pair \(low, high\), or 2 of them"):
        SquaredExponential("a", "b", length=length)


def test_columns_must_be_named():
    with pytest.raises(
        ConfigError, match=r"Matern12\(\) names no input column; .* Matern12\('time'"
    ):
        Matern12()


@pytest.mark.parametrize("given", [(3,), ("",), ("time", SeasonGap("season", "week"))])
def test_columns_must_be_names(given):
    with pytest.raises(ConfigError, match=r"Matern12: .* is not the name of an input column"):
        source("Matern12", given)


def test_columns_must_differ():
    with pytest.raises(ConfigError, match=r"\('a', 'a'\) repeat a name"):
        SquaredExponential("a", "a")


def test_categorical_names_its_column():
    with pytest.raises(ConfigError, match="Categorical: '' is not the name"):
        Categorical("")


@pytest.mark.parametrize("period", [0.0, -1.0, np.inf, np.nan])
def test_period_must_be_positive(period):
    with pytest.raises(ConfigError, match=r"Periodic: period is .*; expected a positive"):
        Periodic("time", period=period)


def test_periodic_reads_one_column():
    with pytest.raises(
        ConfigError, match=r"Periodic: columns \('a', 'b'\) are 2; expected one"
    ):
        Periodic("a", "b", period=1.0)


def test_training_columns_must_exist_and_be_finite():
    with pytest.raises(DataError, match=r"no input column 'a'; the data have 'b', 'c'"):
        Matern12("a").bounded({"b": TIME, "c": TIME})
    with pytest.raises(DataError, match="'a' has 1 values that are missing or infinite"):
        Matern12("a").bounded({"a": np.array([0.0, np.nan])})
