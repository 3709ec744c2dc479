"""What users write: the documented example, refusals, and the way to JSON and back."""

import dataclasses
import json
import textwrap

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

import dpmf.likelihoods
from dpmf.errors import ConfigError, DataError
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.priors import Gamma, HalfNormal, Normal, Uniform


@pytest.fixture
def laplace(monkeypatch):
    """The likelihood that the package's docstring shows, made from that text."""
    monkeypatch.setattr(Likelihood, "registry", dict(Likelihood.registry))
    lines = dpmf.likelihoods.__doc__.splitlines()
    code = [line for line in lines if line.startswith("    ") or not line]
    namespace = {"__name__": "example"}
    exec(textwrap.dedent("\n".join(code)), namespace)
    return namespace["Laplace"]()


def test_documented_example(laplace, key):
    y, values = jnp.array([[0.5], [-1.0]]), jnp.array([[2.0], [-1.5]])
    parameters = {name: prior.sample(key) for name, prior in laplace.priors(3.0).items()}
    noise = laplace.at(parameters)
    expected = stats.laplace.logpdf(values, y, parameters["width"])[:, 0]
    np.testing.assert_allclose(noise.log_prob(y, values), expected, rtol=1e-12)
    assert noise.sample(key, y).shape == (2, 1)
    np.testing.assert_allclose(noise.split(key, y, values)(y).sum(axis=1), expected, rtol=1e-12)
    assert Likelihood.from_dict(json.loads(json.dumps(laplace.to_dict()))) == laplace


def test_moments_come_from_draws_unless_given(laplace):
    """256 draws: a mean off by 6 standard errors would be a bug, not bad luck."""
    width = 2.0
    noise, y = laplace.at({"width": jnp.array(width)}), jnp.array([[0.5, 7.0]])
    limit = 6 / np.sqrt(256)
    np.testing.assert_allclose(noise.mean(y), y, atol=limit * np.sqrt(2) * width)
    variance = 2 * width**2
    kurtosis = 6
    covariance = noise.covariance(y)[0]
    assert covariance[0, 1] == pytest.approx(0, abs=limit * variance)
    np.testing.assert_allclose(
        np.diag(covariance), variance, atol=limit * variance * np.sqrt(kurtosis - 1)
    )


def test_priors_of_the_parameters():
    assert Gaussian().priors(4.0) == {"sigma": HalfNormal(4.0)}
    assert PairedGaussian().priors(4.0) == {"sigma": HalfNormal(4.0), "rho": Uniform(-1.0, 1.0)}
    assert StudentT().priors(4.0) == {"sigma": HalfNormal(4.0), "nu": Gamma(2.0, 0.1, 2.0)}
    assert Bernoulli().priors(4.0) == {}
    assert Poisson().priors(4.0) == {}
    assert NegativeBinomial().priors(4.0) == {"overdispersion": HalfNormal(1.0)}
    assert PairedPoisson().priors(4.0) == {"shared": HalfNormal(0.5)}
    assert PairedPoisson(3.0).priors(4.0) == {"shared": HalfNormal(3.0)}
    assert Ordinal(5).priors(4.0) == {
        "first_cut": Normal(0.0, 3.0, (1,)),
        "log_gaps": Normal(0.0, 1.0, (3,)),
    }


def test_cut_points_from_parameters_of_the_prior():
    parameters = {
        name: prior.sample(jr.key(i))
        for i, (name, prior) in enumerate(Ordinal(4).priors(1.0).items())
    }
    cuts = np.asarray(Ordinal(4).at(parameters).cuts)
    assert cuts[0] == parameters["first_cut"][0]
    np.testing.assert_allclose(np.log(np.diff(cuts)), parameters["log_gaps"], rtol=1e-9)


@pytest.mark.parametrize(
    "likelihood",
    [
        Gaussian(),
        PairedGaussian(),
        StudentT(),
        Bernoulli(),
        Ordinal(7),
        Poisson(),
        NegativeBinomial(),
        PairedPoisson(),
        PairedPoisson(shared_scale=2.0),
    ],
    ids=str,
)
def test_saved_is_loaded(likelihood):
    assert Likelihood.from_dict(json.loads(json.dumps(likelihood.to_dict()))) == likelihood


def test_an_unknown_name_cannot_be_loaded():
    with pytest.raises(ConfigError, match=r"no likelihood 'Weibull' here \(known: Bernoulli"):
        Likelihood.from_dict({"type": "Weibull"})


@pytest.mark.parametrize(
    ("likelihood", "values", "message"),
    [
        (
            PairedGaussian(),
            [[1.0]],
            r"PairedGaussian: events have 1 value\(s\), expected 2\. Give",
        ),
        (Bernoulli(), [[0.0], [2.0]], "Bernoulli: row 2 holds 2, expected 0 or 1. Recode"),
        (Bernoulli(), [[np.nan]], "row 1 holds nan, expected 0 or 1"),
        (
            Ordinal(5),
            [[5.0], [1.0], [6.0]],
            "row 3 holds 6, expected a whole level from 1 to 5",
        ),
        (Ordinal(5), [[0.0]], "row 1 holds 0, expected a whole level from 1 to 5"),
        (
            Ordinal(5),
            [[1.0], [2.5]],
            "row 2 holds 2.5, .* Recode the values or change `levels`",
        ),
        (Ordinal(5), [[1.0], [np.nan]], "row 2 holds nan, expected a whole level"),
        (
            Poisson(),
            [[1.0], [0.0], [-1.0]],
            r"Poisson: row 3 holds -1, expected a count: a whole number from 0 to 1e\+09\. "
            r"Recode the values, or take Gaussian\(\) for real ones",
        ),
        (Poisson(), [[0.5]], "Poisson: row 1 holds 0.5, expected a count"),
        (Poisson(), [[3.0], [2e9]], r"Poisson: row 2 holds 2e\+09, expected a count"),
        (Poisson(), [[np.inf]], "row 1 holds inf, expected a count"),
        (NegativeBinomial(), [[1.0], [np.nan]], "NegativeBinomial: row 2 holds nan, expected"),
        (PairedPoisson(), [[1.0, 2.0], [1.0, 2.5]], "PairedPoisson: row 2 holds 2.5, expected"),
        (PairedPoisson(), [[1.0]], r"PairedPoisson: events have 1 value\(s\), expected 2"),
    ],
)
def test_impossible_values_are_refused(likelihood, values, message):
    with pytest.raises(DataError, match=message):
        likelihood.check(np.array(values))


def test_possible_values_pass():
    PairedGaussian().check(np.array([[1.0, -2.0]]))
    Gaussian().check(np.array([[1.5]]))
    Bernoulli().check(np.array([[0.0, 1.0]]))
    Ordinal(3).check(np.array([[1.0], [3.0]]))
    StudentT().check(np.array([[1.5, -2.0]]))
    Poisson().check(np.array([[0.0], [12.0]]))
    NegativeBinomial().check(np.array([[0.0, 1e9]]))
    PairedPoisson().check(np.array([[0.0, 3.0]]))


def test_names_of_our_own_are_taken():
    with pytest.raises(ConfigError, match="dpmf has a class named 'Gaussian' of its own"):
        type("Gaussian", (Likelihood,), {"__module__": "mine"})
    assert Likelihood.registry["Gaussian"] is Gaussian


def test_a_likelihood_with_a_tuple_comes_back(laplace):
    @dataclasses.dataclass(frozen=True)
    class Knotted(type(laplace)):
        knots: tuple[float, ...] = (1.0, 2.0)

    back = Likelihood.from_dict(json.loads(json.dumps(Knotted().to_dict())))
    assert back == Knotted() and hash(back) == hash(Knotted())


def test_the_documented_example_has_the_scale_of_the_values(laplace):
    values = np.array([[90.0], [110.0]])
    assert laplace.scales(values) == Gaussian().scales(values)
    assert laplace.centre(values) == 100.0


@pytest.mark.parametrize("levels", [1, 2.5, "5", True])
def test_levels_are_a_whole_number(unchecked, levels):
    with pytest.raises(ConfigError, match="expected a whole number of at least 2"):
        Ordinal(levels)


@pytest.mark.parametrize("scale", [0, -1.0, np.inf, "1"])
def test_the_prior_of_the_shared_rate_has_a_width(unchecked, scale):
    with pytest.raises(ConfigError, match=r"PairedPoisson: shared_scale=.*a positive number"):
        PairedPoisson(scale)


def test_ordered_levels_start_where_y_is_positive():
    values = np.array([[1.0], [4.0]])
    assert Ordinal(5).centre(values) == Ordinal(5).scales(values)[0] > 0
    assert Bernoulli().centre(values) == 0
