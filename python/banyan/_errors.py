"""What goes wrong, as exceptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Sweep


class ConfigError(ValueError):
    """Bad input: what the command line would print, with its parts.

    ``file``, ``line`` and ``column`` tell the place, ``key`` the dotted path of the parameter (each None where there is
    none); ``cause`` and ``remedy`` are the two sentences of the text.
    """

    def __init__(
        self,
        text: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        cause: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.cause = text if cause is None else cause
        self.remedy = remedy

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self):
        return (
            type(self),
            (self.args[0], self.file, self.line, self.column, self.key, self.cause, self.remedy),
        )


# A file of values that Python gave (_inputs.py), and a place in it.
_KEPT = re.compile(r"\S*/banyan-\d+/[0-9a-f]{32}\.(trace|goal)(?::(\d+))?(?::\d+)?")


def _given(place: "re.Match[str]") -> str:
    if place[1] == "goal":
        return "banyan.schedule(...)"
    # A line of a trace is a message, behind the first one.
    return f"message {int(place[2]) - 2} of banyan.messages(...)" if place[2] and int(place[2]) > 1 else "banyan.messages(...)"


def told(text: str, file: str | None, line: int | None, column: int | None, key: str | None, cause: str,
         remedy: str) -> ConfigError:
    """The library's error. What Python gave is named as it was given, and not by the file that it was written into."""
    if file is not None and _KEPT.fullmatch(file):
        file, line, column = None, None, None
    return ConfigError(_KEPT.sub(_given, text), file, line, column, key, _KEPT.sub(_given, cause), _KEPT.sub(_given, remedy))


def config_error(cause: str, remedy: str, key: str | None = None, kind: type[ConfigError] = ConfigError) -> ConfigError:
    """An error that the Python part finds, in the words that the library would use."""
    text = f"{key}: {cause}" if key else cause
    return kind(f"{text}\n  remedy: {remedy}", None, None, None, key, cause, remedy)


class UnknownMetric(ConfigError, KeyError):
    """A result does not report a metric of that name."""


class UnknownName(ConfigError, AttributeError):
    """An object of the package, or the package, has no attribute of that name."""


class UnknownPoint(ConfigError, IndexError):
    """A sweep has no point of that number."""


class SweepInterrupted(KeyboardInterrupt):
    """Control-C in a sweep. `done` is the Sweep of the points that were finished, `planned` how many there were."""

    def __init__(self, done: "Sweep", planned: int) -> None:
        super().__init__(f"interrupted; {len(done)} of {planned} points are finished, and are kept in `done` of this exception")
        self.done = done
        self.planned = planned


class InvariantError(RuntimeError):
    """A broken invariant: an error of the simulator. Report it with the experiment."""


class BanyanWarning(UserWarning):
    """What the command line would note on standard error."""
