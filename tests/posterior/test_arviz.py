"""A fit in ArviZ: every group with its dims, and tools that work on it."""

import arviz_stats
import numpy as np
import pytest

from dpmf import DPMF, Dyads
from dpmf.kernels import Matern12
from dpmf.likelihoods import Gaussian
from inference.fitted import CASES, fitted, held, ratings

GROUPS = {
    "posterior",
    "sample_stats",
    "observed_data",
    "log_likelihood",
    "posterior_predictive",
}


@pytest.fixture(scope="module")
def tree():
    return fitted("games hmc").to_arviz()


def test_groups_have_named_dims(tree):
    assert set(tree.children) == GROUPS
    posterior = tree["posterior"]
    assert posterior["sigma"].dims == ("chain", "draw")
    assert posterior["rows_mean"].dims == ("chain", "draw", "feature")
    assert posterior["cols_corr"].dims == ("chain", "draw", "feature", "feature_bis")
    assert posterior["rows_season+week.gap"].dims[:3] == ("chain", "draw", "feature")
    assert tree["log_likelihood"]["values"].dims == ("chain", "draw", "event")
    assert tree["observed_data"]["values"].dims == ("event", "value")
    assert tree["posterior_predictive"]["values"].dims == ("chain", "draw", "event", "value")
    assert list(tree["observed_data"]["value"].values) == ["ours", "theirs"]
    assert {"lp", "acceptance_rate", "n_steps", "diverging"} <= set(tree["sample_stats"])
    assert tree["sample_stats"]["diverging"].dtype == bool


def test_what_is_in_them(tree):
    fit, frame = fitted("games hmc"), CASES["games hmc"].frame
    np.testing.assert_array_equal(tree["observed_data"]["values"], frame[["ours", "theirs"]])
    np.testing.assert_array_equal(tree["posterior"]["rho"], fit.parameters.noise["rho"])
    corr = tree["posterior"]["rows_corr"].values
    np.testing.assert_allclose(np.diagonal(corr, axis1=2, axis2=3), 1.0)
    averaged = np.log(np.exp(tree["log_likelihood"]["values"].values).mean(axis=(0, 1)))
    np.testing.assert_allclose(averaged, fit.predict(frame).log_prob(frame), rtol=1e-8)


def test_loo_and_summary_work_on_it(tree):
    loo = arviz_stats.loo(fitted("games slice").to_arviz())
    assert np.isfinite(loo.elpd)
    assert loo.n_data_points == 16
    told = arviz_stats.summary(tree, var_names=["sigma", "rho"])
    assert list(told.index) == ["sigma", "rho"]


@pytest.mark.parametrize(
    "make", [lambda: fitted("stars hmc"), held, lambda: fitted("links hmc")]
)
def test_single_values_have_no_pair_axis(make):
    fit = make()
    tree = fit.to_arviz()
    assert tree["observed_data"]["values"].dims == ("event",)
    assert tree["posterior_predictive"]["values"].dims == ("chain", "draw", "event")
    assert np.isfinite(arviz_stats.loo(tree).elpd)
    drawn = tree["posterior_predictive"]["values"].values
    assert set(np.unique(drawn)) <= set(range(5))


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("goals slice", "shared"), ("counts slice", "overdispersion"), ("outliers hmc", "nu")],
)
def test_parameters_of_outliers_and_counts(name, parameter):
    tree = fitted(name).to_arviz()
    assert tree["posterior"][parameter].dims == ("chain", "draw")
    assert np.isfinite(arviz_stats.loo(tree).elpd)
    drawn = tree["posterior_predictive"]["values"].values
    assert (parameter == "nu") != np.array_equal(drawn, np.round(drawn))


def test_a_slash_in_the_name_of_an_input_parts_no_groups():
    frame = ratings(Gaussian()).rename(columns={"week": "week/year"})
    data = Dyads.from_frame(
        frame, row="viewer", col="film", value="value", inputs=["week/year"]
    )
    model = DPMF(1, Matern12("week/year"), Gaussian())
    tree = model.fit(data, chains=2, warmup=2, draws=4, engine="slice", progress=False)
    assert "rows_week_year.length" in tree.to_arviz()["posterior"]
