"""However a table of games is written, what is read is what was written."""

import random

from hypothesis import given
from hypothesis import strategies as st

from dpmf import read_games
from dpmf.sports.games import typed
from dpmf.sports.table_files import read_table
from fuzz.written import (
    ENCODINGS,
    FILES,
    NAMES,
    encoded,
    files,
    games,
    read_back,
    truth,
    written,
)

ALIASES = {
    "date": ["date", "Date", " date ", "Match Date"],
    "home": ["home", "HomeTeam", "Host"],
    "away": ["away", "AwayTeam", "visitor"],
    "home_score": ["home_score", "FTHG", "home_goals", "homePts"],
    "away_score": ["away_score", "FTAG", "away_goals", "awayPts"],
}
SCORES = ["{}", "{}.0", " {} ", "+{}", "00{}", "{}e0"]
DAYS = ["%Y-%m-%d", "%Y%m%d", "%Y/%m/%d", "%d %B %Y", "%a %b %d %Y", "%Y-%m-%dT19:30:00"]
LINES = {"": None, "NA": None, "-3": -3.0, "2.5": 2.5, " ": None}


def test_the_suite_is_as_large_as_promised():
    assert sum(FILES.values()) >= 10_000


FORMS = given(
    games(),
    st.tuples(
        st.integers(0, 2**32),
        st.sampled_from(",;\t|"),
        st.sampled_from(["\n", "\r\n", "\r"]),
        st.sampled_from(list(ENCODINGS)),
        st.booleans(),
    ),
)


def write(place, found, seed, separator, end, encoding, packed) -> list[float | None]:
    """Write the games in some form; the line of each game is returned."""
    random_ = random.Random(seed)
    columns = {
        role: [random_.choice(ALIASES[role])] for role in random_.sample(NAMES, len(NAMES))
    }
    for game in found:
        fields = dict(zip(NAMES, game.fields(), strict=True))
        fields["date"] = game.day.strftime(random_.choice(DAYS))
        for role in ("home_score", "away_score"):
            fields[role] = random_.choice(SCORES).format(fields[role])
        for role, field in fields.items():
            columns[role].append(field)
    lines = [random_.choice(list(LINES)) for _ in found]
    columns["spread"] = ["spread_home", *lines]
    columns["notes"] = ["notes" * random_.randint(0, 1), *("a\n,;\"b'" for _ in found)]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    if random_.random() < 0.3:  # what spreadsheets leave at the end
        rows += [[""] * len(rows[0])]
    text, _ = written(rows, separator, end, random_)
    if random_.random() < 0.3:
        text = text.removesuffix(end)
    place.write_bytes(encoded(text, encoding, packed))
    return [LINES[one] for one in lines]


def some(entries) -> list[float | None]:
    return [None if one != one else one for one in entries.tolist()]


@files("forms")
@FORMS
def test_games_are_those_that_were_written(place, found, form):
    lines = write(place, found, *form)
    frame = read_games(place).frame
    assert read_back(frame) == truth(found)
    order = sorted(range(len(found)), key=lambda row: found[row].day)
    assert some(frame["spread_home"]) == [lines[row] for row in order]


@files("fields")
@FORMS
def test_rows_are_those_that_were_written(place, found, form):
    lines = write(place, found, *form)
    table, source = read_table(place)
    frame = typed(table, source=source)
    assert read_back(frame) == [row for game in found for row in truth([game])]
    assert some(frame["spread_home"]) == lines
