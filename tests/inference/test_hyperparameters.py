"""Hyperparameters held fixed: exactly, and only where they fit the model."""

import dataclasses

import numpy as np
import pytest

from dpmf import DPMF, ConfigError
from dpmf.inference.hyperparameters import Hyperparameters
from dpmf.kernels import Categorical, Constant, Matern12
from inference.fitted import CASES, fitted, held

THETA = {"week.length": [[1.5], [3.0]]}


def found_at(fit, given) -> list[tuple[int, int]]:
    """The draws, as (chain, draw), that have these hyperparameters."""
    chains, draws = fit.shape

    def matches(c: int, d: int) -> bool:
        for name in ("rows", "cols"):
            side = getattr(fit.parameters, name)
            corr = side.corr[c, d] @ side.corr[c, d].T
            theta = getattr(given, f"{name}_theta")
            pairs = [(getattr(given, f"{name}_sd"), side.sd[c, d])]
            pairs += [(getattr(given, f"{name}_corr"), corr)]
            pairs += [(theta[label], value[c, d]) for label, value in side.theta.items()]
            if not all(np.array_equal(a, b) for a, b in pairs):
                return False
        return True

    return [(c, d) for c in range(chains) for d in range(draws) if matches(c, d)]


@pytest.mark.parametrize("name", ["games hmc", "stars slice"])
def test_central_is_an_actual_draw(name):
    fit = fitted(name)
    assert len(found_at(fit, fit.hyperparameters("central"))) >= 1


def test_last_is_the_last_draw_of_a_chain():
    fit = fitted("stars slice")
    for chain in range(2):
        assert found_at(fit, fit.hyperparameters("last", chain=chain)) == [(chain, 19)]


def test_unknown_choices_are_refused():
    fit = fitted("stars slice")
    with pytest.raises(ConfigError, match="which='median', expected 'central' or 'last'"):
        fit.hyperparameters("median")
    with pytest.raises(ConfigError, match="chain=2, expected 0 to 1"):
        fit.hyperparameters("last", chain=2)


def test_fixed_values_stay_exactly_fixed():
    fit, given = held(), fitted("stars slice").hyperparameters("last")
    rows, cols = fit.parameters.rows, fit.parameters.cols
    for label, value in given.rows_theta.items():
        assert (rows.theta[label] == value).all()
    for label, value in given.rows_pooled_theta.items():
        assert (rows.pooled_theta[label] == value).all()
    assert (cols.sd == 0.7).all()
    assert (np.ptp(rows.sd, axis=1) > 0).all()  # sigma=False leaves it free
    assert fit.draws.states.free.rows.theta is None
    assert fit.draws.states.free.cols.sd is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            Hyperparameters(rows_theta={"time.length": [[1.0], [1.0]]}),
            r"rows_theta: found \['time.length'\], expected \['week.length'\]",
        ),
        (Hyperparameters(rows_theta={}), r"rows_theta: found \[\], expected"),
        (
            Hyperparameters(rows_theta={"week.length": [1.0, 2.0]}),
            r"rows_theta\['week.length'\]: found shape \(2,\), expected \(2, 1\)",
        ),
        (Hyperparameters(cols_sd=[1.0]), r"cols_sd: found shape \(1,\), expected \(2,\)"),
        (Hyperparameters(rows_corr=np.eye(3)), r"rows_corr: found shape \(3, 3\), expected"),
        (Hyperparameters(rows_corr=np.ones((2, 2))), "rows_corr: expected a positive definite"),
    ],
)
def test_values_that_do_not_fit_are_refused(given, message):
    case = CASES["stars slice"]
    with pytest.raises(ConfigError, match=message):
        case.model.fit(case.data, hyperparameters=given)


def test_values_as_given_are_what_the_density_takes(x64):
    case = CASES["stars slice"]
    corr = np.array([[1.0, 0.3], [0.3, 1.0]])
    given = Hyperparameters(rows_theta=THETA, rows_corr=corr, cols_sd=[0.5, 2.0])
    fixed = given.fixed(case.model.spec(case.data))
    np.testing.assert_array_equal(fixed.rows.theta["week.length"], THETA["week.length"])
    np.testing.assert_allclose(fixed.rows.corr @ fixed.rows.corr.T, corr, rtol=1e-14)
    np.testing.assert_array_equal(fixed.cols.sd, [0.5, 2.0])
    for free in (fixed.rows.sd, fixed.cols.theta, fixed.cols.corr, fixed.rows.pooled_theta):
        assert free is None


def test_nothing_given_is_nothing_held(x64):
    case = CASES["stars slice"]
    fixed = Hyperparameters().fixed(case.model.spec(case.data))
    assert all(part is None for side in fixed for part in side)
    parts = dataclasses.asdict(fitted("stars slice").hyperparameters(sigma=False))
    assert {name for name, part in parts.items() if part is not None} == {
        "rows_theta",
        "cols_theta",
        "rows_pooled_theta",
    }


@pytest.mark.parametrize("part", ["cols_pooled_sd", "cols_pooled_theta"])
def test_a_constant_mean_has_no_pooled_part(part, x64):
    case = CASES["stars slice"]
    given = Hyperparameters(**{part: np.ones(2) if part.endswith("sd") else {"a": np.ones(2)}})
    with pytest.raises(ConfigError, match=f"{part} is given but the mean of the cols is"):
        given.fixed(case.model.spec(case.data))


def test_values_that_no_prior_gives_are_refused(x64):
    data = CASES["values slice"].data
    model = DPMF(kernel=Matern12("week") + Constant())
    length = {"week.length": [[1.0]]}
    with pytest.raises(ConfigError, match=r"rows_theta\['weights'\]: found \[5.0, 5.0\]"):
        Hyperparameters(rows_theta=length | {"weights": [[5.0, 5.0]]}).fixed(model.spec(data))
    assert Hyperparameters(rows_theta=length | {"weights": [[0.2, 0.8]]}).fixed(
        model.spec(data)
    )
    apart = DPMF(kernel=Categorical("genre")).spec(data)
    with pytest.raises(ConfigError, match="found"):
        Hyperparameters(rows_theta={"genre.correlation": [[3.0]]}).fixed(apart)
    with pytest.raises(ConfigError, match="rows_sd: found 'x', expected numbers"):
        Hyperparameters(rows_sd="x").fixed(apart)
