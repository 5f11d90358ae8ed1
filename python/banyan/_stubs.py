"""Writes the type stubs of the package: `python -m banyan._stubs FOLDER`. Components come from their rows."""

from __future__ import annotations

import os
import sys

from . import _components

_TYPES = {
    "boolean": "bool",
    "integer": "int | str",  # a text gives a unit: "2 kB"
    "real": "float | str",
    "text": "str | _PathLike[str]",
    "integers": "int | _Sequence[int]",
    "reals": "float | _Sequence[float]",
    "texts": "str | _Sequence[str]",
}


def _type_of(parameter: dict) -> str:
    if parameter["type"] == "choice":
        return "_Literal[" + ", ".join(repr(c) for c in parameter["choices"]) + "]"
    return _TYPES[parameter["type"]]


def _function(row: dict) -> str:
    words = []
    for parameter in row["parameters"]:
        default = "" if parameter["required"] else " = ..."
        words.append(f"{_components.keyword_of(parameter['name'])}: {_type_of(parameter)}{default}")
    listed = f"*, {', '.join(words)}" if words else ""
    body = _components.docstring(row).replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n    ")
    return f'def {row["name"]}({listed}) -> Component:\n    """{body}\n    """\n    ...\n'


def text(init: str) -> str:
    """The stub of `banyan`: its imports, which are typed where they stand, and a function per component."""
    imports = [line for line in init.splitlines() if line.startswith("from ._") and "_FUNCTIONS" not in line]
    shown = []
    for line in imports:
        module, names = line.removeprefix("from ").split(" import ")
        shown.append(f"from {module} import " + ", ".join(f"{n} as {n}" for n in names.split(", ")))
    head = ["# Made from the parameter rows of the components.", "from collections.abc import Sequence as _Sequence",
            "from os import PathLike as _PathLike", "from typing import Literal as _Literal", "", *shown, "",
            "__version__: str", ""]
    return "\n".join(head) + "\n" + "\n".join(_function(row) for row in _components.rows())


def main(folder: str) -> None:
    with open(os.path.join(folder, "__init__.py"), encoding="utf-8") as file:
        stub = text(file.read())
    with open(os.path.join(folder, "__init__.pyi"), "w", encoding="utf-8") as file:
        file.write(stub)


if __name__ == "__main__":
    main(sys.argv[1])
