"""What the contest of ratings does around its contestants."""

import argparse

import jax
import numpy as np
import page
import pandas as pd
import pytest
import rated
import raters
import ratings

LEVELS = np.arange(1.0, 6.0)


@pytest.fixture
def task() -> raters.Task:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "user": generator.integers(9, size=600),
            "item": generator.integers(40, size=600),
            "value": generator.choice(LEVELS, 600),
            "moment": np.arange(600),
        }
    )
    train, test = rated.split(frame, "last")
    made = rated.Ratings(frame, LEVELS, (), ("last",))
    return raters.Task(made, "last", train, test, 0, {"clock": "round"})


def test_points_get_an_sd_from_a_cut_of_the_training_ratings(task, monkeypatch):
    learned, asked = [], []

    def fitted(train, task):
        learned.append(train)
        return "model"

    def points(model, frame):
        asked.append(frame)
        return np.full(len(frame), 3.0)

    monkeypatch.setattr(raters, "_svdpp", fitted)
    monkeypatch.setattr(raters, "_points", points)
    found = raters.svdpp(task)(task.test)
    (rest, train), (cut, test) = learned, asked
    assert sorted([*rest.index, *cut.index]) == sorted(task.train.index)
    assert len(cut) == sum(len(own) // 10 for _, own in task.train.groupby("user"))
    assert train is task.train and test is task.test
    expected = rated.tuned_sd(np.full(len(cut), 3.0), task.ratings.level(cut), LEVELS)
    assert found.about["sd"] == expected


def test_indicators_of_what_was_never_seen_are_nowhere(task):
    design = raters._Design(task)
    known = design.of(task.train).toarray()
    assert (known.sum(axis=1) == 2).all()
    assert known.shape[1] == task.train["user"].nunique() + task.train["item"].nunique()
    assert (
        known[:, np.flatnonzero(design.levels["user"] == 3)[0]].sum()
        == (task.train["user"] == 3).sum()
    )
    stranger = task.train.head(1).assign(user=99)
    assert design.of(stranger).toarray().sum() == 1


@pytest.mark.parametrize("clock", rated.CLOCKS)
def test_functions_are_of_one_clock_which_peers_are_not_told(task, clock):
    frame = task.ratings.frame.assign(day=0.0, round=0.0)
    both = task._replace(
        ratings=task.ratings._replace(frame=frame, covariates=rated.CLOCKS),
        train=frame,
        options={"clock": clock},
    )
    assert raters._inputs(both) == [clock]
    assert raters._dependence(both)["kernel"][0].columns == (clock,)
    assert set(raters._Design(both).levels) == {"user", "item"}


def test_a_part_is_some_of_the_ratings(task):
    some = ratings.part(task.train, 100)
    assert len(some) == 100 and some.index.is_unique
    assert set(some.index) <= set(task.train.index)
    assert ratings.part(task.train, None) is task.train


ROW = {"rmse": 0.9, "calibration": 0.01, "fit_s": 3.0, "peak_mib": 100}


def test_choices_are_made_on_training_ratings_alone(task, monkeypatch):
    given = []

    def contestant(task):
        given.append(task)
        return lambda test: raters.Found(
            rated.Forecast(np.full(len(test), 3.0), np.full((len(test), 5), 0.2)), {}
        )

    monkeypatch.setitem(ratings.SETS, "few", lambda: task.ratings)
    monkeypatch.setitem(ratings.CONTESTANTS, "fair", contestant)
    monkeypatch.setattr(jax.config, "update", lambda *_: None)  # jax has begun already
    settings = {"ratings": None, "seed": 0, "thin": 1}
    for validate in (True, False):
        ratings.measured("few", "last", "fair", settings | {"validate": validate})
    chosen, scored = given
    assert scored.test.index.equals(task.test.index)
    assert sorted([*chosen.train.index, *chosen.test.index]) == sorted(task.train.index)
    assert len(chosen.test) > 0


@pytest.mark.parametrize(
    ("options", "written"), [({}, 1), ({"validate": True}, 0), ({"ratings": 100}, 0)]
)
def test_results_of_whole_contests_alone_are_written(task, monkeypatch, options, written):
    kept = []
    row = ROW | {"mean_log_prob": -1.0}
    monkeypatch.setitem(ratings.SETS, "few", lambda: task.ratings)
    monkeypatch.setattr(ratings, "_in_its_own_process", lambda which, options: row)
    monkeypatch.setattr(ratings, "known_result", lambda name: {})
    monkeypatch.setattr(ratings, "write_result", lambda *given: kept.append(given))
    asked = {"sets": "few", "splits": "last", "contestants": "pmf", "name": "ratings"}
    asked |= {"ratings": None, "validate": False, **options}
    ratings._contest(argparse.Namespace(**asked))
    assert len(kept) == written


def test_the_best_is_told_first():
    rows = {"pmf": ROW | {"mean_log_prob": -2.0}, "dpmf": ROW | {"mean_log_prob": -1.5}}
    lines = ratings.told("movielens", "last", rows).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["dpmf", "pmf"]


def test_the_page_has_a_table_for_every_split():
    row = ROW | {"mean_log_prob": -1.5, "ratings": 90_000}
    found = {
        "machine": {"cores": 2},
        "movielens": {"last": {"dpmf": row, "svdpp": row}},
        "ladder": {"points": [row], "slopes": {"s_per_evaluation": 0.97}},
    }
    text = page.ratings(found)
    assert "### movielens, last" in text
    assert "| Surprise, SVD++ | 0.9000 | -1.5000 | 0.0100 | 3 | 100 |" in text
    assert "grows with slope 0.97" in text


@pytest.mark.parametrize("counts", [True, False])
def test_the_page_says_of_chains_that_disagree_that_they_do_not_count(counts):
    sizes = {"rank": 1, "chains": 2, "warmup": 4, "draws": 5, "thin": 1}
    about = {"rhat_max": 1.2, "ess_median": 50.0, "line": "So so.", "counts": counts}
    text = page._agreement({"pmf": ROW | sizes | about})
    assert "largest R-hat is 1.200" in text
    assert (page.DISAGREEING in text) == (not counts)
