"""Predictive mixtures against brute force."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

from chance import assert_mean
from dpmf import ConfigError, DataError, Dyads
from dpmf.likelihoods import Gaussian, Ordinal, PairedGaussian, PairedPoisson
from dpmf.posterior import Forecast

DRAWS, EVENTS, SAMPLES = 40, 3, 4000
random = np.random.default_rng(0)
SIGMA, RHO = random.uniform(1, 2, DRAWS), random.uniform(-0.8, 0.9, DRAWS)


def frame() -> pd.DataFrame:
    return pd.DataFrame({"host": ["a", "b", "c"], "guest": ["b", "c", "a"]})


def paired() -> Forecast:
    known = frame().assign(ours=[1.0, 2.0, 3.0], theirs=[2.0, 1.0, 2.0])
    data = Dyads.from_frame(known, row="host", col="guest", value=("ours", "theirs"))
    y = np.random.default_rng(1).normal([5.0, 4.0], 1.5, (DRAWS, EVENTS, 2))
    noise = {"sigma": SIGMA, "rho": RHO}
    return Forecast(data.encode(frame()), PairedGaussian(), y, noise)


def single(likelihood=None, **noise) -> Forecast:
    known = frame().assign(value=[1.0, 2.0, 3.0])
    data = Dyads.from_frame(known, row="host", col="guest", value="value")
    y = np.random.default_rng(2).normal(1.0, 1.5, (DRAWS, EVENTS, 1))
    return Forecast(
        data.encode(frame()), likelihood or Gaussian(), y, noise or {"sigma": SIGMA}
    )


def stars() -> Forecast:
    cuts = np.random.default_rng(3).normal(0, 1, (DRAWS, 3))
    return single(Ordinal(4), first_cut=cuts[:, :1], log_gaps=cuts[:, 1:])


def components(forecast: Forecast) -> list[list]:
    """A frozen scipy distribution for each draw and event."""

    def covariance(draw: int) -> np.ndarray:
        if forecast.y.shape[2] == 1:
            return np.array([[SIGMA[draw] ** 2]])
        return SIGMA[draw] ** 2 * np.array([[1.0, RHO[draw]], [RHO[draw], 1.0]])

    normal = stats.multivariate_normal
    return [[normal(y, covariance(d)) for y in forecast.y[d]] for d in range(DRAWS)]


@pytest.mark.parametrize("make", [paired, single])
def test_moments_and_density_are_those_of_the_mixture(make):
    forecast = make()
    pair = forecast.y.shape[2]
    parts = components(forecast)
    values = np.random.default_rng(4).normal(4.0, 2.0, (EVENTS, pair))
    for event in range(EVENTS):
        means = np.array([part[event].mean for part in parts])
        within = np.mean([part[event].cov_object.covariance for part in parts], axis=0)
        between = np.cov(means.T, bias=True).reshape(pair, pair)
        logs = [part[event].logpdf(values[event]) for part in parts]
        np.testing.assert_allclose(np.atleast_1d(forecast.mean[event]), means.mean(axis=0))
        np.testing.assert_allclose(forecast.covariance[event], within + between)
        expected = np.sqrt(np.diag(within + between))
        np.testing.assert_allclose(np.atleast_1d(forecast.sd[event]), expected)
        expected = logsumexp(logs) - np.log(DRAWS)
        assert forecast.log_prob(values)[event] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("make", [paired, single, stars])
def test_samples_have_the_moments(make):
    forecast = make()
    drawn = forecast.sample(SAMPLES * 10, seed=5).reshape(EVENTS, SAMPLES * 10, -1)
    centred = drawn - forecast.mean.reshape(EVENTS, 1, -1)
    groups = centred.reshape(EVENTS, 50, -1, centred.shape[-1])
    assert_mean(groups.mean(axis=2).swapaxes(0, 1), 0.0)
    squares = np.einsum("egsi,egsj->geij", groups, groups) / groups.shape[2]
    assert_mean(squares, forecast.covariance)


def test_a_few_samples_come_from_all_draws():
    """Draws differ more than the noise: which were used can be read off the samples."""
    numbers = np.broadcast_to(np.arange(DRAWS * 1.0)[:, None, None], (DRAWS, EVENTS, 1))
    forecast = dataclasses.replace(single(sigma=np.full(DRAWS, 1e-6)), y=numbers)
    few = np.array([np.round(forecast.sample(4, seed=seed)[0]) for seed in range(20)])
    assert len(np.unique(few)) > 20
    assert_mean(few.mean(axis=1), (DRAWS - 1) / 2)
    every = np.round(forecast.sample(3 * DRAWS, seed=0)[0])
    assert (np.bincount(every.astype(int)) == 3).all()


def test_quantiles_are_ordered_and_right():
    forecast = paired()
    found = forecast.quantile([0.05, 0.5, 0.95])
    assert found.shape == (EVENTS, 3, 2)
    assert (np.diff(found, axis=1) > 0).all()
    cdf = stats.norm.cdf(found[:, :, :, None], forecast.y.transpose(1, 2, 0)[:, None], SIGMA)
    # Standard error of the level of a sample quantile: at most sqrt(.25 / 20000) = 0.0035.
    expected = np.broadcast_to(np.array([0.05, 0.5, 0.95])[None, :, None], (EVENTS, 3, 2))
    np.testing.assert_allclose(cdf.mean(axis=-1), expected, atol=6 * 0.0036)
    np.testing.assert_array_equal(forecast.quantile(0.5), found[:, 1])


def test_first_exceeds_agrees_with_sampling():
    forecast = paired()
    drawn = forecast.sample(SAMPLES * 10, seed=6)
    won = (drawn[..., 0] > drawn[..., 1]).reshape(EVENTS, 50, -1).mean(axis=2)
    assert_mean(won.T, forecast.first_exceeds)


def test_first_exceeds_without_a_closed_form_counts_a_tie_as_half():
    base = paired()
    noise = {"first_cut": np.full((DRAWS, 1), 0.0), "log_gaps": np.zeros((DRAWS, 0))}
    forecast = dataclasses.replace(base, likelihood=Ordinal(2), noise=noise)
    high = 1 / (1 + np.exp(-base.y))  # P(level 2)
    ahead = high[..., 0] * (1 - high[..., 1])
    tie = high.prod(axis=2) + (1 - high).prod(axis=2)
    expected = (ahead + tie / 2).mean(axis=0)
    np.testing.assert_allclose(forecast.first_exceeds, expected, atol=6 * 0.0036)


def goals() -> Forecast:
    y = np.random.default_rng(5).normal([0.5, 0.2], 0.4, (DRAWS, EVENTS, 2))
    noise = {"shared": np.random.default_rng(6).uniform(0, 0.5, DRAWS)}
    return dataclasses.replace(paired(), likelihood=PairedPoisson(), y=y, noise=noise)


def test_outcomes_of_goals_are_sums_over_all_scores():
    """Whatever both teams share is left out: it changes no outcome."""
    forecast = goals()
    counts = np.arange(40)
    own = stats.poisson.pmf(counts[:, None, None, None], np.exp(forecast.y)[None])
    table = np.einsum("ade,bde->abe", own[..., 0], own[..., 1]) / DRAWS
    won = table[np.tril_indices(40, -1)].sum(axis=0)
    drawn = table[np.diag_indices(40)].sum(axis=0)
    np.testing.assert_allclose(forecast.equal, drawn, rtol=1e-9)
    np.testing.assert_allclose(forecast.first_exceeds, won + 0.5 * drawn, rtol=1e-9)
    np.testing.assert_allclose(forecast.to_frame()["p_equal"], drawn, rtol=1e-9)


def test_continuous_values_are_never_equal():
    assert (paired().equal == 0).all()
    assert "p_equal" not in paired().to_frame()


def test_a_tie_without_a_closed_form_is_counted():
    cuts = {"first_cut": np.zeros((DRAWS, 1)), "log_gaps": np.zeros((DRAWS, 0))}
    y = np.zeros((DRAWS, EVENTS, 2))
    even = dataclasses.replace(paired(), likelihood=Ordinal(2), y=y, noise=cuts)
    np.testing.assert_allclose(even.equal, 0.5, atol=6 * 0.0036)


def test_first_exceeds_needs_pairs():
    with pytest.raises(DataError, match="first_exceeds needs pairs"):
        _ = single().first_exceeds


def test_events_come_first_and_pairs_last():
    two, one = paired(), single()
    assert two.mean.shape == two.sd.shape == (EVENTS, 2)
    assert two.covariance.shape == (EVENTS, 2, 2)
    assert two.sample(7).shape == (EVENTS, 7, 2)
    assert two.quantile(0.3).shape == (EVENTS, 2)
    assert two.log_prob(np.ones((EVENTS, 2))).shape == (EVENTS,)
    assert two.first_exceeds.shape == (EVENTS,)
    assert one.mean.shape == one.sd.shape == (EVENTS,)
    assert one.covariance.shape == (EVENTS, 1, 1)
    assert one.sample(7).shape == (EVENTS, 7)
    assert one.quantile([0.1, 0.9]).shape == (EVENTS, 2)
    assert one.log_prob(np.ones(EVENTS)).shape == (EVENTS,)
    assert len(two) == EVENTS
    assert repr(two) == "Forecast of 3 events from 40 draws"


def test_the_frame_names_everything():
    told = paired().to_frame()
    parts = ["mean", "sd", "5%", "95%"]
    values = [f"{name}_{part}" for name in ("ours", "theirs") for part in parts]
    assert list(told.columns) == ["host", "guest", *values, "correlation", "p_host"]
    assert list(told["host"]) == ["a", "b", "c"]
    assert (told["ours_5%"] < told["ours_mean"]).all()
    assert (told["ours_mean"] < told["ours_95%"]).all()
    assert told["correlation"].abs().max() < 1
    assert list(single().to_frame().columns) == [
        "host",
        "guest",
        *(f"value_{p}" for p in parts),
    ]


def test_log_prob_reads_a_frame():
    forecast = paired()
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    known = frame().assign(ours=values[:, 0], theirs=values[:, 1])
    np.testing.assert_array_equal(forecast.log_prob(known), forecast.log_prob(values))
    with pytest.raises(DataError, match="values: there is no column 'ours'"):
        forecast.log_prob(frame())
    with pytest.raises(DataError, match=r"row 1 holds .*nan.*expected finite numbers"):
        forecast.log_prob(np.full((3, 2), np.nan))


@pytest.mark.parametrize("shape", [(EVENTS,), (2, EVENTS), (EVENTS + 1, 2), ()])
def test_values_of_another_shape_are_refused(shape):
    message = r"values: found shape .*, expected \(3, 2\)"
    with pytest.raises(DataError, match=message):
        paired().log_prob(np.ones(shape))


def test_one_event_may_come_without_its_axis():
    base = paired()
    one = dataclasses.replace(base, y=base.y[:, :1], data=base.data.take([0]))
    np.testing.assert_array_equal(one.log_prob([3.0, 4.0]), one.log_prob([[3.0, 4.0]]))


def test_ordinal_levels_have_probability_one_together():
    forecast = stars()
    each = [forecast.log_prob(np.full(EVENTS, level)) for level in (1, 2, 3, 4)]
    np.testing.assert_allclose(np.exp(each).sum(axis=0), 1.0, rtol=1e-10)
    with pytest.raises(DataError, match="Ordinal: row 2 holds 5, expected a whole level"):
        forecast.log_prob([1, 5, 2])


def test_values_of_other_events_are_refused():
    forecast = paired()
    scores = {"ours": [1.0, 2.0, 3.0], "theirs": [2.0, 1.0, 2.0]}
    alone = forecast.log_prob(pd.DataFrame(scores))
    named = frame().assign(**scores)
    np.testing.assert_array_equal(forecast.log_prob(named), alone)
    for other in (named[::-1], named.rename(columns={"host": "guest", "guest": "host"})):
        with pytest.raises(DataError, match="row 1 is another event"):
            forecast.log_prob(other)
    with pytest.raises(DataError, match="found 2 rows, expected 3"):
        forecast.log_prob(named[:2])
    with pytest.raises(DataError, match="expected numbers"):
        forecast.log_prob(["a", "b", "c"])


def test_impossible_sizes_are_refused(unchecked):
    with pytest.raises(ConfigError, match="n=-1, expected a whole number"):
        paired().sample(-1)
    for q in (2, [0.5, -0.1]):
        with pytest.raises(ConfigError, match="expected probabilities between 0 and 1"):
            paired().quantile(q)
