"""Unique labels for the hyperparameters of a kernel made of parts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TypeVar

Value = TypeVar("Value")


def label(columns: Sequence[str], name: str) -> str:
    """Label of the hyperparameter `name` of a kernel that reads `columns`."""
    return f"{'+'.join(columns)}.{name}"


def routes(parts: Iterable[Iterable[str]]) -> tuple[dict[str, str], ...]:
    """For each part, its own labels and what they are called in the whole.

    The first to come keeps its label; the next `a` becomes `a.2`, then `a.3`.
    """
    taken: set[str] = set()
    result = []
    for own in parts:
        route = {}
        for name in own:
            route[name] = _unique(name, taken)
            taken.add(route[name])
        result.append(route)
    return tuple(result)


def gathered(route: Mapping[str, str], own: Mapping[str, Value]) -> dict[str, Value]:
    """A part's values under the labels of the whole."""
    return {route[name]: value for name, value in own.items()}


def routed(route: Mapping[str, str], whole: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the whole that belong to a part, under its own labels."""
    return {name: whole[flat] for name, flat in route.items()}


def _unique(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    stem = re.sub(r"\.\d+$", "", name)
    return next(f"{stem}.{i}" for i in count(2) if f"{stem}.{i}" not in taken)
