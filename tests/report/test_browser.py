"""The page in a real browser: it loads, it answers, and it says what the library says."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from dpmf.posterior import Fit, Forecast
from dpmf.report.features import features
from dpmf.report.moments import Moment, eligible, played
from dpmf.sports.forecast_table import forecast_table
from dpmf.sports.notes import games_notes


@dataclasses.dataclass
class Seen:
    """A page that is open, and what went wrong on it."""

    page: Any
    complaints: list[str]

    def number(self, name: str) -> float:
        return float(self.page.locator(f"#{name}").get_attribute("data-value"))

    def range(self, name: str) -> list[float]:
        place = self.page.locator(f"#{name}-range")
        return [float(place.get_attribute(f"data-{end}")) for end in ("low", "high")]

    def choose(self, home: int, away: int, moment: int | None, neutral: bool) -> None:
        self.page.select_option("#home", str(home))
        self.page.select_option("#away", str(away))
        if moment is not None:
            self.page.locator("#moment").fill(str(moment))
            self.page.set_checked("#neutral", neutral)


@pytest.fixture
def opened(chromium) -> Iterator[Any]:
    """Opens a page, and hears every complaint and every request."""
    contexts = []

    def opened(path, **how) -> Seen:
        context = chromium.new_context(**how)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("console", lambda told: complaints.append(f"console: {told.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        own = path.as_uri()
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.split("#")[0] == own or asked.url.startswith("data:")
                else complaints.append(f"request: {asked.url}")
            ),
        )
        page.goto(own)
        page.wait_for_selector("#density path.mark", state="attached")
        return Seen(page, complaints)

    yield opened
    for context in contexts:
        context.close()


def expected(fit: Fit, moments: list[Moment], home: int, away: int, place: int, flat: bool):
    """The library's forecast from the very draws that the page holds."""
    calendar = games_notes(fit).calendar
    past = played(fit, calendar)
    found = features(fit, list(dict.fromkeys([*past, *moments]))).at(moments)
    times, venues = found.attack.shape[3:]
    time = place if times > 1 else 0
    own, other = (2, 2) if flat else (0, 1)
    pairs = ((home, away, own), (away, home, other))
    y = [
        (found.attack[:, :, row, time, venue] * found.defence[:, :, col, time, venue]).sum(1)
        for row, col, venue in ((r, c, v if venues > 1 else 0) for r, c, v in pairs)
    ]
    forecast = Forecast(fit.data, fit.spec.likelihood, np.stack(y, 1)[:, None], found.noise)
    frame = pd.DataFrame(
        {
            "date": [moments[place].first],
            "home_team": [found.teams[home]],
            "away_team": [found.teams[away]],
            "spread_home": [-3.5],
            "total": [44.5],
        }
    )
    return forecast, forecast_table(forecast, frame).iloc[0]


def moments_of(made) -> list[Moment]:
    calendar = games_notes(made.fit).calendar
    return eligible(calendar, played(made.fit, calendar)[-1], made.upcoming)


def test_the_page_loads_in_silence(opened, made):
    seen = opened(made.page)
    assert seen.complaints == []
    assert seen.page.evaluate("window.broken") is None
    names = seen.page.locator("#home option").all_text_contents()
    assert sorted(names) == sorted(str(name) for name in made.fit.data.row_names)
    assert seen.page.locator("#draws").text_content() == "30"
    assert seen.page.locator("#ratings tbody tr").count() == 6
    assert seen.page.locator("#reliability circle").count() > 5
    assert seen.page.locator("#curve path.line").count() == 2 * 3  # teams and seasons


@pytest.mark.parametrize(
    ("home", "away", "moment", "neutral"),
    [(0, 1, 2, False), (3, 2, 0, False), (4, 5, 5, True), (1, 0, 7, False)],
)
def test_its_numbers_are_those_of_the_library(opened, made, home, away, moment, neutral):
    seen, moments = opened(made.page), moments_of(made)
    seen.choose(home, away, moment, neutral)
    seen.page.fill("#line", "-3.5")
    seen.page.fill("#over-under", "44.5")
    _, row = expected(made.fit, moments, home, away, moment, neutral)
    close = {"abs": 2e-3}  # points: features are rounded to two bytes
    for name in ("home_mean", "away_mean", "home_sd", "away_sd", "spread", "total"):
        assert seen.number(name.replace("_", "-")) == pytest.approx(row[name], **close)
    assert seen.range("spread") == pytest.approx(
        [row["spread_low"], row["spread_high"]], **close
    )
    assert seen.range("total") == pytest.approx([row["total_low"], row["total_high"]], **close)
    for name, column in (
        ("p-home", "p_home_win"),
        ("cover", "p_home_cover"),
        ("over", "p_over"),
    ):
        assert seen.number(name) == pytest.approx(row[column], abs=2e-4)
    assert seen.complaints == []


def test_a_week_of_the_past_says_what_predict_says(opened, made):
    """Where the games were learned from, every function value is known."""
    seen, moments = opened(made.page), moments_of(made)
    seen.choose(0, 1, 3, False)
    season, week = moments[3].place
    teams = made.fit.data.row_names
    game = {"home_team": teams[0], "away_team": teams[1], "season": season, "week": week}
    forecast = made.fit.predict(pd.DataFrame([game | {"home": 0.5}]), seed=99)
    assert seen.number("home-mean") == pytest.approx(forecast.mean[0, 0], abs=2e-3)
    assert seen.number("p-home") == pytest.approx(forecast.first_exceeds[0], abs=2e-4)


def test_another_team_changes_the_density_and_the_numbers(opened, made):
    seen = opened(made.page)
    seen.choose(0, 1, 2, False)
    shape = (
        "() => [...document.querySelectorAll('#density path')].map((p) => p.getAttribute('d'))"
    )
    before, mean = seen.page.evaluate(shape), seen.number("away-mean")
    seen.page.select_option("#away", "4")
    assert seen.page.evaluate(shape) != before
    assert seen.number("away-mean") != mean
    seen.page.click("#swap")
    assert seen.page.input_value("#home") == "4" and seen.page.input_value("#away") == "0"
    seen.page.select_option("#home", "0")  # whoever is chosen twice changes places
    assert seen.page.input_value("#away") == "4"


def test_the_density_is_that_of_the_mixture(opened, made):
    """The 80 % ring holds 80 % of what the library draws."""
    seen, moments = opened(made.page), moments_of(made)
    # Against the team that differs most, so that an exchange of both would show.
    every = {away: expected(made.fit, moments, 0, away, 2, False)[0] for away in range(1, 6)}
    away = max(every, key=lambda one: abs(np.subtract(*every[one].mean[0])))
    seen.choose(0, away, 2, False)
    forecast = every[away]
    drawn = forecast.sample(20_000)[0]
    inside = """([points]) => {
      const svg = document.getElementById("density");
      const ring = [...svg.querySelectorAll("path.homeward")][1];
      const every = [...svg.querySelectorAll("text.label")];
      const labels = every.filter((t) => /^[\\d\\u2212]+$/.test(t.textContent));
      const across = labels.filter((t) => t.getAttribute("text-anchor") === "middle");
      const value = (t) => Number(t.textContent.replace("\\u2212", "-"));
      const [a, b] = [across[0], across.at(-1)];
      const up = labels.filter((t) => t.getAttribute("text-anchor") === "end");
      const [c, d] = [up[0], up.at(-1)];
      const line = (p, q, key, shift) => (v) => {
        const [x, y] = [p, q].map((t) => Number(t.getAttribute(key)) - shift);
        return x + (v - value(p)) / (value(q) - value(p)) * (y - x);
      };
      const x = line(a, b, "x", 0), y = line(c, d, "y", 4);
      const shape = new Path2D(ring.getAttribute("d"));
      const canvas = document.createElement("canvas").getContext("2d");
      const held = points.map(([h, g]) => canvas.isPointInPath(shape, x(h), y(g)));
      const texts = ring.getAttribute("d").match(/[\\d.]+ [\\d.]+/g);
      const ends = texts.map((t) => t.split(" ").map(Number));
      const middle = (n) => ends.reduce((sum, one) => sum + one[n], 0) / ends.length;
      return [held, middle(0) - x(0), y(0) - middle(1), x(1) - x(0)];
    }"""
    held, right, up, unit = seen.page.evaluate(inside, [drawn[:4000].tolist()])
    share, mean = np.mean(held), forecast.mean[0]
    assert abs(mean[0] - mean[1]) > 1
    assert (right - up) / unit == pytest.approx(mean[0] - mean[1], abs=0.7)
    assert share == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 4000))


def test_goals_have_a_draw(opened, goals):
    seen, moments = opened(goals.page), moments_of(goals)
    seen.choose(2, 3, None, False)
    start = moments.index(played(goals.fit, games_notes(goals.fit).calendar)[-1])
    forecast, row = expected(goals.fit, moments, 2, 3, start, False)
    for name in ("home_mean", "away_mean", "home_sd", "away_sd", "spread", "total"):
        assert seen.number(name.replace("_", "-")) == pytest.approx(row[name], abs=1e-3)
    assert seen.number("p-home") == pytest.approx(forecast.first_exceeds[0], abs=1e-4)
    assert seen.number("p-draw") == pytest.approx(forecast.equal[0], abs=1e-4)
    seen.page.fill("#over-under", "2.5")
    totals = forecast.sample(20_000)[0].sum(axis=1)
    assert seen.number("over") == pytest.approx((totals > 2.5).mean(), abs=0.02)
    assert seen.page.locator("#p-draw-label").is_visible()
    assert seen.page.locator("#moment, #neutral, #curve").count() == 0
    assert seen.complaints == []


def test_the_keyboard_sorts_and_moves(opened, made):
    seen = opened(made.page)
    first = "#ratings tbody tr:first-child th"
    seen.page.focus("#ratings thead th:nth-child(5) button")
    seen.page.keyboard.press("Enter")
    cells = seen.page.locator("#ratings tbody td:nth-child(5)").all()
    values = [float(cell.get_attribute("data-sort")) for cell in cells]
    assert values == sorted(values)
    seen.page.keyboard.press("Enter")
    last = seen.page.locator(first).text_content()
    assert values[-1] == float(
        seen.page.locator("#ratings tbody tr:first-child td:nth-child(5)").get_attribute(
            "data-sort"
        )
    ), last
    before = seen.page.locator("#curve-readout").text_content()
    seen.page.focus("#curve")
    seen.page.keyboard.press("ArrowLeft")
    assert seen.page.locator("#curve-readout").text_content() != before


def test_a_game_to_come_is_shown_above(opened, made):
    seen = opened(made.page)
    button = seen.page.locator("#upcoming button.link").nth(2)
    button.click()
    game = made.upcoming.frame.iloc[2]
    names = [
        seen.page.locator(f"#{side}").evaluate("e => e.selectedOptions[0].text")
        for side in ("home", "away")
    ]
    assert names == [game["home_team"], game["away_team"]]
    assert seen.page.input_value("#date") == f"{game['date']:%Y-%m-%d}"


def test_the_line_of_a_game_comes_with_it(opened, made):
    """The file's lines are filled in for its games, and forgotten for any other."""
    seen, games = opened(made.page), made.upcoming.frame
    for place, game in ((None, games.iloc[0]), (3, games.iloc[3])):
        if place is not None:
            seen.page.locator("#upcoming button.link").nth(place).click()
        bets = [float(seen.page.input_value(f"#{name}")) for name in ("line", "over-under")]
        assert bets == [game["spread_home"], game["total"]]
        assert 0 < seen.number("cover") < 1 and 0 < seen.number("over") < 1
    seen.page.click("#swap")
    assert seen.page.input_value("#line") == "" and seen.page.input_value("#over-under") == ""
    shown = seen.page.get_attribute("#over-under", "placeholder")
    assert float(shown) == pytest.approx(seen.number("total"), abs=0.5)


def test_rings_say_what_they_hold(opened, made):
    seen = opened(made.page)
    assert seen.page.locator("#density .ring").all_text_contents() == ["50 %", "80 %", "95 %"]


def test_the_sections_stay_in_reach(opened, made):
    """The list of sections stays on top, and marks the one that is read."""
    seen = opened(made.page, viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    marked = "nav a[aria-current]"
    assert seen.page.locator(marked).all_text_contents() == ["Matchup"]
    seen.page.evaluate("document.getElementById('diagnostics').scrollIntoView()")
    seen.page.wait_for_selector(f"{marked}[href='#diagnostics']")
    box = seen.page.locator(marked).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and 0 <= box["y"] < 60


def test_a_phone_shows_long_names_and_large_scores(opened, made):
    """Nothing is cut off, whatever stands in the tables of ratings and of games."""
    seen = opened(made.page, viewport={"width": 390, "height": 800}, is_mobile=True)
    fill = """() => {
      const fill = (name, text) => document.querySelectorAll(name)
        .forEach((one) => { one.textContent = text; });
      fill(".range", "+101.4 to +107.4");
      fill(".value", "+102.4");
      fill(".result", "108-102");
      const cut = [...document.querySelectorAll(".ratings, .games")]
        .filter((one) => one.getBoundingClientRect().right > 390).length;
      const scores = [...document.querySelectorAll(".result")]
        .filter((one) => one.scrollWidth > one.clientWidth).length;
      return [cut, scores, document.documentElement.scrollWidth];
    }"""
    assert seen.page.evaluate(fill) == [0, 0, 390]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_screen(opened, made, scheme, width):
    seen = opened(made.page, viewport={"width": width, "height": 800}, color_scheme=scheme)
    wide, room = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room
    paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) > 380) == (scheme == "light")


def test_the_normal_distribution_function(opened, made):
    seen = opened(made.page)
    source = next(iter(seen.page.locator("script:not([type])").all())).text_content()
    start = source.index("const normalCdf")
    function = source[start : source.index("};", start) + 2]
    at = np.linspace(-12, 12, 401)
    found = seen.page.evaluate(
        f"(xs) => {{ {function} return xs.map(normalCdf); }}", at.tolist()
    )
    np.testing.assert_allclose(found, ndtr(at), rtol=1e-6, atol=1e-16)
    np.testing.assert_allclose(found, ndtr(at), rtol=0, atol=1e-14)
