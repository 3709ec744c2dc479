"""Small fits, their pages, and a browser that looks at them."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from dpmf.likelihoods import PairedPoisson
from league import league
from report_made import Made, made_of, odd_league

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(autouse=True, scope="package")
def hasty_compiler() -> Iterator[None]:
    """Nearly all the time here is compilation."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Made:
    """A page with everything on it, of teams with names that could break it."""
    return made_of(odd_league(), tmp_path_factory.mktemp("page") / "page.html", rank=2)


@pytest.fixture(scope="session")
def goals(tmp_path_factory) -> Made:
    """A page of goals, whose model knows neither time nor venue."""
    frame = league().drop(columns=["spread_home", "total", "elo_home_prob"])
    counts = np.random.default_rng(1).poisson(1.5, (2, len(frame)))
    frame = frame.assign(home_score=counts[0], away_score=counts[1])
    page = tmp_path_factory.mktemp("goals") / "page.html"
    return made_of(frame, page, side=(), likelihood=PairedPoisson())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser, where there is one."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = [shutil.which(name) for name in BROWSERS if shutil.which(name)]
    with api.sync_playwright() as play:
        own = play.chromium.executable_path
        place = found[0] if found else own if os.path.exists(own) else None
        if place is None:
            pytest.skip("there is no Chromium: neither on the path nor playwright's own")
        # A container's root may not use the sandbox; the pages are our own.
        try:
            browser = play.chromium.launch(executable_path=place, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"{place} does not start: {str(error).splitlines()[0]}")
        yield browser
        browser.close()
