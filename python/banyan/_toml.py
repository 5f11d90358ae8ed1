"""Python values as TOML, in the form of an override or of a table on one line."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Mapping
from os import PathLike
from typing import Any

from ._checks import BYTES, readable, shown
from ._errors import config_error

_BARE = re.compile(r"^[A-Za-z0-9_.-]+\Z")


def key(name: str) -> str:
    """A key as written; dots group parameters."""
    return name if _BARE.match(name) else _quoted(name)


def _quoted(text: str) -> str:
    """As JSON writes it, which leaves one sign as it is that TOML has escaped."""
    readable(text, None)
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item: Any, where: str | None = None) -> str:
    """The value as TOML: numbers, texts, lists, tables, components, and what NumPy makes of them."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (str, PathLike)):
        return _quoted(str(item))
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            return "nan" if math.isnan(item) else ("inf" if item > 0 else "-inf")
        return repr(item)
    if hasattr(item, "toml"):
        return str(item.toml())
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key(str(k))} = {value(v, where)}" for k, v in item.items()) + " }"
    if hasattr(item, "tolist") and not isinstance(item, BYTES):  # arrays and scalars of NumPy, columns of pandas
        return value(item.tolist(), where)
    if isinstance(item, (list, tuple, range)):
        return "[" + ", ".join(value(v, where) for v in item) + "]"
    if hasattr(item, "__float__") and not isinstance(item, type):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return value(float(item))
    remedy = "banyan.graph(...) makes a topology of it" if hasattr(item, "edges") else (
        "give a number, a text, a list, a dict or a component")
    raise config_error(f"{shown(item)} is no value of a parameter", remedy, where)


def override(name: str, item: Any) -> str:
    """`name=value` as on the command line."""
    return f"{name}={value(item, name)}"
