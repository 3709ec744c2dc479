"""Specs by name: the way from a kernel or warp to JSON and back."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from dpmf.checks import require_free_name
from dpmf.errors import ConfigError

Spec = TypeVar("Spec")

_classes: dict[str, type] = {}


def register(spec_class: type) -> None:
    """Make a class known by its name; a later definition of the same name replaces it.

    Raises:
        ConfigError: The name belongs to one of dpmf's own classes.
    """
    name = spec_class.__name__
    require_free_name(_classes.get(name), spec_class)
    _classes[name] = spec_class


def replaced(spec: Spec, **changes: Any) -> Spec:
    """A copy with some fields changed, whatever the arguments of its constructor."""
    return _built(type(spec), _values(spec) | changes)


def to_dict(spec: Any) -> dict[str, Any]:
    """The spec in values that JSON knows."""
    values = _values(spec)
    name = type(spec).__name__
    return {
        "type": name,
        "fields": {field: _encoded(name, field, value) for field, value in values.items()},
    }


def from_dict(saved: Mapping[str, Any]) -> Any:
    """The spec that `to_dict` turned into `saved`.

    Raises:
        ConfigError: No such class is known, or it has other fields.
    """
    if not isinstance(saved, Mapping) or "type" not in saved or "fields" not in saved:
        raise ConfigError(f"not a saved kernel: {saved!r}; expected keys 'type' and 'fields'.")
    name, fields = saved["type"], saved["fields"]
    if name not in _classes:
        raise ConfigError(
            f"there is no kernel or warp named {name!r}; if it is your own, import the module "
            "that defines it first."
        )
    spec_class = _classes[name]
    expected = {f.name for f in dataclasses.fields(spec_class)}
    if expected != set(fields):
        raise ConfigError(
            f"saved {name} has fields {sorted(fields)}, expected {sorted(expected)}; it was "
            "written by another version."
        )
    return _built(spec_class, {field: _decoded(value) for field, value in fields.items()})


def _built(spec_class: type[Spec], fields: Mapping[str, Any]) -> Spec:
    spec = object.__new__(spec_class)
    for name, value in fields.items():
        object.__setattr__(spec, name, value)
    return spec


def _encoded(name: str, field: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return [_encoded(name, field, part) for part in value]
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise ConfigError(
        f"{name}: field {field!r} holds {type(value).__name__}, which cannot be saved; "
        "expected strings, numbers, kernels, warps, or tuples of them."
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_decoded(part) for part in value)
    return from_dict(value) if isinstance(value, Mapping) else value


def _values(spec: Any) -> dict[str, Any]:
    """The fields of a spec, by name."""
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
