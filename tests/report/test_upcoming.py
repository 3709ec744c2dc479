"""The table of games to come says what `dpmf predict` says."""

import re

from dpmf.sports.forecast_table import forecast_table
from league import tiring
from report_made import made_of


def test_goals_to_come_have_a_draw_of_their_own(goals):
    """Home's chance there is that of a win, not of a win and half a draw."""
    text = goals.page.read_text(encoding="utf-8")
    section = text[text.index('<section id="upcoming"') :]
    assert ">Draw<" in section
    games = goals.upcoming.frame
    row = forecast_table(goals.fit.predict(games), games).iloc[0]
    chances = re.findall(r"(\d+) %", section[section.index('<th scope="row">') :])[:2]
    assert chances == [f"{100 * row[name]:.0f}" for name in ("p_win", "p_draw")]
    assert chances[0] != f"{100 * row['p_home_win']:.0f}"


def test_games_of_tired_teams_are_not_shown_as_if_they_were_rested(tmp_path):
    """The explorer takes both teams to be rested alike, so it is not offered for others."""
    side = ("home", "rest", "pace")
    made = made_of(tiring((2001, 2002, 2003)), tmp_path / "page.html", side=side)
    text = made.page.read_text(encoding="utf-8")
    assert "Both teams are taken to be rested alike" in text
    alike = made.upcoming.frame["rest"] == 0
    assert 0 < alike.sum() < len(alike)
    section = text[text.index('<section id="upcoming"') :]
    section = section[: section.index("</section>")]
    assert section.count("<button") == alike.sum()
    assert section.count("has a game the day before") == (~alike).sum()
    assert "over ," not in text  # weights of a mixture are over no column
