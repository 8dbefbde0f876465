"""How what `tagnet serve` answers becomes the dataclasses of openapi.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

S = TypeVar("S", bound="Schema")

# The types of decoded JSON that an annotation takes.
SCALARS = {"str": (str,), "int": (int,), "float": (float, int), "bool": (bool,)}


def typed(value: Any, *types: type) -> Any:
    """Returns decoded JSON that is of one of the types; anything else is a TypeError."""
    if type(value) not in types:
        raise TypeError(f"{str(value)[:40]!r} is no {types[0].__name__}")
    return value


@cache
def reader(kind: str, module: str) -> Callable[[Any], Any]:
    """Returns what makes decoded JSON one of the type of an annotation in a module."""
    if kind.endswith(" | None"):
        read = reader(kind[: -len(" | None")], module)
        return lambda value: None if value is None else read(value)
    if kind.startswith("list["):
        read = reader(kind[len("list[") : -1], module)
        return lambda value: [read(item) for item in typed(value, list)]
    if kind in SCALARS:
        return lambda value: typed(value, *SCALARS[kind])
    return getattr(sys.modules[module], kind).read


class Schema:
    """A schema of the OpenAPI document: a dataclass whose fields have the names of the keys, but for an underscore behind a keyword."""

    @classmethod
    def read(cls: type[S], value: Any) -> S:
        """Makes it from decoded JSON; a key that is missing is a KeyError, another type a TypeError."""
        read = {}
        for field in fields(cls):
            key = field.name.rstrip("_")
            read[field.name] = reader(field.type, cls.__module__)(value[key] if field.default is MISSING else value.get(key))
        return cls(**read)
