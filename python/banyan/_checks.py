"""What Python gives, looked at before it is used: whatever cannot be meant is refused in a sentence."""

from __future__ import annotations

import difflib
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._errors import ConfigError, UnknownName, config_error

MOST = 2**32 - 1  # what the simulator counts terminals and flits with
MOST_CYCLES = 2**63 - 1


def shown(value: Any) -> str:
    """The value as a text that fits into a sentence."""
    return f'"{value}"' if isinstance(value, str) else reprlib.repr(value)


def nearest(word: Any, names: Iterable[str], otherwise: str = "give none") -> str:
    """The remedy for a word that is none of these names."""
    names = list(names)
    near = difflib.get_close_matches(str(word), names, 1)
    return f'did you mean "{near[0]}"?' if near else "it has: " + ", ".join(names) if names else otherwise


def whole(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """The value as an int. A float that is exactly whole counts as one."""
    number = _whole(value)
    if number is not None and least <= number <= most:
        return number
    if number is not None and number > most:
        limits = f" up to {most}"
    else:
        limits = "" if least < 0 else f" from {least} on"
    raise config_error(f"{shown(value)} is no whole number{limits}", f"give {what} a whole number{limits}", what)


def _whole(value: Any) -> int | None:
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        return int(value) if not isinstance(value, (str, bytes)) and int(value) == value else None
    except (TypeError, ValueError, OverflowError):
        return None


def wholes(values: Any, what: Callable[[int], str], least: int = 0, most: int = MOST) -> list[int]:
    """The values of a column as ints; `what` names one by its place."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if all(type(v) is int for v in listed) and (not listed or least <= min(listed) <= max(listed) <= most):
        return listed
    return [whole(value, what(i), least, most) for i, value in enumerate(listed)]


def number(value: Any, what: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise config_error(f"{shown(value)} is no number", f"give {what} a number", what)


def text(value: Any, what: str) -> str:
    return expect(value, str, what, "text")


def words(values: Any, what: str) -> list[str]:
    """One text, or several."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise config_error(f"{shown(values)} is no list of texts", f"give {what} texts", what)
    return [text(value, what) for value in values]


def path(value: Any, what: str) -> str:
    try:
        return os.fspath(expect(value, (str, os.PathLike), what, "path"))
    except TypeError:
        raise config_error(f"{shown(value)} is no path", f"give {what} a path", what) from None


def function(value: Any, what: str) -> Any:
    """Something that can be called, or None."""
    if value is None or callable(value):
        return value
    raise config_error(f"{shown(value)} is no function", f"give {what} a function, or leave it out", what)


def expect(value: Any, kinds: Any, what: str, meant: str) -> Any:
    """The value, which must be of one of these types; `meant` says what that is in words."""
    if isinstance(value, kinds):
        return value
    raise config_error(f"{shown(value)} is no {meant}", f"give {what} a {meant}", what)


def unknown_attribute(self: Any, name: str) -> Any:
    """What classes of the package do where an attribute is missing (`__getattr__`): they name the nearest."""
    whose = f"banyan.{type(self).__name__}"
    if name.startswith("_"):
        raise AttributeError(f"{whose} has no attribute {name!r}")
    raise _unknown(whose, name, [each for each in dir(type(self)) if not each.startswith("_")])


def unknown_of_package(name: str, names: Sequence[str]) -> Exception:
    """The error for what the package itself does not have."""
    return AttributeError(f"banyan has no {name!r}") if name.startswith("_") else _unknown("banyan", name, names)


def _unknown(whose: str, name: str, names: Sequence[str]) -> ConfigError:
    near = difflib.get_close_matches(name, names, 1)
    return config_error(f'{whose} has no attribute "{name}"',
                        f'did you mean "{near[0]}"?' if near else "dir() lists what it has", kind=UnknownName)


def refuse_unknown(given: Iterable[str], names: Iterable[str], what: str) -> None:
    """Refuses keywords that are none of these names."""
    names = list(names)
    for word in given:
        if word not in names:
            raise config_error(f'{what} has no "{word}"', nearest(word, names))
