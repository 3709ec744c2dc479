"""Markov chains are Matern 1/2 itself: a slow twin, the dense kernel, the grid."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpmf.kernels.factor import JITTER
from dpmf.model import markov
from dpmf.model.coordinates import parameters
from dpmf.model.density import log_density, log_likelihood
from dpmf.model.predictor import predictor
from dpmf.model.recurrence import _associative, _blocked, recurrence
from dpmf.model.tracks import tracks
from model.diary import GRID, diary, dyads, frame, require_gradient, state
from planted import planted

LENGTH = 7.0


def looped(decay, steps):
    """x_t = a_t x_{t-1} + b_t, one after another."""
    found, last = np.zeros_like(steps), np.zeros(len(steps))
    for t in range(steps.shape[1]):
        last = decay[:, t] * last + steps[:, t]
        found[:, t] = last
    return found


@pytest.mark.parametrize("points", [1, 2, 17, 300])
def test_recurrence_is_a_loop(points):
    random = np.random.default_rng(points)
    decay, steps = random.uniform(0, 1, (2, points)), random.normal(size=(2, points))
    decay[:, ::5] = 0
    for form in (recurrence, _blocked, _associative):
        found = jax.jit(form)(jnp.asarray(decay), jnp.asarray(steps))
        np.testing.assert_allclose(found, looped(decay, steps), rtol=1e-12, atol=1e-14)


def test_gradient_of_the_recurrence():
    random = np.random.default_rng(0)
    decay, steps, weight = (random.uniform(0, 1, (2, 9)) for _ in range(3))
    found = jax.grad(lambda a, b: jnp.sum(weight * recurrence(a, b)), (0, 1))(
        jnp.asarray(decay), jnp.asarray(steps)
    )
    for place, gradient in enumerate(found):
        for at in np.ndindex(2, 9):
            moved = [decay.astype(complex), steps.astype(complex)]
            moved[place][at] += 1e-30j
            last, total = 0.0, 0.0
            for t in range(9):
                last = moved[0][:, t] * last + moved[1][:, t]
                total += np.sum(weight[:, t] * last)
            assert gradient[at] == pytest.approx(total.imag / 1e-30, rel=1e-12)


def twin(case, one):
    """y of every event, straight from the recurrence, a member at a time."""
    values = jax.tree.map(np.asarray, parameters(case.spec, one.free))
    features = []
    for side, member, white in (
        (values.rows, case.data.rows, one.white.rows),
        (values.cols, case.data.cols, one.white.cols),
    ):
        found, used = {}, 0
        for m in range(member.max() + 1):
            times = sorted(set(case.data.inputs[member[:, 0] == m, 0, 0]))
            f = np.zeros(2)
            for i, time in enumerate(times):
                w = np.asarray(white)[:, used]
                a = np.exp(-(time - times[i - 1]) / side.theta["time.length"][:, 0])
                f = w if i == 0 else a * f + np.sqrt(1 - a**2) * w
                found[m, time] = side.mean + np.diag(side.sd) @ side.corr @ f
                used += 1
        assert used == white.shape[1]
        cells = zip(member[:, 0], case.data.inputs[:, 0, 0], strict=True)
        features.append(np.array([found[cell] for cell in cells]))
    return np.sum(features[0] * np.log1p(np.exp(features[1])), axis=1)


def test_y_is_that_of_the_twin():
    case = diary()
    one = state(case)
    y = jax.jit(lambda s: predictor(case.spec, s.white, parameters(case.spec, s.free), c))
    c = case.arrays
    np.testing.assert_allclose(y(one)[:, 0], twin(case, one), rtol=1e-11)


@pytest.mark.parametrize(
    ("old", "new"),
    [("-2 * self.gap", "-self.gap"), ("self.start, 0.0", "self.start, 0.5")],
    ids=["variance of a step", "chains joined"],
)
def test_the_twin_finds_planted_bugs(monkeypatch, old, new):
    case = diary()
    one = state(case)
    wrong = planted(markov.Track, old, new)
    monkeypatch.setattr(markov.Track, "steps", wrong.steps)
    y = predictor(case.spec, one.white, parameters(case.spec, one.free), case.arrays)
    assert np.abs(y[:, 0] - twin(case, one)).max() > 1e-3


def matrix(own, length: float) -> np.ndarray:
    """The linear map from white to the functions of all members."""
    over = markov.Steps(*(one[None] for one in own.track.steps(jnp.asarray(length))))
    unit = np.eye(own.shape[0])
    return np.stack(
        [np.asarray(own.coloured(jnp.asarray(row)[None], over))[0] for row in unit]
    ).T


def test_covariance_is_the_kernel_and_members_are_independent():
    case = diary()
    own, points = case.arrays.rows.functions, case.grids.rows
    found = matrix(own, LENGTH)
    apart = np.abs(points.at[:, None] - points.at[None]) / LENGTH
    same = points.member[:, None] == points.member[None]
    covariance = found @ found.T
    np.testing.assert_allclose(covariance, np.where(same, np.exp(-apart), 0.0), atol=1e-13)
    jittered = (np.exp(-apart) + JITTER * np.eye(len(apart))) / (1 + JITTER)
    assert np.abs(covariance - jittered)[same].max() <= JITTER


def test_whitening_is_the_inverse_and_knows_the_volume():
    case = diary()
    own = case.arrays.rows.functions
    over = markov.Steps(*(one[None] for one in own.track.steps(jnp.asarray(LENGTH))))
    white = state(case).white.rows
    there = own.whitened(own.coloured(white, over), over)
    np.testing.assert_allclose(there, white, rtol=1e-9)
    expected = np.linalg.slogdet(matrix(own, LENGTH))[1]
    assert float(own.log_volume(over)[0]) == pytest.approx(expected, rel=1e-10)


def test_density_is_that_of_the_grid_within_jitter():
    """The same functions have the same likelihood, and a prior within first order of eps."""
    case, on_grid = diary(), diary(GRID)
    one = state(case)
    values = parameters(case.spec, one.free)
    carried, difference, bound = {}, 0.0, 0.0
    for side in ("rows", "cols"):
        own, points = getattr(case.arrays, side).functions, getattr(case.grids, side)
        kernel, theta = getattr(case.spec, side).kernel, getattr(values, side).theta
        functions = np.asarray(
            own.coloured(getattr(one.white, side), own.factors(kernel, theta))
        )
        shared = getattr(on_grid.arrays, side).functions
        levels = np.asarray(shared.levels[0])[:, 0]
        white = np.zeros((2, own.members, len(levels)))
        for k, m in np.ndindex(2, own.members):
            mine = points.member == m
            lower = np.asarray(shared.factors(kernel, theta)[0][k])
            part = lower[[int(np.flatnonzero(levels == x)[0]) for x in points.at[mine]]]
            f = functions[k, mine]
            # Of all white on the grid with these values, the shortest: its prior is theirs.
            white[k, m] = np.linalg.lstsq(part, f, rcond=None)[0]
            length = float(theta["time.length"][k, 0])
            gram = np.exp(-np.abs(np.subtract.outer(points.at[mine], points.at[mine])) / length)
            precise = np.linalg.inv(gram)
            own_white = np.asarray(getattr(one.white, side))[k, mine]
            difference += 0.5 * (own_white @ own_white - white[k, m] @ white[k, m])
            bound += JITTER * (np.sum((precise @ f) ** 2) + f @ precise @ f)
        carried[side] = jnp.asarray(white)
    there = one._replace(white=one.white._replace(**carried))
    logs = [log_likelihood(case.spec, one, case.arrays)]
    logs.append(log_likelihood(on_grid.spec, there, on_grid.arrays))
    assert float(logs[0]) == pytest.approx(float(logs[1]), rel=1e-8)
    assert 0 < abs(difference) <= bound < 0.1


def test_gradient_is_that_of_finite_differences():
    require_gradient(diary(pooled=True))


def test_equal_inputs_of_a_member_are_one_point():
    found, place = tracks("time", np.array([1, 0, 1, 1]), np.array([2.0, 0.0, -0.0, 2.0]))
    assert found.member.tolist() == [0, 1, 1]
    assert found.at.tolist() == [0.0, 0.0, 2.0]
    assert place.tolist() == [2, 0, 1, 2]
    assert found.start.tolist() == [True, True, False]


def test_members_without_events_take_no_room():
    data = dyads(frame())
    some = data.take(data.rows[:, 0] != 1)
    case = diary(data=some)
    own = case.arrays.rows.functions
    assert own.members == 4
    assert 1 not in case.grids.rows.member
    assert own.member_sums(jnp.ones(own.shape))[1] == 0
    assert jnp.isfinite(log_density(case.spec, state(case), case.arrays))
