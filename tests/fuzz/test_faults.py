"""One fault planted in a known line and column: that is what the refusal names."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf import DataError, read_games
from fuzz.written import ENCODINGS, NAMES, PLAIN, encoded, files, games, written

SCORES = [
    "102 (OT)", "abc", "", "NA", "nan", "inf", "-Infinity", "1e400", "3,5", "1_0", "0x1F",
    "1 2", "½", "--", "1e20", "9" * 400, "1.2.3", "7-3", "None", "1'000",
]  # fmt: skip
DAYS = [
    "soon", "", "2001-02-30", "13/13/2001", "2001", "99999999", "2001-13-01", "2001111",
    "1066-10-14", "2001-01-01 25:00", "31/04/2001", "01/02/03", "Smarch 3 2001", "2001-01-01x",
    "0000-01-01", "12345-01-01", "1e8", "yesterday", "2001-W05-1", "Feb 30 2001",
]  # fmt: skip
FLAGS = ["2", "maybe", "", "0.5", "-1"]
LINES = ["pk", "inf", "1e300", "-3,5", "3 1/2"]
BROKEN = {
    "date": DAYS,
    "home": ["", "   ", "\t"],
    "away": ["", " \u00a0 "],
    "home_score": SCORES,
    "away_score": SCORES,
    "neutral": FLAGS,
    "spread_home": LINES,
    "elo_home_prob": ["1.5", "-0.1", "x"],
}
COLUMNS = [*NAMES, "neutral", "spread_home", "elo_home_prob"]
PLACED = given(
    games(st.sampled_from(PLAIN)),
    st.integers(0, 2**32),
    st.sampled_from(["entry", "itself", "short", "long", "open", "after", "NUL", "bytes"]),
)


def refusal(place) -> str:
    with pytest.raises(DataError) as refused:
        read_games(place)
    return str(refused.value)


@files("faults")
@PLACED
def test_the_refusal_names_line_and_column(place, found, seed, kind):
    random_ = random.Random(seed)
    rows = [COLUMNS, *([*game.fields(), "0", "", "0.5"] for game in found)]
    at = random_.randrange(1, len(rows))
    name = random_.choice(COLUMNS)
    column = COLUMNS.index(name)
    before = [*random_.choices(["x", 'say "no"\nand go', "a\r\nb"], k=len(rows))]
    rows = [["notes", *rows[0]], *([n, *r] for n, r in zip(before, rows[1:], strict=False))]
    encoding, separator = random_.choice(list(ENCODINGS)), random_.choice(",;\t")
    if kind == "entry":
        rows[at][column + 1] = random_.choice(BROKEN[name])
    elif kind == "itself":
        name = "away"
        rows[at][3] = f" {rows[at][2]} "
    elif kind == "short":
        rows[at] = rows[at][: column + 1]
    elif kind == "long":
        name = None
        rows[at] = [*rows[at], "more"]
    text, lines = written(rows, separator, random_.choice(["\n", "\r\n", "\r"]))
    expected = f"{place}: line {lines[at]}, column {name!r}: "
    if kind in ("open", "after", "NUL", "bytes"):
        marked = {"open": "\ue000", "after": "\ue001", "NUL": "\ue002", "bytes": "\ue003"}[kind]
        rows[at][column + 1] = marked
        rows = [[one if row <= at else "x", *rest] for row, (one, *rest) in enumerate(rows)]
        text, lines = written(rows, separator, "\n")
        # What follows the note of a row is on the note's last line.
        lines = [line + row[0].count("\n") for line, row in zip(lines, rows, strict=True)]
        expected = f"{place}: line {lines[at]}, column {name!r}: found "
    if kind == "open":
        text = text.replace("\ue000", '"never')
    elif kind == "after":
        text = text.replace("\ue001", '"one"two')
    elif kind == "NUL":
        text = text.replace("\ue002", "a\0b")
    raw = encoded(text, "utf-8" if kind == "bytes" else encoding, random_.random() < 0.2)
    if kind == "bytes":
        raw = text.encode().replace("\ue003".encode(), "Köln".encode("latin-1"))
    if kind == "long":
        expected = f"{place}: line {lines[at]}, column {len(rows[0]) + 1}: found 'more'"
    place.write_bytes(raw)
    assert refusal(place).startswith(expected), (refusal(place), expected)


@pytest.mark.parametrize("field", ["x" * 1_000_000, '"' + "x\n" * 500_000 + '"'])
@pytest.mark.parametrize("column", [1, 3])
def test_a_field_of_a_million_characters(place, field, column):
    row = ["2001-09-09", "A", "B", "1", "2"]
    row[column] = field
    place.write_text(f"{','.join(NAMES)}\n2001-09-02,B,A,1,2\n{','.join(row)}\n")
    message = refusal(place)
    assert f"games.csv: line 3, column {NAMES[column]!r}: found more than 131,072" in message
    assert len(message) < 500


@pytest.mark.parametrize("column", [1, 3])
def test_a_long_field_is_not_repeated_in_a_message(place, column):
    row = ["2001-09-09", "A", "A", "1", "2"]
    row[column] = "x" * 100_000
    row[2] = row[1] if column == 1 else "B"
    place.write_text(f"{','.join(NAMES)}\n{','.join(row)}\n")
    message = refusal(place)
    assert "line 2, column" in message and "(100,000 characters)" in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this is no CSV table (it is empty)"),
        (b"\n \n\r\n", "this is no CSV table (it is empty)"),
        (b"\xef\xbb\xbf", "this is no CSV table (it is empty)"),
        (b"date\n2001-09-09\n", "there is no column 'home'. It has date."),
        (b"date,home,away,home_score,away_score", "there are no events"),
        (b"date,date\n1,2\n", "the column 'date' is there twice"),
        (b"PK\x03\x04 and so on", "this is no CSV table (but an archive or a spreadsheet)"),
        ("date,home\n".encode("utf-16-le"), "line 1, column 1: found a NUL character"),
        (b'date,"home\n', "line 1, column 2: found a quote that is never closed"),
    ],
)
def test_files_that_are_no_tables(place, content, message):
    place.write_bytes(content)
    assert f"games.csv: {message}" in refusal(place)
