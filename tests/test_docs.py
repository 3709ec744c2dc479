"""The documentation: its examples run, what it names exists, and the site needs no network."""

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

import dpmf
from few_games import CUTOFF, TINY, few_games
from pages import ROOT, run, steps

DOCS = ROOT / "docs"
BACKTEST = ["--block", "20w", "--baselines", "home", "--chains", "2", "--warmup", "5"]
QUICK = {"fit": TINY, "backtest": [*BACKTEST, "--draws", "12", "--engine", "slice"]}
PACKAGES = ("mkdocs", "material", "mkdocstrings_handlers", "latex2mathml")
# Requests that a browser makes by itself; what a reader clicks on is no such thing.
ASKING = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
IDLE = {"canonical", "prev", "next", "edit"}  # kinds of link that are not fetched


def examples() -> list[str]:
    """Pages with examples, by name."""
    pages = sorted(DOCS.rglob("*.md"))
    return [str(page.relative_to(DOCS)) for page in pages if steps(page)]


def test_the_pages_with_examples_are_known():
    assert examples() == [
        "howto/cluster.md",
        "howto/command.md",
        "howto/goals.md",
        "howto/gpu.md",
        "howto/kernel.md",
        "howto/likelihood.md",
        "howto/long_runs.md",
        "howto/python.md",
        "howto/ratings.md",
        "reproduction.md",
        "tutorial.md",
    ]


@pytest.fixture
def few(tmp_path, monkeypatch) -> pd.DataFrame:
    """An empty folder to be in, and a league of six teams in place of the embedded one."""
    games = few_games()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dpmf.datasets, "nfl", games.copy)
    return games


@pytest.fixture
def hasty_compiler():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize("name", [name for name in examples() if name.startswith("howto")])
def test_the_examples_run(name, few, unchecked, hasty_compiler):
    few.to_csv("games.csv", index=False)  # what the reader is supposed to have
    few[few["date"] >= CUTOFF].to_csv("upcoming.csv", index=False)
    names = run(steps(DOCS / name), QUICK)
    if "forecast" in names:
        assert np.isfinite(names["forecast"].mean).all()
    if "fit" in names:
        assert names["fit"].shape == (2, 10)
    if name == "howto/goals.md":
        outcomes = pd.read_csv("outcomes.csv")[["p_win", "p_draw", "p_loss"]]
        np.testing.assert_allclose(outcomes.sum(axis=1), 1.0, atol=2e-4)  # four digits
    if name == "howto/python.md":
        assert len(names["data"]) == len(names["played"])
        assert set(names["result"].summary["forecaster"]) == {"PMF", "home"}
    if name == "howto/command.md":
        assert len(pd.read_csv("forecasts.csv")) == 11 and Path("page.html").is_file()
    if name == "howto/cluster.md":
        for folder in ("results", "shared"):
            told = pd.read_csv(f"{folder}/summary.csv")
            assert {"PMF", "DPMF(t,h)", "home"} == set(told["forecaster"])
        assert "PMF" in set(names["main"]().summary["forecaster"])


def test_the_tutorial_runs(few, unchecked, hasty_compiler, capsys):
    names = run(steps(DOCS / "tutorial.md"), QUICK)
    forecasts, later = pd.read_csv("forecasts.csv"), pd.read_csv("upcoming.csv")
    assert len(forecasts) == len(later) == len(names["forecast"]) > 0
    page = (DOCS / "tutorial.md").read_text()
    assert [column for column in forecasts if f"`{column}`" not in page] == []
    written = {path.name for path in Path("results").iterdir()}
    assert {"scores.csv", "summary.csv", "fits.csv", "report.html"} <= written
    assert Path("page.html").is_file()
    assert "BUF at NE" in capsys.readouterr().out


def test_promised_tests_exist():
    named = re.findall(r"`tests/(\S+\.py)::(\w+)`", (DOCS / "promises.md").read_text())
    assert len(named) > 40
    missing = [
        f"{file}::{test}"
        for file, test in named
        if f"def {test}(" not in (ROOT / "tests" / file).read_text()
    ]
    assert missing == []


def test_make_targets_exist():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    named = {
        name for page in pages for name in re.findall(r"`make ([\w-]+)`", page.read_text())
    }
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named and named <= known


def test_benchmarks_are_those_that_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    written = importlib.import_module("page").page()
    assert (DOCS / "benchmarks.md").read_text() == written, "run python benchmarks/page.py"


def test_the_headline_repeats_the_overview():
    """README's figures, the paper's and ours, are those of the overview."""
    overview = (DOCS / "reproduction.md").read_text()
    rows = re.findall(
        r"^\| \*\*(?:here|paper|market)\*\*.+? \| (-\d\.\d+) \| ([\d.]+ %) \| ([\d.]+) \|",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 7
    for row in rows:
        assert " | ".join(row) in overview or ", ".join(row) in overview, row


def test_the_headline_of_ratings_is_what_was_measured():
    found = json.loads((ROOT / "benchmarks" / "results" / "ratings.json").read_text())
    measured = {
        (f"{one['mean_log_prob']:.3f}", f"{one['rmse']:.3f}")
        for one in found["movielens"]["last"].values()
    }
    shown = re.findall(
        r"^\| [^|]+ \| (-1\.\d+) \| (0\.\d+) \|$",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )
    assert len(shown) >= 3 and set(shown) <= measured


def test_the_overview_repeats_the_tables():
    """Every figure of ours in the overview of the reproduction is one of the tables' own."""
    tables = "".join(path.read_text() for path in DOCS.glob("table1*.md"))
    rows = re.findall(
        r"^\| .+? \| (-\d\.\d+) \| ([\d.]+) % \| ([\d.]+) \|",
        (DOCS / "reproduction.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 5
    for row in rows:
        assert all(re.search(rf"\| {re.escape(figure)}[ |]", tables) for figure in row), row


class _Page(HTMLParser):
    """What a page asks for by itself, and its formulas and anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.anchors: set[str] = set()
        self.formulas = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        self.formulas += tag == "math"
        if tag in ASKING and given.get("rel") not in IDLE:
            self.asked.append(given.get(ASKING[tag]) or "")


def outside(place: str) -> bool:
    return re.match(r"(https?:)?//", place) is not None


def public_names() -> set[str]:
    """Where the reference should have a heading."""
    found = set()
    for module in ("kernels", "likelihoods", "plots", "sports", "report", "errors"):
        part = importlib.import_module(f"dpmf.{module}")
        names = getattr(part, "__all__", None) or [n for n in vars(part) if n[0].isupper()]
        found |= set(names)
    modules = {"backtest", "datasets", "errors", "kernels", "likelihoods", "plots", "sports"}
    return (found | set(dpmf.__all__)) - modules - {"__version__"} | {"backtest", "nfl"}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site as `make docs` builds it; any complaint is an error."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: the site cannot be built")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_is_whole_and_asks_for_nothing_outside(site):
    pages = {path: _Page(path.read_text()) for path in site.rglob("*.html")}
    sources = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]
    assert all((site / source).with_suffix(".html").is_file() for source in sources)
    assert [
        (path, one) for path, page in pages.items() for one in page.asked if outside(one)
    ] == []
    for path in pages:
        assert "mermaid" not in path.read_text()  # the theme would fetch its script
        inner = re.findall(r"<style>.*?</style>", path.read_text(), re.DOTALL)
        assert not re.search(r"url\(['\"]?(https?:)?//", "".join(inner))
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import\s+)['\"]?(https?:)?//", path.read_text()), path


def test_formulas_need_no_script(site):
    text = (site / "mathematics.html").read_text()
    assert _Page(text).formulas > 50
    assert "arithmatex" not in text


def test_a_request_to_another_host_is_found():
    page = _Page(
        '<img src="//far.example/a.png"><link rel="canonical" href="https://x.example">'
    )
    assert [one for one in page.asked if outside(one)] == ["//far.example/a.png"]


def test_the_reference_has_all_public_names(site):
    anchors = set()
    for path in (site / "api").glob("*.html"):
        anchors |= _Page(path.read_text()).anchors
    last = {anchor.rpartition(".")[2] for anchor in anchors if anchor.startswith("dpmf.")}
    assert sorted(public_names() - last) == []
