"""Pictures hold the numbers they should."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpmf import DataError, Games, plots
from dpmf.plots.ratings import rating_draws
from dpmf.plots.score_density import density
from dpmf.sports import score_model
from league import league


@pytest.fixture(scope="module")
def games():
    return Games(league())


@pytest.fixture(scope="module")
def fit(games):
    model = score_model(2, ("time",), paper=True)
    sizes = {"chains": 2, "warmup": 6, "draws": 5, "engine": "slice"}
    return model.fit(games.between(2001, 2002), **sizes, progress=False)


@pytest.fixture(scope="module")
def forecast(fit, games):
    return fit.predict(games.between(2003, 2003).frame)


def test_density_is_the_mixture_of_normals(forecast):
    x, y = np.array([20.0, 25.0, 31.0]), np.array([18.0, 22.0])
    expected = np.zeros((2, 3))
    for draw in range(len(forecast.y)):
        sigma, rho = (float(forecast.noise[n].reshape(-1)[draw]) for n in ("sigma", "rho"))
        covariance = sigma**2 * np.array([[1, rho], [rho, 1]])
        normal = multivariate_normal(forecast.y[draw, 4], covariance)
        for i, j in np.ndindex(2, 3):
            expected[i, j] += normal.pdf([x[j], y[i]]) / len(forecast.y)
    np.testing.assert_allclose(density(forecast, 4, x, y), expected, rtol=1e-10)


def test_score_density_shows_forecast_line_and_outcome(forecast):
    figure = plots.score_density(forecast, 4, line=(25.0, 20.0), outcome=(30.0, 17.0))
    names = [trace.name for trace in figure.data]
    assert names == [None, "level", "forecast", "line", "outcome"]
    assert (figure.data[4].x[0], figure.data[4].y[0]) == (30, 17)
    np.testing.assert_allclose([figure.data[2].x[0], figure.data[2].y[0]], forecast.mean[4])
    step = np.diff(figure.data[0].x)[0] * np.diff(figure.data[0].y)[0]
    assert figure.data[0].z.sum() * step == pytest.approx(1.0, abs=0.01)
    with pytest.raises(DataError, match="event=99, expected 0 to"):
        plots.score_density(forecast, 99)


def test_ratings_average_over_opponents(fit, games):
    curves = rating_draws(fit, "A")
    draws = fit.shape[0] * fit.shape[1]
    assert curves["scores"].shape == (draws, 16)
    frame = games.frame.iloc[:5].assign(
        season=2002.0, week=3.0, home=0.0, home_team="A", away_team=list("BCDEF")
    )
    each = fit.predict(frame)
    place = curves["when"].index("2002, week 4")
    np.testing.assert_allclose(
        curves["concedes"][:, place], each.y[:, :, 1].mean(axis=1), rtol=1e-8
    )
    figure = plots.ratings(fit, "A")
    assert [trace.name for trace in figure.data if trace.name] == ["scores", "concedes"]
    with pytest.raises(DataError, match="team='Z', expected one of A, B"):
        plots.ratings(fit, "Z")


def test_hyperparameters_of_both_sides(fit, games):
    gaps = plots.gaps(fit)
    assert [trace.name for trace in gaps.data] == ["attack", "defence"]
    assert len(gaps.data[0].x) == fit.shape[0] * fit.shape[1] * 2
    lengths = plots.length_scales(fit)
    assert [t.name for t in lengths.data] == [
        f"{side}, season+week, {k}" for side in ("attack", "defence") for k in (1, 2)
    ]
    assert (np.array(lengths.data[0].y) <= np.array(lengths.data[1].y)).all()


def test_a_model_without_hyperparameters_is_refused(games):
    plain = score_model(1, ()).fit(
        games, chains=1, warmup=2, draws=4, engine="slice", progress=False
    )
    for plot, message in ((plots.gaps, "no gap between"), (plots.length_scales, "no length")):
        with pytest.raises(DataError, match=message):
            plot(plain)
