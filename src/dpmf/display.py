"""What an object is, in words, in; a small table for a notebook out."""

from collections.abc import Mapping
from html import escape
from typing import Any

_CELL = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0"


def table(title: str, rows: Mapping[str, Any], note: str = "") -> str:
    """HTML of a title, a line for each fact, and a note; all of it is escaped.

    Args:
        title: What it is.
        rows: Name of a fact -> the fact; None leaves it out.
        note: Below the table.
    """
    lines = [
        f'<tr><th scope="row" style="{_CELL}">{escape(str(name))}</th>'
        f'<td style="{_CELL}">{escape(str(fact))}</td></tr>'
        for name, fact in rows.items()
        if fact is not None
    ]
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><strong>{escape(title)}</strong><table>{''.join(lines)}</table>{below}</div>"


def some(names: Any, most: int = 8) -> str:
    """The first few names."""
    listed = [str(name) for name in names]
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")
