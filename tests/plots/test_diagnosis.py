"""Pictures of calibration and of chains hold the numbers they should; their examples run."""

import doctest

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import dpmf
from dpmf import ConfigError, DataError, Games, plots
from dpmf.backtest.calibration import flatness, reliability
from dpmf.plots.ranks import rank_counts
from dpmf.sports import score_model
from league import league


@pytest.fixture(scope="module")
def games():
    return Games(league())


@pytest.fixture(scope="module")
def fit(games):
    model = score_model(1, ())
    sizes = {"chains": 3, "warmup": 6, "draws": 40, "engine": "slice"}
    return model.fit(games, **sizes, progress=False)


@pytest.fixture(scope="module")
def scores(games):
    options = {"baselines": ["home", "line", "elo538"], "seasons": [2002, 2003]}
    return dpmf.backtest(games, [], **options, window=2, progress=False).scores


@pytest.mark.parametrize("name", ["calibration", "pit", "trace", "ranks"])
def test_examples_run(name, games, fit):
    examples = doctest.DocTestParser().get_examples(getattr(plots, name).__doc__)
    assert examples
    known = {"dpmf": dpmf, "games": games, "fit": fit}
    for one in examples:
        exec(one.source, known)
    assert isinstance(known["figure"], go.Figure)


def test_calibration_shows_every_forecaster(scores):
    figure = plots.calibration(scores)
    assert [one.name for one in figure.data] == ["right", "home", "line", "elo538"]
    own = reliability(scores[scores["forecaster"] == "line"])
    np.testing.assert_allclose(figure.data[2].x, own.said)
    np.testing.assert_allclose(figure.data[2].error_y.array, own.high - own.won)
    np.testing.assert_allclose(figure.data[2].error_y.arrayminus, own.won - own.low)
    with pytest.raises(DataError, match="forecaster='me', expected one of home, line, elo538"):
        plots.calibration(scores, "me")


def test_ranks_of_a_model_have_names_of_their_own(scores):
    two = scores[scores["forecaster"] == "home"]
    both = [two.assign(forecaster="PMF", rank=float(rank)) for rank in (1, 2)]
    figure = plots.calibration(pd.concat(both))
    assert [one.name for one in figure.data[1:]] == ["PMF, rank 1", "PMF, rank 2"]


def test_pit_counts(scores):
    figure = plots.pit(scores, "home", of="total")
    own = flatness(scores.loc[scores["forecaster"] == "home", "pit_total"])
    np.testing.assert_array_equal(figure.data[0].y, own.counts)
    band, level = figure.layout.shapes
    assert (band.y0, band.y1, level.y0) == (own.low, own.high, own.expected)
    with pytest.raises(ConfigError, match="of='x', expected 'margin' or 'total'"):
        plots.pit(scores, "home", of="x")
    with pytest.raises(DataError, match="has no 'pit_margin': it says who wins alone"):
        plots.pit(scores, "elo538")


def test_trace_shows_every_chain(fit):
    figure = plots.trace(fit, ["sigma", "y[3]"])
    assert [one.name for one in figure.data] == [f"chain {n}" for n in (1, 2, 3)] * 2
    np.testing.assert_array_equal(figure.data[1].y, fit.parameters.noise["sigma"][1])
    worst = plots.trace(fit)
    named = [one.text for one in worst.layout.annotations]
    place = int(np.nanargmax(fit.diagnostics.rhat))
    assert len(named) == 6 and named[0] == fit.diagnostics.names[place]
    with pytest.raises(DataError, match="there is no quantity 'tau', expected some of rho"):
        plots.trace(fit, ["tau"])


def test_ranks_of_chains_apart():
    draws = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    counts, edges = rank_counts(draws)
    np.testing.assert_array_equal(counts, [[2, 2, 0, 0], [0, 0, 2, 2]])
    np.testing.assert_allclose(edges, [0.5, 2.5, 4.5, 6.5, 8.5])


def test_ranks_shows_every_chain(fit):
    figure = plots.ranks(fit, ["rho"])
    assert len(figure.data) == 3
    assert sum(sum(one.y[:-1]) for one in figure.data) == 120
    assert figure.layout.shapes[0].y0 == pytest.approx(2.0)
