"""Text from data in; text that a message and a terminal can bear out."""

from typing import Any

MOST = 60  # characters of an entry that a message shows
_JOINERS = "\u200c\u200d"  # invisible, but part of how some languages are written


def printable(text: Any) -> str:
    """The text in one line, without anything that a terminal would obey.

    White space is a space; other control characters, also those that turn the direction of
    writing, are spelled out.
    """
    spelled = str(text)
    return spelled if spelled.isprintable() else "".join(map(_bearable, spelled))


def shown(entry: Any) -> str:
    """An entry as a message quotes it; of a long one the beginning."""
    text = str(entry)
    if len(text) <= MOST:
        return repr(text)
    return f"{text[:MOST]!r}... ({len(text):,} characters)"


def listed(names: Any) -> str:
    """Names with commas between them; those that are too many or too long are cut."""
    each = [printable(name) for name in names]
    cut = [one if len(one) <= MOST else f"{one[:MOST]}..." for one in each[:MOST]]
    return ", ".join(cut) + f" and {len(each) - MOST:,} more" * (len(each) > MOST)


def _bearable(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else repr(character)[1:-1]
