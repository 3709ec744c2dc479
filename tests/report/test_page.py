"""The page as text: whole, small, and not to be broken by names."""

import dataclasses
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from dpmf import ConfigError, DataError
from dpmf.likelihoods import PairedGaussian
from dpmf.report import Results, page
from dpmf.report.diagnosis import in_words
from dpmf.report.explorer import explorer, within_budget
from dpmf.report.features import Features
from dpmf.report.packed import script_json
from dpmf.report.results import calibration, shown
from report_made import NAMES, results


class Parts(HTMLParser):
    """Elements by name, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self._inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.scripts[-1] += data


def test_names_do_not_break_it(made):
    parts = Parts(made.page.read_text(encoding="utf-8"))
    assert [tag for tag, _ in parts.tags].count("script") == 2
    data = json.loads(parts.scripts[0])
    assert sorted(data["teams"]) == sorted(NAMES.values())
    assert not any(tag == "b" for tag, _ in parts.tags)


def test_it_asks_for_nothing_outside(made):
    text = made.page.read_text(encoding="utf-8")
    parts = Parts(text)
    for _, attributes in parts.tags:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert attributes.get("href", "#").startswith(("#", "data:"))
    assert "@import" not in text and "url(http" not in text and "default-src 'none'" in text


@pytest.mark.parametrize("rank", [1, 3])
def test_a_league_of_thirty_stays_small(rank):
    """What grows with the league are the features: 25 weeks at three venues here."""
    draws = within_budget(2 * rank * 30 * 25 * 3)
    assert draws >= 100
    values = np.random.default_rng(0).normal(size=(draws, rank, 30, 25, 3))
    noise = {"sigma": values[:, 0, 0, 0, 0], "rho": values[:, 0, 0, 0, 1]}
    found = Features((), (), values, values, noise)
    assert len(script_json(explorer(found, PairedGaussian()))) < 6e6


def test_it_needs_something_to_show():
    with pytest.raises(ConfigError, match="needs a fit or the folder"):
        page()


def test_a_fit_that_has_not_converged_says_so_above_all(made):
    text = made.page.read_text(encoding="utf-8")
    assert not made.fit.diagnostics.converged
    assert text.index("have not converged") < text.index('id="matchup"')
    told = made.fit.diagnostics
    good = told._replace(rhat=np.ones_like(told.rhat), ess_bulk=np.full_like(told.rhat, 1e4))
    assert "have not converged" not in page(dataclasses.replace(made.fit, diagnostics=good))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("max R-hat 1.1 (cols season+week.length), more", "(length over time, defence)"),
        ("max R-hat 1.1 (rows pooled weights), more", "(weights, attack (mean of all))"),
        ("max R-hat 1.1 (rows pooled rest.length)", "(length over rest, attack (mean of all))"),
        ("max R-hat 1.1 (y[12]), 5 divergent steps (7% of", "(expected scores of games)"),
        ("R-hat needs at least 2 chains of 4 draws", "2 chains of 4"),
    ],
)
def test_the_verdict_names_quantities_in_words(line, words):
    assert words in in_words(line)


def test_backtests_stand_alone():
    text = page(results=results())
    parts = Parts(text)
    assert "How good were the forecasts? 2002 to 2003" in text
    assert "paper \u22127.575" in text  # the published value stands below ours
    assert [tag for tag, _ in parts.tags].count("script") == 2
    assert 'id="matchup"' not in text and 'id="calibration"' in text


def test_the_best_that_is_not_the_market_is_marked():
    told = shown(results())
    rows = told["overall"]["rows"]
    assert [row["cells"][0]["best"] for row in rows] == [True, False, False]
    assert [row["kind"] for row in rows] == ["other", "market", "other"]
    assert told["fits"]["odd"] == 1 and told["fits"]["worst"] == "1.200"
    assert [one["best"] for one in calibration(results())] == [True, False, False]


def test_a_folder_that_is_no_backtest_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"scores.csv: cannot be read .* has finished"):
        Results.read(tmp_path)
    (tmp_path / "scores.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"scores.csv: there is no column 'forecaster'"):
        Results.read(tmp_path)


def test_tables_come_back_from_a_folder(tmp_path):
    for name, table in results()._asdict().items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    assert shown(Results.read(tmp_path)) == shown(results())
    (tmp_path / "fits.csv").write_text("\n")  # a backtest of baselines alone
    assert shown(Results.read(tmp_path))["fits"] is None


def test_a_fit_of_anything_else_is_refused(made):
    with pytest.raises(DataError, match=r"my\.nc: this fit was not made from a table of games"):
        page(dataclasses.replace(made.fit, notes={}), source="my.nc")
