"""Products and mixtures: flat, with unique labels that reach the right term."""

import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.errors import ConfigError
from dpmf.kernels import (
    Categorical,
    Constant,
    Matern12,
    Matern32,
    Matern52,
    Mixture,
    Product,
    RationalQuadratic,
    SeasonGap,
    SquaredExponential,
)
from dpmf.kernels.composite import merged

A, B, C = (kind("time", length=(1, 2)) for kind in (Matern12, Matern32, Matern52))
HOME = SquaredExponential("home", length=(1, 2))
VENUE = Categorical("venue")
LINK = SquaredExponential("venue", "home", length=(1, 2))
ALL = A * HOME * SquaredExponential("time", "home")


def test_products_and_mixtures_are_flat():
    assert A * B * C == A * (B * C) == Product((A, B, C))
    assert A + B + C == A + (B + C) == Mixture((A, B, C))
    assert Product((Mixture((A, B)), C)) == (A + B) * C
    assert str((A + B) * C) == "(Matern12('time') + Matern32('time')) * Matern52('time')"


def test_only_kernels_combine():
    for combine in (lambda: A * 2.0, lambda: A + 1.0):
        with pytest.raises(TypeError):
            combine()


def test_columns_keep_first_seen_order():
    assert (HOME * A * SquaredExponential("venue", "home")).columns == ("home", "time", "venue")
    assert Constant().columns == ()


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (A, (A,)),
        (A * HOME, (A, HOME)),
        (A * HOME * B, (A * B, HOME)),
        (ALL, (ALL,)),
        (HOME * A * VENUE * LINK, (HOME * VENUE * LINK, A)),
        (A * Constant() * HOME, (A, HOME)),
        (Constant() * A, (A,)),
        (Constant(), (Constant(),)),
        (Constant() * Constant(), (Constant(),)),
        (A + HOME, (A + HOME,)),
        ((A + B) * HOME, (A + B, HOME)),
        ((A + VENUE) * HOME * VENUE, ((A + VENUE) * VENUE, HOME)),
    ],
)
def test_factors_read_disjoint_columns(kernel, expected):
    assert kernel.factors() == expected


def test_merged_is_the_product():
    assert merged((A, HOME * B)) == A * HOME * B
    assert merged(()) == Constant()


def test_labels_are_unique():
    gap = Matern12(SeasonGap("season", "week"), length=(1, 2))
    kernel = (
        gap * RationalQuadratic("time", length=(1, 2)) * VENUE * (A + HOME + B) * (C + VENUE)
    )
    assert list(kernel.priors()) == [
        "season+week.gap",
        "season+week.length",
        "time.length",
        "time.alpha",
        "venue.correlation",
        "weights",
        "time.length.2",
        "home.length",
        "time.length.3",
        "weights.2",
        "time.length.4",
        "venue.correlation.2",
    ]
    assert kernel.priors()["weights"].shape == (3,)
    assert kernel.priors()["weights.2"].shape == (2,)
    assert SquaredExponential("a", "b", length=(1, 2)).priors()["a+b.length"].shape == (2,)


def test_values_reach_the_term_whose_prior_they_have():
    kernel = A * HOME * (B + C) * (VENUE + Constant())
    theta = {
        "time.length": jnp.array([2.0]),
        "home.length": jnp.array([3.0]),
        "weights": jnp.array([0.25, 0.75]),
        "time.length.2": jnp.array([5.0]),
        "time.length.3": jnp.array([7.0]),
        "weights.2": jnp.array([0.4, 0.6]),
        "venue.correlation": jnp.array([0.1]),
    }
    assert set(theta) == set(kernel.priors())
    x, z = jnp.array([0.0, 0.0, 1.0]), jnp.array([1.5, 0.5, 2.0])
    s, t = np.sqrt(3) * 1.5 / 5, np.sqrt(5) * 1.5 / 7
    time = np.exp(-1.5 / 2) * (
        0.25 * (1 + s) * np.exp(-s) + 0.75 * (1 + t + t**2 / 3) * np.exp(-t)
    )
    home = np.exp(-0.5 * (0.5 / 3) ** 2)
    venue = 0.4 * 0.1 + 0.6
    assert kernel.at(theta).pair(x, z) == pytest.approx(time * home * venue, rel=1e-12)
    by_factor = [
        c.pair(x[i : i + 1], z[i : i + 1]) for i, c in enumerate(kernel.factors_at(theta))
    ]
    np.testing.assert_allclose(by_factor, [time, home, venue], rtol=1e-12)


def test_a_product_of_constants_is_constant():
    (only,) = (Constant() * Constant()).factors_at({})
    assert only.pair(jnp.zeros(0), jnp.zeros(0)) == 1


def test_open_bounds_have_no_prior():
    with pytest.raises(
        ConfigError, match=r"Matern12\('home'\): length has no bounds yet; give"
    ):
        (A * Matern12("home")).priors()
