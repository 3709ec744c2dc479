"""Quantiles and densities of mixtures, against scipy and against each other."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpmf.backtest.prediction import Prediction

MARGIN = np.array([1.0, -1.0])


def mixture(draws=50, events=40, seed=0):
    random = np.random.default_rng(seed)
    mean = random.normal(100, 1, (draws, events, 2)) + random.normal(0, 30, (1, events, 2))
    mean[:10, :5] += 80  # some games of two minds
    sd, rho = random.uniform(5, 15, draws), random.uniform(-0.5, 0.8, draws)
    shape = np.stack([np.ones_like(rho), rho, rho, np.ones_like(rho)], axis=-1)
    return Prediction(mean, sd[:, None, None] ** 2 * shape.reshape(-1, 2, 2))


@pytest.mark.parametrize("direction", [MARGIN, np.array([1.0, 1.0])])
@pytest.mark.parametrize("probability", [1e-4, 0.1, 0.5, 0.9, 0.999])
def test_a_quantile_is_the_inverse_of_the_distribution_function(direction, probability):
    found = mixture()
    at = found.quantile(direction, probability)
    np.testing.assert_allclose(found.cdf(direction, at), probability, atol=1e-9)


def test_one_normal():
    single = Prediction.normal(
        np.array([[20.0, 17.0]]), np.array([[100.0, 20.0], [20.0, 80.0]])
    )
    sd = np.sqrt(100 + 80 - 2 * 20)
    np.testing.assert_allclose(single.quantile(MARGIN, 0.1), norm.ppf(0.1, 3, sd))
    at = np.array([5.0])
    np.testing.assert_allclose(single.density(MARGIN, at), norm.pdf(at, 3, sd))


def test_the_density_integrates_to_the_distribution_function():
    found = mixture(events=1)

    def density(x):
        return found.density(MARGIN, np.array([x]))[0]

    below = quad(density, -400, 10, limit=200)[0]
    np.testing.assert_allclose(below, found.cdf(MARGIN, np.array([10.0]))[0], rtol=1e-6)
