"""A model or a call that has no meaning is refused, with a message that helps."""

import dataclasses
import warnings

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from dpmf import DPMF, PMF, ConfigError, DataError, DpmfWarning, SamplingError
from dpmf.inference.chains import Sizes
from dpmf.inference.request import within
from dpmf.kernels import Categorical, Constant, Matern12, SquaredExponential
from dpmf.likelihoods import Bernoulli, Gaussian, Likelihood, Noise, Ordinal, PairedGaussian
from dpmf.types import pytree_dataclass
from inference.fitted import (
    CASES,
    SIZES,
    fitted,
    game_dyads,
    games,
    problem_of,
    rating_dyads,
    ratings,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 0}, "rank=0, expected a whole number of at least 1"),
        ({"rank": 1.5}, "rank=1.5, expected a whole number"),
        (
            {"kernel": "matern"},
            r"kernel='matern', expected a kernel such as Matern12\('time'\)",
        ),
        ({"kernel": (Constant(), "time")}, "kernel='time', expected a kernel"),
        ({"kernel": (Constant(),) * 3}, "kernel holds 3 choices, expected one, or a pair"),
        ({"mean": "linear"}, "mean='linear', expected 'constant' or 'pooled'"),
        ({"mean": ("pooled", "linear")}, "mean='linear', expected"),
        ({"mean": ("pooled",)}, "mean holds 1 choices, expected one, or a pair"),
        ({"mean_kernel": "home"}, "kernel='home', expected a kernel"),
        ({"likelihood": "gaussian"}, "likelihood='gaussian', expected a likelihood such as"),
        ({"scale": 0.0}, "scale=0.0, expected a positive number"),
        ({"scale": float("nan")}, "scale=nan, expected a positive number"),
        ({"spread": -1.0}, "spread=-1.0, expected a positive number"),
        ({"scale": "a"}, "scale='a', expected a positive number"),
        ({"rank": True}, "rank=True, expected a whole number"),
        ({"intercepts": 1}, "intercepts=1, expected True or False"),
    ],
)
def test_a_model_without_meaning_is_refused(unchecked, options, message):
    with pytest.raises(ConfigError, match=message):
        DPMF(**options)


def test_pmf_is_dpmf_with_constant_kernels():
    assert PMF(2, Gaussian(), scale=3.0) == DPMF(2, Constant(), Gaussian(), scale=3.0)


def test_reversed_bounds_are_refused():
    with pytest.raises(
        ConfigError, match=r"length bounds are \(9, 1\); expected 0 < low < high"
    ):
        Matern12("week", length=(9, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "nuts"}, "engine='nuts', expected 'hmc' or 'slice'"),
        ({"chains": 0}, "chains=0, expected a whole number of at least 1"),
        ({"draws": 0}, "draws=0, expected a whole number of at least 1"),
        ({"thin": 0}, "thin=0, expected a whole number of at least 1"),
        ({"warmup": -1}, "warmup=-1, expected a whole number of at least 0"),
    ],
)
def test_a_call_without_meaning_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        PMF().fit(game_dyads(games()), **options)


@pytest.mark.parametrize(
    "model",
    [
        DPMF(kernel=Matern12("time")),
        DPMF(kernel=(Constant(), Matern12("time"))),
        DPMF(mean="pooled", mean_kernel=SquaredExponential("time")),
    ],
)
def test_a_kernel_that_reads_an_unknown_input_is_refused(model):
    message = r"there is no input 'time' \(the data have: season, week, home\).*inputs="
    with pytest.raises(ConfigError, match=message):
        model.fit(game_dyads(games()))


def with_value(likelihood: Likelihood, row: int, value: float) -> pd.DataFrame:
    frame = ratings(likelihood)
    frame["value"] = frame["value"].astype(float)
    frame.loc[row, "value"] = value
    return frame


@pytest.mark.parametrize(
    ("likelihood", "value", "message"),
    [
        (Ordinal(4), 5.0, "Ordinal: row 8 holds 5, expected a whole level from 1 to 4"),
        (Ordinal(4), 2.5, "Ordinal: row 8 holds 2.5, expected a whole level"),
        (Bernoulli(), 2.0, "Bernoulli: row 8 holds 2, expected 0 or 1"),
    ],
)
def test_a_value_the_likelihood_cannot_produce_is_refused(likelihood, value, message):
    data = rating_dyads(with_value(likelihood, 7, value))
    with pytest.raises(DataError, match=message):
        PMF(1, likelihood).fit(data)


def test_a_pair_likelihood_needs_pairs():
    message = r"PairedGaussian: events have 1 value\(s\), expected 2.*value=\(\"first\""
    with pytest.raises(DataError, match=message):
        PMF(1, PairedGaussian()).fit(rating_dyads(ratings(Gaussian())))


def test_events_without_a_value_are_refused():
    data = game_dyads(games())
    upcoming = data.encode(games().drop(columns=["ours", "theirs"]))
    with pytest.raises(DataError, match="row 1 has no value, expected one for every event"):
        PMF().fit(upcoming)


def test_scales_come_from_the_data_unless_given():
    data = game_dyads(games())
    found, given = PMF().spec(data), PMF(scale=7.0, spread=2.0).spec(data)
    assert found.likelihood == PairedGaussian()
    assert found.scale == pytest.approx(np.sqrt(np.mean(data.values**2)))
    assert found.spread == pytest.approx(data.values.std())
    assert (given.scale, given.spread) == (7.0, 2.0)
    assert PMF().spec(rating_dyads(ratings(Gaussian()))).likelihood == Gaussian()


def test_a_pooled_mean_reads_home_where_there_is_one():
    one = DPMF(kernel=Matern12("week"), mean=("pooled", "constant"))
    with_home = one.spec(game_dyads(games()))
    without = dataclasses.replace(one, likelihood=Gaussian())
    without = without.spec(rating_dyads(ratings(Gaussian())))
    assert with_home.rows.pooled.columns == ("home",)
    assert without.rows.pooled == without.rows.kernel
    assert with_home.cols.pooled is None


@pytree_dataclass
class BrokenNoise(Noise):
    def log_prob(self, y, values):
        return jnp.full(y.shape[0], jnp.nan)

    def sample(self, key, y):
        return y


@dataclasses.dataclass(frozen=True)
class Broken(Likelihood):
    def priors(self, spread):
        return {}

    def at(self, parameters):
        return BrokenNoise()


def test_nan_at_the_start_of_a_chain_is_an_error():
    message = "chain 0: the log density is nan at the start, expected a finite number"
    with pytest.raises(SamplingError, match=message):
        PMF(1, Broken()).fit(rating_dyads(ratings(Broken())), **SIZES)


def test_the_frame_is_left_as_it_is():
    frame = games()
    before = frame.copy(deep=True)
    fit = fitted("games hmc")
    fit.predict(frame)
    with pytest.raises(ConfigError):
        DPMF(kernel=Matern12("time")).fit(game_dyads(frame))
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("room", "sizes", "expected"),
    [
        (100, Sizes(5, 100, 1), Sizes(5, 100, 1)),
        (50, Sizes(5, 100, 1), Sizes(5, 50, 2)),
        (30, Sizes(5, 100, 3), Sizes(5, 25, 12)),
        (0, Sizes(5, 100, 1), Sizes(5, 1, 100)),
    ],
)
def test_kept_draws_stay_within_the_budget(x64, room, sizes, expected):
    case = CASES["stars hmc"]
    problem = problem_of(case.model, case.data)
    each = 8 * 2 * sum(leaf.size for leaf in problem.template().white if leaf is not None)
    each += 8 * 2 * (1 + 1 + 1 + 1 + 1)  # means, sds, first cut; one function, one gap-less cut
    with warnings.catch_warnings():
        warnings.simplefilter("error" if expected == sizes else "ignore", DpmfWarning)
        assert within(room * each, problem, 2, sizes) == expected


@pytest.mark.parametrize("texts", [["2020-12-31", "2020-01-01", "oops"], ["10", "9", "x"]])
def test_text_has_no_distances(texts):
    frame = ratings(Gaussian()).assign(genre=np.resize(texts, 24))
    data = rating_dyads(frame)
    for kernel in (Matern12("genre"), Constant() + Matern12("week") * Matern12("genre")):
        with pytest.raises(ConfigError, match=r"'genre' is text, such as .*Categorical"):
            DPMF(1, kernel).spec(data)
    assert DPMF(1, Categorical("genre")).spec(data)


def test_nothing_to_learn_from_is_refused():
    data = game_dyads(games())
    with pytest.raises(DataError, match="there are no events"):
        PMF().fit(data.take([]), **SIZES)


@pytest.mark.parametrize("option", ["start", "hyperparameters"])
def test_parts_of_another_kind_are_refused(unchecked, option):
    with pytest.raises(ConfigError, match=f"{option} is a dict, expected a"):
        PMF().fit(game_dyads(games()), **{option: {}}, **SIZES)


def test_a_warm_start_needs_as_many_values_per_event():
    case = CASES["values hmc"]
    with pytest.raises(ConfigError, match=r"earlier fit has 1 value\(s\) per event"):
        case.model.fit(game_dyads(games()), start=fitted("values hmc"), **SIZES)


def test_numbers_of_numpy_become_plain_ones(unchecked):
    model = DPMF(np.int64(2), likelihood=Ordinal(np.int64(5)), scale=np.float32(3.0))
    assert (type(model.rank), type(model.scale)) == (int, float)
    assert type(model.likelihood.levels) is int


def test_simulated_values_need_no_earlier_ones(unchecked):
    frame = ratings(Gaussian())
    blank = rating_dyads(frame).encode(frame.drop(columns="value"))
    levels = PMF(1, Ordinal(5)).simulate(blank).data.values
    assert set(np.unique(levels)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    with pytest.raises(DataError, match="give scale= and spread= instead"):
        PMF().simulate(blank)
    assert np.isfinite(PMF(scale=3.0, spread=1.0).simulate(blank).data.values).all()
    with pytest.raises(ConfigError, match="data is a DataFrame, expected Dyads"):
        PMF().simulate(frame)
