"""Between parameters and free coordinates: an inverse pair, and the prior of both."""

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from dpmf.model import coordinates
from dpmf.model.state import FREE_ALL, NOTHING, Fixed, Parameters
from model import twin
from model.problem import problem, state
from planted import planted

CASES = [(rank, pooled) for rank in (1, 2, 3) for pooled in (False, True)]
everywhere = pytest.mark.parametrize(("rank", "pooled"), CASES)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_rotation_is_orthogonal_and_its_first_column_constant(rank):
    rotation = coordinates.sum_first(rank)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(rotation[:, 0], rank**-0.5, rtol=1e-12)


def held(case, parts):
    """Values for the named parts of both sides, and the free coordinates of the rest."""
    free = state(case).free
    values = coordinates.parameters(case.spec, free)

    def side(one):
        return NOTHING._replace(**{part: getattr(one, part) for part in parts})

    fixed = Fixed(side(values.rows), side(values.cols))
    return fixed, coordinates.free_coordinates(case.spec, values, fixed), values


def test_what_is_fixed_keeps_its_value_and_has_no_coordinate():
    case = problem(rank=2, pooled=True)
    parts = ("sd", "theta", "pooled_theta")
    fixed, free, values = held(case, parts)
    assert all(getattr(side, part) is None for side in free[:2] for part in parts)
    again = coordinates.parameters(case.spec, free, fixed)
    assert jax.tree.structure(again) == jax.tree.structure(values)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), again, values)


def assert_change_of_variables(log_prior, case, free, fixed=FREE_ALL):
    """An inverse pair, and log prior = log density of the values + log |d values / d free|."""

    def hidden(values):
        """The values that are not fixed, with correlations in place of their factor."""

        def side(one, fixed):
            lower = np.tril_indices(case.spec.rank, -1)
            one = one._replace(corr=(one.corr @ one.corr.T)[lower])
            kept = [None if f is not None else x for x, f in zip(one, fixed, strict=True)]
            return type(one)(*kept)

        return Parameters(
            side(values.rows, fixed.rows), side(values.cols, fixed.cols), values.noise
        )

    flat, unravel = ravel_pytree(free)

    @jax.jit
    def found(flat):
        def values(flat):
            return hidden(coordinates.parameters(case.spec, unravel(flat), fixed))

        jacobian = jax.jacfwd(lambda f: ravel_pytree(values(f))[0])(flat)
        again = coordinates.free_coordinates(
            case.spec, coordinates.parameters(case.spec, unravel(flat), fixed), fixed
        )
        return log_prior(case.spec, unravel(flat), fixed), values(flat), jacobian, again

    log_density, values, jacobian, again = found(flat)
    np.testing.assert_allclose(ravel_pytree(again)[0], flat, rtol=1e-9, atol=1e-12)
    expected = twin.log_prior(values, case.spec) + np.linalg.slogdet(jacobian)[1]
    assert log_density == pytest.approx(expected, rel=1e-10)


@everywhere
def test_free_coordinates_are_the_inverse_and_have_the_prior_of_the_values(rank, pooled):
    case = problem(rank=rank, pooled=pooled)
    assert_change_of_variables(coordinates.log_prior, case, state(case).free)


@pytest.mark.parametrize(
    "parts", [("theta",), ("sd", "corr"), ("theta", "pooled_sd", "pooled_theta")], ids=str
)
def test_prior_with_fixed_parts(parts):
    case = problem(rank=2, pooled=True)
    fixed, free, _ = held(case, parts)
    assert_change_of_variables(coordinates.log_prior, case, free, fixed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jacobian = -jnp.sum(jnp.log(unit))", "jacobian = 0.0"),
        ("fixed.cols, jnp.log(slope))", "fixed.cols, jnp.log(unit))"),
    ],
    ids=["no jacobian", "slope"],
)
def test_a_planted_bug_is_found(old, new):
    case = problem(rank=2, pooled=True)
    wrong = planted(coordinates.log_prior, old, new)
    with pytest.raises(AssertionError):
        assert_change_of_variables(wrong, case, state(case).free)
