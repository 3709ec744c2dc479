"""A basis has the kernel's correlations within its tolerance, and says where it ends."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import special

from dpmf.errors import ConfigError, DataError
from dpmf.kernels import (
    Categorical,
    Constant,
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SeasonGap,
    SquaredExponential,
)
from dpmf.model import harmonics, series
from dpmf.model.basis import Basis, basis
from dpmf.model.basis_error import LARGEST, MEASURED, MOST_FUNCTIONS, TOLERANCE, fineness
from dpmf.model.coordinates import parameters
from dpmf.model.harmonics import log_shares, series_of, waves
from dpmf.model.inputs import Inputs
from dpmf.model.predictor import predictor
from dpmf.model.saved_points import points_from
from dpmf.model.series import Series
from model.diary import Diary, diary, dyads, frame, require_gradient, state
from planted import planted

BASIS = Inputs("basis", "as asked for")
SMOOTH = (SquaredExponential("time", length=(6, 90)), Matern32("time", length=(15, 90)))
KERNELS: dict[str, Kernel] = {
    "squared exponential": SMOOTH[0],
    "matern 5/2": Matern52("time", length=(8, 60)),
    "matern 3/2": SMOOTH[1],
    "matern 1/2": Matern12("time", length=(40, 60)),
    "periodic": Periodic("time", period=7.0, length=(0.3, 9.0)),
}


def exact(name: str, lag, length: float):
    """The kernel's correlation, written out once more."""
    s = np.abs(lag) / length
    return {
        "squared exponential": np.exp(-0.5 * s**2),
        "matern 5/2": (1 + 5**0.5 * s + 5 * s**2 / 3) * np.exp(-(5**0.5) * s),
        "matern 3/2": (1 + 3**0.5 * s) * np.exp(-(3**0.5) * s),
        "matern 1/2": np.exp(-s),
        "periodic": np.exp(-2 * np.sin(np.pi * lag / 7.0) ** 2 / length**2),
    }[name]


def covariance(points: Basis, length: float, at) -> np.ndarray:
    """Of one member's function at some inputs."""
    matrix = points.matrix({"time.length": jnp.asarray([[length]])}, at)[0]
    return matrix @ matrix.T


@pytest.mark.parametrize("name", KERNELS)
def test_correlations_are_those_of_the_kernel_within_the_tolerance(name):
    """Anywhere in the domain, horizon included, at length scales that were not looked at."""
    kernel = KERNELS[name]
    points, found = basis(kernel, dyads(frame()))
    random = np.random.default_rng(0)
    low, high = (points.low, points.high) if name != "periodic" else (-100.0, 100.0)
    at = np.concatenate([random.uniform(low, high, 60), [low, high, low + 0.01]])
    one = series_of(kernel)
    assert one is not None and one.length is not None
    shortest, longest = one.length[0]
    for length in [shortest, longest, *np.exp(random.uniform(*np.log([shortest, longest]), 5))]:
        wanted = exact(name, np.subtract.outer(at, at), length)
        error = np.abs(covariance(points, length, at) - wanted)
        assert error.max() <= TOLERANCE
        np.testing.assert_allclose(np.diag(covariance(points, length, at)), 1.0, rtol=1e-12)
    assert 0 < found.error <= MEASURED


@pytest.mark.parametrize(
    ("old", "new"),
    [("2 * jnp.pi * number", "jnp.pi * number"), ("jnp.log(2.0)", "0.0")],
    ids=["half the frequency", "waves counted once"],
)
def test_planted_bugs_in_the_series_are_found(monkeypatch, old, new):
    points = basis(SMOOTH[0], dyads(frame()))[0]
    monkeypatch.setattr(series, "log_shares", planted(harmonics.log_shares, old, new))
    at = np.linspace(points.low, points.high, 50)
    error = np.abs(
        covariance(points, 20.0, at) - exact("squared exponential", at[:, None] - at, 20.0)
    )
    assert error.max() > 2 * TOLERANCE


def test_one_function_fewer_would_not_be_enough():
    """The order is the smallest at which the error that is measured is small."""
    points, found = basis(SMOOTH[0], dyads(frame()))
    at = np.linspace(0, points.high - points.low, 400) + points.low
    fewer = dataclasses.replace(points, order=found.order - 1)
    error = covariance(fewer, 6.0, at)[0] - exact("squared exponential", at - at[0], 6.0)
    assert np.abs(error).max() > MEASURED


def test_more_functions_converge_to_the_kernel_and_its_images():
    period, length = 50.0, 7.0
    lag = np.linspace(0, 25, 40)
    images = sum(exact("matern 3/2", lag + n * period, length) for n in range(-9, 10))
    shares = np.exp(log_shares(SMOOTH[1], jnp.asarray(length), period, 4000))
    found = np.cos(2 * np.pi / period * lag[:, None] * np.arange(4001)) @ shares
    np.testing.assert_allclose(found, images / images[0], atol=1e-6)


def test_shares_of_a_periodic_kernel_are_bessel_functions():
    kernel = KERNELS["periodic"]
    for length in (0.1, 0.3, 1.0, 10.0):
        z, number = 1 / length**2, np.arange(31)
        expected = special.ive(number, z) * np.where(number > 0, 2, 1)
        found = np.exp(log_shares(kernel, jnp.asarray(length), 7.0, 30))
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-9, atol=1e-300)


def test_long_length_scales_are_constant_functions():
    points = basis(SMOOTH[0], dyads(frame()))[0]
    at = np.linspace(points.low, points.high, 9)
    np.testing.assert_allclose(covariance(points, 1e6, at), 1.0, atol=1e-12)


def test_waves_are_orthonormal():
    at = np.arange(64) * 9.0 / 64
    found = waves(at, 9.0, 20)
    np.testing.assert_allclose(found.T @ found / 64, np.eye(41), atol=1e-12)


def as_twin(case: Diary, one) -> np.ndarray:
    """y of every event: sums of waves, one after another."""
    values = jax.tree.map(np.asarray, parameters(case.spec, one.free))
    spectra = (
        lambda s: np.exp(-0.5 * s**2),
        lambda s: (1 + s**2 / 3) ** -2,
    )
    features = []
    for side, member, white, points, spectrum in (
        (values.rows, case.data.rows, one.white.rows, case.grids.rows, spectra[0]),
        (values.cols, case.data.cols, one.white.cols, case.grids.cols, spectra[1]),
    ):
        found = []
        for m, x in zip(member[:, 0], case.data.inputs[:, 0, 0], strict=True):
            f = np.zeros(2)
            for k in range(2):
                omega = 2 * np.pi * np.arange(points.order + 1) / points.period
                density = spectrum(omega * side.theta["time.length"][k, 0])
                share = density / (density[0] + 2 * density[1:].sum())
                w = np.asarray(white)[k, m]
                f[k] = np.sqrt(share[0]) * w[0]
                for j in range(1, points.order + 1):
                    angle = omega[j] * (x - points.middle)
                    pair = w[2 * j - 1] * np.cos(angle) + w[2 * j] * np.sin(angle)
                    f[k] += np.sqrt(2 * share[j]) * pair
            found.append(side.mean + np.diag(side.sd) @ side.corr @ f)
        features.append(np.array(found))
    return np.sum(features[0] * np.log1p(np.exp(features[1])), axis=1)


def test_y_is_that_of_the_twin():
    case = diary(BASIS, kernels=SMOOTH)
    one = state(case)
    y = predictor(case.spec, one.white, parameters(case.spec, one.free), case.arrays)
    np.testing.assert_allclose(y[:, 0], as_twin(case, one), rtol=1e-10)


def test_the_twin_finds_coefficients_of_other_members(monkeypatch):
    wrong = planted(Series, "start += len(waves)", "start += 0")
    monkeypatch.setattr(Series, "at_cells", wrong.at_cells)
    case = diary(BASIS, kernels=SMOOTH)
    one = state(case)
    y = predictor(case.spec, one.white, parameters(case.spec, one.free), case.arrays)
    assert np.abs(y[:, 0] - as_twin(case, one)).max() > 1e-3


def test_whitening_is_the_inverse_and_knows_the_volume():
    case = diary(BASIS, kernels=SMOOTH)
    own = case.arrays.rows.functions
    over = own.factors(SMOOTH[0], {"time.length": jnp.asarray([[6.0], [7.0]])})
    white = jr.normal(jr.key(0), (2, *own.shape))
    np.testing.assert_allclose(own.whitened(own.coloured(white, over), over), white)
    unit = jnp.ones((2, *own.shape))
    expected = np.log(np.asarray(own.coloured(unit, over))).sum(axis=(1, 2))
    np.testing.assert_allclose(own.log_volume(over), expected, rtol=1e-12)


def test_gradient_is_that_of_finite_differences():
    require_gradient(diary(BASIS, kernels=(SMOOTH[0], KERNELS["periodic"])))


def test_known_members_keep_their_functions_and_new_ones_are_fresh():
    points = basis(SMOOTH[0], dyads(frame()))[0]
    white = jr.normal(jr.key(0), (2, 3, 2 * points.order + 1))
    grown = points.widening(points, 5).widened(white, SMOOTH[0], {}, jr.key(1))
    assert grown.shape == (2, 5, white.shape[2])
    np.testing.assert_array_equal(grown[:, :3], white)
    assert float(jnp.std(grown[:, 3:])) == pytest.approx(1.0, abs=0.3)


def test_carried_coefficients_are_the_same_on_the_same_basis():
    points, random = basis(SMOOTH[0], dyads(frame()))[0], np.random.default_rng(0)
    white = random.normal(size=(1, 3, 2 * points.order + 1))
    theta = {"time.length": jnp.asarray([[9.0]])}
    there = points.carried(white, SMOOTH[0], theta, points, np.array([2, -1, 0]), random)
    np.testing.assert_array_equal(there[:, [0, 2]], white[:, [2, 0]])
    assert not np.isin(there[:, 1], white).any()


def test_functions_keep_their_values_on_another_basis():
    """Later events: the domain moves, and what both serve stays where it was."""
    data, random = dyads(frame()), np.random.default_rng(0)
    old = basis(SMOOTH[0], data)[0]
    later = dataclasses.replace(data, inputs=data.inputs + 25.0)
    new = old.over(later, data.rows[:, 0])
    assert new != old
    assert old.over(data, data.rows[:, 0]) is old
    theta = {"time.length": jnp.asarray([[9.0]])}
    white = random.normal(size=(1, 2, 2 * old.order + 1))
    there = old.carried(white, SMOOTH[0], theta, new, np.array([0, 1]), random)
    at = np.linspace(new.low, old.high, 200)
    pairs = ((white[0], old), (there[0], new))
    before, after = (one @ points.matrix(theta, at)[0].T for one, points in pairs)
    assert np.abs(before - after).max() < 0.1
    assert 0.5 < there.std() < 1.5  # as the prior has it, and no more


def test_saved_and_put_together_again():
    for kernel in (SMOOTH[0], KERNELS["periodic"]):
        points = basis(kernel, dyads(frame()))[0]
        assert points_from(*points.plain()) == points


def test_the_domain_is_the_training_range_and_a_quarter():
    events = frame()
    events["time"] = np.linspace(100.0, 200.0, len(events))
    points = basis(SMOOTH[0], dyads(events))[0]
    assert (points.low, points.high) == (75.0, 225.0)
    events.loc[events.index[:-1], "time"] = np.linspace(100.0, 140.0, len(events) - 1)
    assert basis(SMOOTH[0], dyads(events))[0].high == 260.0  # as far as the widest gap


def test_inputs_outside_are_refused():
    data = dyads(frame())
    points = basis(SMOOTH[0], data)[0]
    far = dataclasses.replace(data, inputs=data.inputs + 60.0)
    with pytest.raises(DataError, match=r"'time' holds \S+, outside of \S+ to \S+, .*'member'"):
        points.laid(far, data.rows[:, 0], 4)
    everywhere = basis(KERNELS["periodic"], data)[0]
    everywhere.laid(far, data.rows[:, 0], 4)


@pytest.mark.parametrize(
    "kernel",
    [
        RationalQuadratic("time", length=(6, 90)),
        SMOOTH[0] * Categorical("time"),
        SMOOTH[0] * Categorical("place"),
        SMOOTH[0] + Constant(),
        SquaredExponential("time", "place", length=(6, 90)),
        SquaredExponential(SeasonGap("season", "week")),
        Constant(),
    ],
    ids=str,
)
def test_kernels_without_a_series_are_refused(kernel):
    with pytest.raises(ConfigError, match=r"expected one of SquaredExponential, .*'member' or"):
        basis(kernel, dyads(frame()))


def test_a_basis_that_would_be_absurd_is_refused_with_its_size():
    kernel = Matern32("time", length=(0.1, 90))
    with pytest.raises(ConfigError, match=r"0.1 to 90 .* needs ([\d,]+) functions, .* 1,024"):
        basis(kernel, dyads(frame()))
    with pytest.raises(ConfigError, match=rf"needs more than {2 * LARGEST + 1:,} functions"):
        fineness(Matern12("time", length=(0.01, 90)), 90.0)


def test_what_a_refusal_suggests_is_taken():
    kernel = Matern32("time", length=(0.1, 90))
    with pytest.raises(ConfigError) as refused:
        fineness(kernel, 90.0)
    low = float(str(refused.value).split("with a low of ")[1].split()[0])
    assert fineness(Matern32("time", length=(1.1 * low, 90)), 90.0).functions <= MOST_FUNCTIONS


def test_equal_inputs_are_served():
    events = frame()
    events["time"] = 3.0
    points = basis(SMOOTH[0], dyads(events))[0]
    assert points.low < 3.0 < points.high
