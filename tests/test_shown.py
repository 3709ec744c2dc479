"""Text from data, made bearable."""

import pytest

from dpmf.shown import listed, printable, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. FC Köln", "1. FC Köln"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\u00a0d\u2028e", "a b c d e"),
        ("\u202eevil", "\\u202eevil"),
        ("a\u200cb", "a\u200cb"),  # a joiner is part of the word
        ("\x07\x9b", "\\x07\\x9b"),
        ("\ud800", "\\ud800"),
        (3, "3"),
    ],
)
def test_a_terminal_obeys_nothing(text, expected):
    assert printable(text) == expected


def test_long_entries_are_cut():
    assert shown("x" * 60) == repr("x" * 60)
    assert shown("x" * 1000) == repr("x" * 60) + "... (1,000 characters)"
    assert shown("\x1b[2J") == "'\\x1b[2J'"


def test_many_names_are_cut():
    assert listed(["a", "b\n"]) == "a, b "
    assert listed(map(str, range(100))).endswith("58, 59 and 40 more")
    assert len(listed(["x" * 1000])) == 63
