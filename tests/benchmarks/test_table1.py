"""Models that share a device take turns at it, and give it back before they are scored."""

import fcntl
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import table1
from turns import turn

from dpmf.sports import score_model


def test_one_at_a_time(tmp_path):
    inside, most, held = [], [], []

    def work():
        with turn(tmp_path / "lock") as device:
            device.take()
            device.take()  # again is nothing
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()
            device.leave()
            held.append(device.held)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert most == [1, 1, 1, 1]
    assert min(held) >= 0.05


def test_what_is_left_behind_can_be_taken(tmp_path):
    with pytest.raises(ZeroDivisionError), turn(tmp_path / "lock") as device:
        device.take()
        raise ZeroDivisionError
    with turn(tmp_path / "lock") as device:
        device.take()


def test_a_model_has_the_device_from_its_first_block_to_its_last_draw(tmp_path, monkeypatch):
    heard = []

    def held():
        with (tmp_path / "turn.lock").open() as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    def told(progress, stage, done, total):
        progress(f"DPMF(t): {stage}", done, total)
        heard.append((stage, done, held()))

    def backtest(games, models, *, baselines, progress):
        told(progress, "long run, warm-up", 25, 500)
        told(progress, "long run, sampling", 250, 250)
        told(progress, "block 1 of 2, warm-up", 25, 300)
        told(progress, "block 1 of 2, sampling", 100, 100)
        told(progress, "block 2 of 2, warm-up", 50, 50)
        told(progress, "block 2 of 2, sampling", 50, 100)
        told(progress, "block 2 of 2, sampling", 100, 100)

    monkeypatch.setattr(table1, "settings", lambda options: {})
    games = SimpleNamespace(read_games=lambda path: None, backtest=backtest)
    monkeypatch.setattr(table1, "dpmf", games)
    options = SimpleNamespace(work=tmp_path, games=None)
    name, seconds = table1._one(score_model(2, ("time",), paper=True), options, float("inf"))
    assert name == "DPMF(t) K=2"
    assert seconds > 0
    assert [one[2] for one in heard] == [False, False, True, True, True, True, False]
    assert table1._one(score_model(2, ("time",)), options, 0.0)[1] is None


def test_a_call_is_named_for_what_is_still_its_own():
    made = [{"finished": ["a", "b"]}, {"finished": ["b", "c"]}, {"finished": []}]
    found = table1._finished_in(made, {"a", "b"})
    assert [one["finished"] for one in found] == [["a"], ["b"], []]


def rows(scores, **more):
    """A summary: one row for each (forecaster, rank, season) and its log probability."""
    table = pd.DataFrame(
        [(*key, value, value) for key, value in scores.items()],
        columns=["forecaster", "rank", "season", "mean_log_prob", "winner_error_pct"],
    )
    years = [str(year) for year in range(2002, 2009)]
    table = pd.concat([table.assign(season=season) for season in [*years, "All"]])
    table = table.assign(score_rmse=10.0, rps=0.5, outcome_log_loss=np.nan, seen=False, **more)
    for name in ("mean_log_prob", "winner_error_pct", "score_rmse"):
        table[f"{name}_published"] = np.nan
    return table


def test_a_page_has_the_three_metrics_of_the_paper():
    """A summary holds others too, which the paper has not."""
    options = SimpleNamespace(
        name="t", kernel="se", mean="constant", ranks="1", side="none", block="4w",
        protocol="paper", engine="hmc", so_far=False,
    )  # fmt: skip
    fits = pd.DataFrame({"rhat_max": [1.01], "ess_median": [100.0]})
    summary = rows({("PMF", 1.0, ""): -7.5, ("line", np.nan, ""): -7.0})
    page = table1._page(options, summary, fits, [])
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert len(titles) == 3
    assert "| PMF | 1 | -7.500 |" in page


def test_what_is_closed_counts_from_the_rank_that_does_best_over_all(tmp_path, monkeypatch):
    other = rows({("PMF", 1.0, ""): -8.0, ("PMF", 2.0, ""): -7.8})
    lucky = (other["rank"] == 1) & (other["season"] == "2003")
    other.loc[lucky, "mean_log_prob"] = -7.4
    other.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.setattr(table1, "PMF_TABLE", tmp_path / "table.csv")
    summary = rows({("DPMF(t)", 1.0, ""): -7.5, ("line", np.nan, ""): -7.0})
    found = table1._with_closed(summary).set_index(["forecaster", "season"])["closed_pct"]
    assert found["DPMF(t)", "2003"] == pytest.approx(100 * 0.3 / 0.8)
    assert found["line", "All"] == pytest.approx(100)
