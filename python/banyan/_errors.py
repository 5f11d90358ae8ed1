"""What goes wrong, as exceptions."""

from __future__ import annotations


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


class InvariantError(RuntimeError):
    """A broken invariant: an error of the simulator. Report it with the experiment."""


class BanyanWarning(UserWarning):
    """What the command line would note on standard error."""
