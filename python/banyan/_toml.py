"""Python values as TOML, in the form of an override or of a table on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from os import PathLike
from typing import Any

_BARE = re.compile(r"^[A-Za-z0-9_.-]+$")


def key(name: str) -> str:
    """A key as written; dots group parameters."""
    return name if _BARE.match(name) else json.dumps(name)


def value(item: Any) -> str:
    """The value as TOML: numbers, texts, lists, tables, components, and what NumPy makes of them."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False)
    if isinstance(item, PathLike):
        return json.dumps(str(item), ensure_ascii=False)
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            return "nan" if math.isnan(item) else ("inf" if item > 0 else "-inf")
        return repr(item)
    if hasattr(item, "toml"):
        return str(item.toml())
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key(str(k))} = {value(v)}" for k, v in item.items()) + " }"
    if hasattr(item, "tolist"):  # arrays and scalars of NumPy, columns of pandas
        return value(item.tolist())
    if isinstance(item, (list, tuple, range)):
        return "[" + ", ".join(value(v) for v in item) + "]"
    if hasattr(item, "__float__"):
        return value(float(item))
    raise TypeError(f"{type(item).__name__} is no value of a parameter: {item!r}")


def override(name: str, item: Any) -> str:
    """`name=value` as on the command line."""
    return f"{name}={value(item)}"
