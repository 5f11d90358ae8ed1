"""Says which Python the package was built for, where it is another one that imports it."""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys


def other_python(folder: str) -> str | None:
    """The version of Python that the compiled part in this folder is for, where it is not for the one that runs; None: it
    is, or there is none."""
    modules = [name for name in os.listdir(folder) if name.startswith("_core.")]
    if any(name == f"_core{suffix}" for name in modules for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        return None
    found = re.search(r"cpython-(\d)(\d+)", " ".join(modules))
    return f"{found[1]}.{found[2]}" if found else None


def require_this_python(folder: str) -> None:
    version = other_python(folder)
    if version is not None:
        raise ImportError(f"banyan was built for Python {version}, and this is Python {sys.version_info[0]}."
                          f"{sys.version_info[1]}: run it with python{version}, or build the package for this Python")


require_this_python(os.path.dirname(__file__))
