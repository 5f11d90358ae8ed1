"""Writes the type stubs of the package: `python -m banyan._stubs FOLDER`. Components come from their rows."""

from __future__ import annotations

import os
import sys

from . import _components, _inputs

_TYPES = {
    "boolean": "bool",
    "integer": "int | str",  # a text gives a unit: "2 kB"
    "real": "float | str",
    "text": "str | _PathLike[str]",
    "integers": "int | _Sequence[int]",
    "reals": "float | _Sequence[float]",
    "texts": "str | _Sequence[str]",
}

# Functions of the package whose keywords are the parameters of a row too.
_BY_ROW = ("job",)


def _type_of(parameter: dict) -> str:
    if parameter["type"] == "choice":
        return "_Literal[" + ", ".join(repr(c) for c in parameter["choices"]) + "]"
    return _TYPES[parameter["type"]]


def _function(row: dict, told: "str | None" = None) -> str:
    """`told`: its docstring, where that is more than what the row says."""
    words = []
    for parameter in row["parameters"]:
        default = "" if parameter["required"] else " = ..."
        words.append(f"{_components.keyword_of(parameter['name'])}: {_type_of(parameter)}{default}")
    taken = {word.split(":")[0] for word in words}
    words += [f"{group}: _Mapping[str, _Any] = ..." for group in _components.groups_of(row) if group not in taken]
    listed = f"*, {', '.join(words)}" if words else ""
    body = (told or _components.docstring(row)).replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n    ")
    return f'def {row["name"]}({listed}) -> Component:\n    """{body}\n    """\n    ...\n'


def text(init: str) -> str:
    """The stub of `banyan`: its imports, which are typed where they stand, and a function per component."""
    imports = [line for line in init.splitlines() if line.startswith("from ._") and "_FUNCTIONS" not in line]
    shown = []
    for line in imports:
        module, names = line.removeprefix("from ").split(" import ")
        typed = [name for name in names.split(", ") if name not in _BY_ROW]
        shown.append(f"from {module} import " + ", ".join(f"{n} as {n}" for n in typed))
    head = ["# Made from the parameter rows of the components.",
            "from collections.abc import Mapping as _Mapping, Sequence as _Sequence",
            "from os import PathLike as _PathLike", "from typing import Any as _Any, Literal as _Literal", "", *shown, "",
            "__version__: str", ""]
    by_row = [_function({**_components.TABLE_ROWS[name], "name": name}, getattr(_inputs, name).__doc__) for name in _BY_ROW]
    return "\n".join(head) + "\n" + "\n".join([*by_row, *(_function(row) for row in _components.rows())])


def main(folder: str) -> None:
    with open(os.path.join(folder, "__init__.py"), encoding="utf-8") as file:
        stub = text(file.read())
    with open(os.path.join(folder, "__init__.pyi"), "w", encoding="utf-8") as file:
        file.write(stub)


if __name__ == "__main__":
    main(sys.argv[1])
