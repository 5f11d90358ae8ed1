"""A function per component, made from the rows that the parser and `banyan describe` read."""

from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Iterator, Mapping
from typing import Any, Callable

from . import _core, _toml
from ._checks import nearest
from ._errors import config_error

ANNOTATIONS = {
    "boolean": bool,
    "integer": int,
    "real": float,
    "text": str,
    "choice": str,
    "integers": list,
    "reals": list,
    "texts": list,
}


class Component(Mapping):
    """A component with the parameters that were given: what a table of an experiment file says."""

    def __init__(self, kind: str, name: str, parameters: Mapping[str, Any]) -> None:
        self.kind = kind
        self.name = name
        self.parameters = dict(parameters)

    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def toml(self) -> str:
        """The component as an inline table."""
        pairs = [f"name = {_toml.value(self.name)}"]
        pairs += [f"{_toml.key(k)} = {_toml.value(v)}" for k, v in self.parameters.items()]
        return "{ " + ", ".join(pairs) + " }"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Component):
            return NotImplemented
        return (self.kind, self.name, self.parameters) == (other.kind, other.name, other.parameters)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{keyword_of(k)}={v!r}" for k, v in self.parameters.items())
        return f"banyan.{self.name}({given})"


class Job(Component):
    """A job: its name, where it has one, is a parameter like others."""

    def toml(self) -> str:
        return _toml.value(self.parameters)


def keyword_of(parameter: str) -> str:
    """The keyword of a parameter: `mark.high` is given as mark_high, `from` as from_."""
    word = parameter.replace(".", "_").replace("-", "_")
    return word + "_" if keyword.iskeyword(word) else word


def _sentence_of(row: Mapping[str, Any]) -> str:
    text = row["summary"]
    if row["unit"]:
        text += f" [{row['unit']}]"
    limits = []
    if "minimum" in row:
        limits.append(f"from {row['minimum']:g}")
    if "above" in row:
        limits.append(f"above {row['above']:g}")
    if "maximum" in row:
        limits.append(f"to {row['maximum']:g}")
    if "below" in row:
        limits.append(f"below {row['below']:g}")
    if "choices" in row:
        limits.append("one of " + ", ".join(row["choices"]))
    if limits:
        text += " (" + " ".join(limits) + ")"
    return text


def docstring(row: Mapping[str, Any]) -> str:
    """Summary, literature and parameters of a component."""
    lines = [row["summary"]]
    if row["reference"]:
        lines += ["", f"Reference: {row['reference']}"]
    if row["parameters"]:
        lines += ["", "Parameters"]
    for parameter in row["parameters"]:
        default = "required" if parameter["required"] else f"default {parameter['default']!r}"
        lines.append(f"  {keyword_of(parameter['name'])} ({default}): {_sentence_of(parameter)}")
    return "\n".join(lines)


def groups_of(row: Mapping[str, Any]) -> list[str]:
    """What parameters with names of several parts begin with: a table of them is taken as one keyword."""
    return sorted({p["name"].split(".")[0] for p in row["parameters"] if "." in p["name"]})


def signature(row: Mapping[str, Any]) -> inspect.Signature:
    parameters = []
    for parameter in row["parameters"]:
        parameters.append(
            inspect.Parameter(
                keyword_of(parameter["name"]),
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter["required"] else parameter["default"],
                annotation=ANNOTATIONS[parameter["type"]],
            )
        )
    for group in groups_of(row):
        if group not in {parameter.name for parameter in parameters}:
            parameters.append(inspect.Parameter(group, inspect.Parameter.KEYWORD_ONLY, default={}, annotation=dict))
    return inspect.Signature(parameters, return_annotation=Component)


def _function(row: Mapping[str, Any]) -> Callable[..., Component]:
    names = {keyword_of(p["name"]): p["name"] for p in row["parameters"]}
    # The name of the experiment file serves too: **{"mark.high": 8}, mark={"high": 8}.
    names.update({p["name"]: p["name"] for p in row["parameters"]})
    groups = groups_of(row)
    required = [p["name"] for p in row["parameters"] if p["required"]]

    def component(*unnamed: Any, **parameters: Any) -> Component:
        if unnamed:
            first = next(map(keyword_of, names.values()), None)
            raise config_error(f"{row['name']} takes its parameters by name",
                               f"write {first}=..." if first else "give none", row["kind"])
        given = {}
        for word, item in parameters.items():
            if word not in names and word not in groups:
                listed = sorted(set(map(keyword_of, names)))
                raise config_error(f'{row["name"]} has no parameter "{word}"', nearest(word, listed), row["kind"])
            given[names.get(word, word)] = item
        for name in required:
            if name not in given:
                raise config_error(
                    f'{row["name"]} needs "{keyword_of(name)}"', f"give {keyword_of(name)}=", row["kind"]
                )
        return Component(row["kind"], row["name"], given)

    component.__name__ = component.__qualname__ = row["name"]
    component.__module__ = "banyan"
    component.__doc__ = docstring(row)
    component.__signature__ = signature(row)  # type: ignore[attr-defined]
    return component


_TABLES = ("run", "job", "messages")  # of an experiment, that hold no component
_ROWS = json.loads(_core.describe_json(""))


def rows() -> list[dict[str, Any]]:
    """Every component that an experiment names."""
    return [row for row in _ROWS if row["kind"] not in _TABLES]


def add_new() -> list[str]:
    """The components that a plug-in has brought, with functions of their own."""
    known = {(row["kind"], row["name"]) for row in _ROWS}
    new = [row for row in json.loads(_core.describe_json("")) if (row["kind"], row["name"]) not in known]
    _ROWS.extend(new)
    for row in new:
        FUNCTIONS.setdefault(row["name"], _function(row))
    return [row["name"] for row in new]


FUNCTIONS: dict[str, Callable[..., Component]] = {row["name"]: _function(row) for row in rows()}
TABLE_ROWS: dict[str, dict[str, Any]] = {row["kind"]: row for row in _ROWS if row["kind"] in _TABLES}
TABLES: dict[str, Callable[..., Component]] = {kind: _function(row) for kind, row in TABLE_ROWS.items()}
