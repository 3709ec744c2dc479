"""Objects say what they are, in a terminal and in a notebook, whatever their names."""

import pandas as pd
import pytest

import dpmf
from dpmf import kernels
from dpmf.display import some, table
from dpmf.sports import score_model
from league import league

SLY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def games():
    return dpmf.Games(league().replace({"home": {"A": SLY}, "away": {"A": SLY}}))


def test_a_table_is_escaped():
    made = table("<b>", {"<i>": SLY, "nothing": None}, "a & b")
    assert "<b>" not in made and "<i>" not in made and "<img" not in made
    assert "nothing" not in made and "a &amp; b" in made


def test_few_names():
    assert some("abc") == "a, b, c"
    assert some(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7, ..."


def test_models_name_their_choices():
    model = dpmf.DPMF(rank=2, kernel=kernels.Matern12("time"))
    choices = "rank=2, kernel=Matern12('time'), mean='constant', inputs='auto'"
    choices += ", intercepts=False"
    assert repr(model) == f"DPMF({choices})"
    assert "Matern12(&#x27;time&#x27;)" in model._repr_html_()
    own = repr(score_model())
    assert own == "DPMF(t,h), rank 1, Matern12 over time, pooled mean, PairedGaussian()"
    assert repr(score_model(side=())) == "PMF, rank 1, constant mean, PairedGaussian()"
    assert "Score model PMF" in score_model(side=())._repr_html_()


def test_data_count_and_are_escaped(games):
    shown = games._repr_html_()
    assert "72" in shown and "2001-09-02 to 2003-10-21" in shown and SLY not in shown
    data = games.dyads()._repr_html_()
    assert "72, 2 cells each" in data and "season, week, home" in data and SLY not in data


def test_a_fit_says_whether_to_trust_it(games):
    sizes = {"chains": 1, "warmup": 2, "draws": 4, "engine": "slice", "progress": False}
    fit = score_model(1, ()).fit(games, **sizes)
    shown = fit._repr_html_()
    assert "NOT converged" in shown and "1 chains of 4" in shown and SLY not in shown


def test_numbers_as_names():
    frame = pd.DataFrame({"user": [1, 2], "film": ["a", "b"], "rating": [1.0, 2.0]})
    data = dpmf.Dyads.from_frame(frame, row="user", col="film", value="rating")
    assert "2: 1, 2" in data._repr_html_()
