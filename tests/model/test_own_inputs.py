"""Every member on its own inputs: the grid's model exactly, whatever the kernel."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from dpmf.data import Dyads
from dpmf.errors import DataError
from dpmf.kernels import (
    Categorical,
    Constant,
    Kernel,
    Matern12,
    Matern32,
    RationalQuadratic,
    SquaredExponential,
)
from dpmf.kernels.factor import JITTER
from dpmf.model import lists, own_inputs, tables
from dpmf.model.coordinates import parameters
from dpmf.model.density import log_density
from dpmf.model.grid import grid
from dpmf.model.inputs import Inputs
from dpmf.model.lists import Lists, own_lists
from dpmf.model.own_inputs import OwnInputs
from dpmf.model.predictor import predictor
from model import twin
from model.diary import Diary, diary, dyads, frame, require_gradient, state
from planted import planted

MEMBER = Inputs("member", "as asked for")
SMOOTH = (SquaredExponential("time", length=(1, 90)), Matern32("time", length=(2, 40)))
BOTH = Matern32("time", length=(2, 40)) * Categorical("place")
KERNELS = {
    "squared exponential": SMOOTH[0],
    "rational quadratic": RationalQuadratic("time", length=(1, 90)),
    "product": BOTH,
    "mixture": Matern12("time", length=(1, 9)) + SquaredExponential("time", length=(9, 90)),
    "constant": Constant(),
}


@pytest.fixture(autouse=True)
def one_table(monkeypatch):
    """So that members of very different numbers of inputs are padded to the same."""
    monkeypatch.setattr(tables, "MOST_TABLES", 1)


def visits(count: int = 24) -> Dyads:
    """The diary with a place, so that kernels may be products."""
    table = frame(count)
    table["place"] = np.array(["home", "cinema", "train"])[np.arange(count) % 3]
    return Dyads.from_frame(
        table, row="viewer", col="film", value="stars", inputs=["time", "place"]
    )


def theta_of(kernel: Kernel, seed: int = 0) -> dict:
    """One set of hyperparameters, drawn from the prior."""
    priors = kernel.priors()
    keys = jr.split(jr.key(seed), len(priors) + 1)
    return {n: p.sample(k)[None] for k, (n, p) in zip(keys, priors.items(), strict=False)}


def correlations(kernel: Kernel, theta: dict, rows) -> np.ndarray:
    """Those of a product of factors, each with its jitter, one pair after another."""
    parts = kernel.factors_at({name: value[0] for name, value in theta.items()})
    found, start = np.ones((len(rows), len(rows))), 0
    for part, factor in zip(parts, kernel.factors(), strict=True):
        own = rows[:, start : start + len(factor.columns)]
        start += len(factor.columns)
        same = np.array([[np.array_equal(x, z) for z in own] for x in own])
        exact = np.array([[float(part.pair(jnp.asarray(x), jnp.asarray(z))) for z in own]
                          for x in own])  # fmt: skip
        found *= (exact + JITTER * same) / (1 + JITTER)
    return found


def matrix(own: OwnInputs, over) -> np.ndarray:
    """The linear map from white to the functions of all members."""
    unit = jnp.eye(own.shape[0])
    return np.asarray(jax.vmap(lambda row: own.coloured(row[None], over)[0])(unit)).T


@pytest.mark.parametrize("name", KERNELS)
def test_covariance_is_the_kernel_and_members_are_independent(name):
    kernel, data = KERNELS[name], visits()
    points, own = own_lists(kernel, data, data.rows[:, 0]).laid(data, data.rows[:, 0], 4)
    theta = theta_of(kernel)
    found = matrix(own, own.factors(kernel, theta))
    same = np.equal.outer(points.member, points.member)
    expected = np.where(same, correlations(kernel, theta, points.inputs), 0.0)
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-12)


def as_twin(case: Diary, one) -> np.ndarray:
    """y of every event, straight from factors of each member's times, in first-seen order."""
    values = jax.tree.map(np.asarray, parameters(case.spec, one.free))
    kernels = (
        twin.squared_exponential,
        lambda length: lambda x, z: (1 + (s := 3**0.5 * abs(x - z) / length)) * np.exp(-s),
    )
    features = []
    for side, member, white, kernel in (
        (values.rows, case.data.rows, one.white.rows, kernels[0]),
        (values.cols, case.data.cols, one.white.cols, kernels[1]),
    ):
        found, used = {}, 0
        for m in range(member.max() + 1):
            times = twin.first_seen(case.data.inputs[member[:, 0] == m, 0, 0])
            mine = np.asarray(white)[:, used : used + len(times)]
            used += len(times)
            lengths = side.theta["time.length"][:, 0]
            factors = [twin.jittered_factor(kernel(length), times) for length in lengths]
            f = np.stack([lower @ w for lower, w in zip(factors, mine, strict=True)])
            u = side.mean[:, None] + np.diag(side.sd) @ side.corr @ f
            found |= {(m, time): u[:, i] for i, time in enumerate(times)}
        assert used == white.shape[1]
        cells = zip(member[:, 0], case.data.inputs[:, 0, 0], strict=True)
        features.append(np.array([found[cell] for cell in cells]))
    return np.sum(features[0] * np.log1p(np.exp(features[1])), axis=1)


def test_y_is_that_of_the_twin():
    case = diary(MEMBER, kernels=SMOOTH)
    one = state(case)
    y = predictor(case.spec, one.white, parameters(case.spec, one.free), case.arrays)
    np.testing.assert_allclose(y[:, 0], as_twin(case, one), rtol=1e-9)


def sorted_lists(columns, member, inputs):
    """Each member's times in the order of time."""
    order = np.lexsort((inputs[:, 0], member))
    found, place = lists_as_they_are(columns, member[order], inputs[order])
    return found, place[np.argsort(order)]


lists_as_they_are = lists.lists
TRANSPOSED = planted(OwnInputs, "kmij,kmj->kmi", "kmji,kmj->kmi")
OTHERS = planted(own_inputs.own_inputs, "inputs[shown], filled", "inputs[shown[::-1]], filled")
BUGS = {
    "transposed factor": (OwnInputs, "coloured", TRANSPOSED.coloured),
    "inputs of other members": (lists, "own_inputs", OTHERS),
    "sorted by time": (lists, "lists", sorted_lists),
}


@pytest.mark.parametrize("bug", BUGS)
def test_the_twin_finds_planted_bugs(monkeypatch, bug):
    monkeypatch.setattr(*BUGS[bug])
    case = diary(MEMBER, kernels=SMOOTH)
    one = state(case)
    y = predictor(case.spec, one.white, parameters(case.spec, one.free), case.arrays)
    assert not np.abs(y[:, 0] - as_twin(case, one)).max() < 1e-3


def test_padding_that_is_correlated_is_found(monkeypatch):
    """It comes last, so that values are right all the same: only the volume is wrong."""
    wrong = planted(own_inputs.Rows, "jnp.where(both, gram(", "jnp.where(True, gram(")
    monkeypatch.setattr(own_inputs.Rows, "factor", wrong.factor)
    with pytest.raises(AssertionError):
        test_whitening_is_the_inverse_and_knows_the_volume()


def test_whitening_is_the_inverse_and_knows_the_volume():
    kernel, data = SMOOTH[1], visits()
    own = own_lists(kernel, data, data.rows[:, 0]).laid(data, data.rows[:, 0], 4)[1]
    over = own.factors(kernel, theta_of(kernel))
    white = jr.normal(jr.key(1), (1, *own.shape))
    np.testing.assert_allclose(own.whitened(own.coloured(white, over), over), white, rtol=1e-8)
    expected = np.linalg.slogdet(matrix(own, over))[1]
    assert float(own.log_volume(over)[0]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["squared exponential", "product", "mixture"])
def test_density_of_functions_is_that_of_the_grid(name):
    """Given the values of all members: the normal density of what the grid makes of them."""
    kernel, data = KERNELS[name], visits()
    member, theta = data.rows[:, 0], theta_of(KERNELS[name])
    points, own = own_lists(kernel, data, member).laid(data, member, 4)
    over = own.factors(kernel, theta)
    values = own.coloured(jr.normal(jr.key(2), (1, *own.shape)), over)
    white = own.whitened(values, over)
    found = float(-0.5 * jnp.sum(white**2) - own.log_volume(over)[0])
    for dense in (True, None):
        shared, laid = grid(kernel, data, dense=dense).laid(data, member, 4)
        factors = laid.factors(kernel, theta)
        whole = np.asarray(factors[0][0])
        for one in factors[1:]:
            whole = np.kron(whole, np.asarray(one[0]))
        expected = 0.0
        for m in range(4):
            mine = points.inputs[points.member == m]
            at = shared.extended(data)[1][[_event(data, member, m, row) for row in mine]]
            part = whole[at]
            covariance, f = part @ part.T, np.asarray(values)[0, points.member == m]
            expected += -0.5 * f @ np.linalg.solve(covariance, f)
            expected -= 0.5 * np.linalg.slogdet(covariance)[1]
        assert found == pytest.approx(expected, rel=1e-8)


def _event(data: Dyads, member, m: int, row) -> int:
    """An event of a member at an input."""
    same = (data.inputs[:, 0, : len(row)] == row).all(axis=1)
    return int(np.flatnonzero((member == m) & same)[0])


OLD = lists.lists(("time",), np.array([0, 0, 1, 0, 2]), np.array([[9.0, 3, 4, 10.5, 1]]).T)[0]
MORE = (np.array([0, 1, 0, 3, 0, 3]), np.array([[1.0, 2.0, 5.0, 0.0, 3.0, 6.0]]).T)


def own_of(points: Lists, members: int) -> OwnInputs:
    nothing = lists.lookup(np.zeros(0, int), 1)
    return points.colouring(nothing, members)


def joint(old: Lists, new: Lists, carry) -> np.ndarray:
    """Covariance of old and new values: both are linear in old white and fresh normals.

    Every one of those is 1 in a latent function of its own.
    """
    every = old.joined(new.member, new.inputs)[0]
    count = len(old.member)
    unit = np.eye(count + len(every.member))
    theta = {"time.length": jnp.full((len(unit), 1), 7.0)}
    there = carry(unit[:, :count], theta, unit[:, count:])
    values = []
    for points, white in ((old, unit[:, :count]), (new, there)):
        own = own_of(points, 4)
        values.append(own.coloured(jnp.asarray(white), own.factors(SMOOTH[0], theta)))
    both = np.concatenate(values, axis=1)
    return both.T @ both


def expected_joint(member, inputs) -> np.ndarray:
    """One function per member: where both inputs are equal it is one value, jitter included."""
    gram = np.exp(-0.5 * (np.subtract.outer(inputs[:, 0], inputs[:, 0]) / 7.0) ** 2)
    same = np.equal.outer(inputs[:, 0], inputs[:, 0])
    found = (gram + JITTER * same) / (1 + JITTER)
    return np.where(np.equal.outer(member, member), found, 0.0)


def widened(monkeypatch, old: Lists, new: Lists) -> np.ndarray:
    """The covariance after `Lists.widening`."""

    def carry(white, theta, fresh):
        monkeypatch.setattr(lists.jr, "normal", lambda key, shape: jnp.asarray(fresh))
        way = old.widening(new, 4)
        return way.widened(jnp.asarray(white), SMOOTH[0], theta, jr.key(0))

    return joint(old, new, carry)


def test_old_and_new_values_have_the_covariance_of_the_kernel(monkeypatch):
    """Prediction is exact: so it is on the grid, of which this is the definition."""
    new = OLD.joined(*MORE)[0]
    assert new.inputs[:6, 0].tolist() == [9.0, 3.0, 10.5, 1.0, 5.0, 4.0]  # in first-seen order
    both = np.concatenate([OLD.member, new.member]), np.concatenate([OLD.inputs, new.inputs])
    found = widened(monkeypatch, OLD, new)
    np.testing.assert_allclose(found, expected_joint(*both), atol=1e-12)


def test_a_list_that_is_sorted_is_found(monkeypatch):
    """Inputs in the order of time: old white would no longer mean the old values."""
    new = OLD.joined(*MORE)[0]
    order = np.lexsort((new.inputs[:, 0], new.member))
    wrong = Lists(new.columns, new.member[order], new.inputs[order])
    member = np.concatenate([OLD.member, wrong.member])
    expected = expected_joint(member, np.concatenate([OLD.inputs, wrong.inputs]))
    assert np.abs(widened(monkeypatch, OLD, wrong) - expected).max() > 0.01


class Normals(np.random.Generator):
    """A generator that gives what it is told."""

    def __init__(self, values):
        super().__init__(np.random.PCG64(0))
        self.values = values

    def standard_normal(self, size):
        return self.values[:, : size[1]].copy()


def test_members_are_renamed_and_points_dropped():
    """Old member 1 is now 0, old 0 is now 2, old 2 has left, and 1 is new."""
    new = lists.lists(("time",), np.array([2, 0, 1, 2]), np.array([[8.0, 5.0, 1.0, 9.0]]).T)[0]

    def carry(white, theta, fresh):
        members = np.array([1, -1, 0])
        return OLD.carried(white, SMOOTH[0], theta, new, members, Normals(fresh))

    member = np.concatenate([OLD.member, np.array([1, 3, 0])[new.member]])
    expected = expected_joint(member, np.concatenate([OLD.inputs, new.inputs]))
    np.testing.assert_allclose(joint(OLD, new, carry), expected, atol=1e-10)


def test_gradient_is_that_of_finite_differences():
    require_gradient(diary(MEMBER, kernels=SMOOTH, pooled=True))


def test_members_without_events_take_no_room():
    data = dyads(frame())
    some = data.take(data.rows[:, 0] != 1)
    case = diary(MEMBER, data=some)
    own = case.arrays.rows.functions
    assert own.members == 4
    assert 1 not in case.grids.rows.member
    assert own.member_sums(jnp.ones(own.shape))[1] == 0
    assert own.first.sum() == 3
    assert jnp.isfinite(log_density(case.spec, state(case), case.arrays))


def test_equal_inputs_of_a_member_are_one_point():
    at = np.array([[2.0], [0.0], [-0.0], [2.0]])
    found, place = lists.lists(("time",), np.array([1, 0, 1, 1]), at)
    assert found.member.tolist() == [0, 1, 1]
    assert found.inputs[:, 0].tolist() == [0.0, 2.0, 0.0]
    assert place.tolist() == [1, 0, 2, 1]


def test_lists_that_are_too_long_are_refused(monkeypatch):
    monkeypatch.setattr(lists, "MOST_ENTRIES", 40)
    data = visits()
    with pytest.raises(
        DataError, match=r"has 7 distinct inputs, .* have 196 entries, .* at most 40"
    ):
        own_lists(SMOOTH[0], data, data.rows[:, 0])


def test_text_levels_are_numbered_as_they_were():
    found = lists.lists(("time", "place"), np.zeros(2, int), np.array([[5.0, 0.0], [6.0, 1.0]]))
    again = found[0].recoded({"place": np.array([3.0, 7.0])})
    assert again.inputs.tolist() == [[5.0, 3.0], [6.0, 7.0]]
