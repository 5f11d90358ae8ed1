"""Components of shared libraries that somebody else has built."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from . import _components, _core
from ._checks import path
from ._errors import config_error

_loaded: dict[str, tuple[int, int, list[str]]] = {}  # by path: when the file was written, how long it is, its components


def load_plugin(file: "str | os.PathLike[str]") -> list[str]:
    """Loads the components of a plug-in, as `--plugin FILE` does, and returns their names: each has its function in the
    package, as built-in components have. Loading a file again does nothing. ConfigError: the file is missing, is no
    plug-in, was built for another version, or has a component whose name is taken. How one is made:
    docs/how-to/write-a-plug-in.md.

    >>> banyan.load_plugin("out/plug-in/my_components.so")
    >>> banyan.complete_graph(switches=6)
    """
    name = path(file, "file")
    place = os.path.realpath(name)
    try:
        mark = os.stat(place)
    except OSError:
        _core.load_plugin(name)  # says that there is none
        raise
    known = _loaded.get(place)
    if known is not None:
        if known[:2] != (mark.st_mtime_ns, mark.st_size):
            raise config_error(f"{name} was loaded before, and is another one now",
                               "begin again with a new Python: what is loaded stays", "file")
        return list(known[2])
    _core.load_plugin(name)
    names = _components.add_new()
    _loaded[place] = (mark.st_mtime_ns, mark.st_size, names)
    package = vars(sys.modules[__package__])
    for each in names:
        if each not in package:  # what the package has itself stays
            package[each] = _components.FUNCTIONS[each]
            package["__all__"].append(each)
    return list(names)


def loaded() -> tuple[str, ...]:
    """Where the plug-ins of this process lie."""
    return tuple(_loaded)


def load_all(files: Iterable[str]) -> None:
    """In another process: what the one that asks has loaded."""
    for file in files:
        load_plugin(file)
