"""What Python gives, looked at before it is used: whatever cannot be meant is refused in a sentence."""

from __future__ import annotations

import difflib
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from ._errors import ConfigError, UnknownName, config_error

MOST = 2**32 - 1  # what the simulator counts terminals and flits with
MOST_CYCLES = 2**63 - 1
BYTES = (bytes, bytearray, memoryview)  # numbers to Python, which nobody means by them
MOST_SHOWN = 100
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = MOST_SHOWN


def shown(value: Any) -> str:
    """The value as a text that fits into a sentence, and that can be written."""
    if isinstance(value, str) and len(value) <= MOST_SHOWN and value.isprintable():
        return f'"{value}"'
    return _SHORT.repr(value)


def nearest(word: Any, names: Iterable[str], otherwise: str = "give none") -> str:
    """The remedy for a word that is none of these names."""
    names = list(names)
    near = difflib.get_close_matches(str(word), names, 1)
    return f'did you mean "{near[0]}"?' if near else "it has: " + ", ".join(names) if names else otherwise


def whole(value: Any, what: str, least: int = 0, most: int = MOST) -> int:
    """The value as an int. A float that is exactly whole counts as one."""
    number = whole_or_none(value)
    if number is not None and least <= number <= most:
        return number
    if number is not None and number > most:
        limits = f" up to {most}"
    else:
        limits = "" if least < 0 else f" from {least} on"
    raise config_error(f"{shown(value)} is no whole number{limits}", f"give {what} a whole number{limits}", what)


def _is_truth(value: Any) -> bool:
    """True and False are numbers to Python. As in a file they are none here: who gives one means something else."""
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def whole_or_none(value: Any) -> int | None:
    """The value as an int, if it is one."""
    if _is_truth(value) or getattr(value, "ndim", 0) > 0:
        return None
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        return int(value) if not isinstance(value, (str, *BYTES)) and int(value) == value else None
    except (TypeError, ValueError, OverflowError):
        return None


def items(values: Any, what: str, meant: str) -> list[Any]:
    """What a list, an array or a generator has; `meant` says in words what is asked for. Bytes are no list, and neither is
    a text."""
    if not isinstance(values, (str, *BYTES, type)):
        try:
            return list(values.tolist() if hasattr(values, "tolist") else values)
        except TypeError:
            pass
    raise config_error(f"{shown(values)} is no {meant}", f"give {what} a {meant}", what)


def wholes(values: Any, what: Callable[[int], str], least: int = 0, most: int = MOST, of: str = "values") -> list[int]:
    """The values of a column as ints; `what` names one by its place, `of` the column."""
    if isinstance(values, (Mapping, Set)):  # they have no order
        raise config_error(f"{shown(values)} is no list of whole numbers", f"give {of} a list of whole numbers", of)
    listed = items(values, of, "list of whole numbers")
    if all(type(v) is int for v in listed) and (not listed or least <= min(listed) <= max(listed) <= most):
        return listed
    return [whole(value, what(i), least, most) for i, value in enumerate(listed)]


def number(value: Any, what: str) -> float:
    try:
        if not isinstance(value, (str, *BYTES)) and not _is_truth(value):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise config_error(f"{shown(value)} is no number", f"give {what} a number", what)


def text(value: Any, what: str) -> str:
    return readable(expect(value, str, what, "text"), what)


def readable(value: str, what: str | None) -> str:
    """A text that files may hold: some that Python can make are none, such as half of a pair of UTF-16."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise config_error(f"{shown(ascii(value))} is no text that can be written", "give a text of Unicode", what) from None
    return value


def words(values: Any, what: str) -> list[str]:
    """One text, or several."""
    if isinstance(values, str):
        values = [values]
    return [text(value, what) for value in items(values, what, "list of texts")]


def path(value: Any, what: str) -> str:
    """The name of a file or of a folder, which is not empty."""
    try:
        name = os.fspath(expect(value, (str, os.PathLike), what, "path"))
    except TypeError:
        name = None
    if not isinstance(name, str) or not name or "\0" in name:
        raise config_error(f"{shown(value)} is no path", f"give {what} a path", what)
    return readable(name, what)


def axes(value: Any) -> Any:
    """The axes of matplotlib that somebody draws into, or None."""
    if value is None or (hasattr(value, "errorbar") and hasattr(value, "get_xaxis_transform")):
        return value
    raise config_error(f"{shown(value)} is none of matplotlib's axes", "give ax what matplotlib.pyplot.subplots() returns, or leave "
                       "it out", "ax")


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
