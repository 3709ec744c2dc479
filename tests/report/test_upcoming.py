"""The table of games to come says what `dpmf predict` says."""

import re

from dpmf.sports.forecast_table import forecast_table


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
