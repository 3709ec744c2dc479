"""The density against its slow twin, constants included."""

import jax
import numpy as np
import pytest

from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.model.coordinates import parameters, sum_first
from dpmf.model.density import log_density, log_likelihoods
from dpmf.model.predictor import predictor
from model import twin
from model.problem import problem, state

CASES = [
    (PairedGaussian(), 1, False),
    (PairedGaussian(), 2, False),
    (PairedGaussian(), 3, False),
    (PairedGaussian(), 1, True),
    (PairedGaussian(), 2, True),
    (PairedGaussian(), 3, True),
    (Gaussian(), 2, False),
    (Gaussian(), 1, True),
    (Bernoulli(), 1, False),
    (Bernoulli(), 3, True),
    (Ordinal(4), 3, False),
    (Ordinal(4), 2, True),
    (Ordinal(4, own_cuts=True), 1, False),
    (Ordinal(5, own_cuts=True), 2, True),
    (StudentT(), 1, False),
    (Poisson(), 2, False),
    (NegativeBinomial(), 1, True),
    (PairedPoisson(), 2, False),
]


@pytest.mark.parametrize(("likelihood", "rank", "pooled"), CASES, ids=str)
def test_density_equals_its_twin(likelihood, rank, pooled):
    require_twin(problem(likelihood, rank, pooled, dense=False))


@pytest.mark.parametrize(
    ("likelihood", "rank", "pooled"),
    [(PairedGaussian(), 2, True), (Ordinal(4), 1, False), (Bernoulli(), 3, False)],
    ids=str,
)
def test_density_with_intercepts_equals_its_twin(likelihood, rank, pooled):
    require_twin(problem(likelihood, rank, pooled, dense=False, intercepts=True))


def require_twin(case):
    spec, data, _, arrays = case
    likelihood, rank = spec.likelihood, spec.rank
    one = state(case)

    @jax.jit
    def found(state):
        values = parameters(spec, state.free)
        y = predictor(spec, state.white, values, arrays)
        each = log_likelihoods(spec, state, arrays)
        return values, y, each, log_density(spec, state, arrays)

    values, y, each, total = jax.tree.map(np.asarray, found(one))
    numbers = jax.tree.map(np.asarray, one)
    expected = twin.natural(numbers.free, spec, sum_first(rank))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), values, expected
    )
    expected_y = twin.predictor(numbers.white, expected, data)
    np.testing.assert_allclose(y, expected_y, rtol=1e-9)
    expected_each = twin.log_likelihoods(
        likelihood, expected.noise, expected_y, data.values, numbers.white.rows_noise, data.rows
    )
    np.testing.assert_allclose(each, expected_each, rtol=1e-9)
    white = sum(x.size for x in jax.tree.leaves(numbers.white))
    constant = -0.5 * white * np.log(2 * np.pi)  # the one that `log_density` leaves out
    assert total + constant == pytest.approx(
        twin.log_density(spec, numbers, data, sum_first(rank)), rel=1e-9
    )
