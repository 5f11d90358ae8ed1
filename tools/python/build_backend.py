"""Builds wheels of the Python package with CMake (PEP 517). It uses the folders of `./dev python`, so that what is built
already is not built again, and Debian's Python, which the package is for."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"
PACKAGE = os.path.join(ROOT, "build", "python", "banyan")


def _version() -> str:
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        found = re.search(r"^project\(banyan VERSION ([0-9.]+)", file.read(), re.MULTILINE)
    if found is None:
        raise RuntimeError("CMakeLists.txt names no version")
    return found[1]


def _tag() -> str:
    """Of the interpreter that the module is for, which must be the one that installs it."""
    say = "import sys, sysconfig; print('cp%d%d' % sys.version_info[:2], sysconfig.get_platform())"
    told = subprocess.run([PYTHON, "-c", say], capture_output=True, text=True, check=True).stdout.split()
    running = "cp%d%d" % sys.version_info[:2]
    if running != told[0]:
        raise SystemExit(
            f"banyan is built for {PYTHON} ({told[0]}), and this is {sys.executable} ({running})\n"
            f"  remedy: make the environment with {PYTHON} -m venv --system-site-packages"
        )
    return f"{told[0]}-{told[0]}-{re.sub('[-.]', '_', told[1])}"


def _build() -> None:
    jobs = os.environ.get("JOBS", str(os.cpu_count() or 1))
    build = os.path.join(ROOT, "build", "release")
    # Everything goes to standard error: standard output belongs to the tool that asks.
    for command in (
        ["cmake", "--preset", "release", "-DBANYAN_PYTHON=ON", f"-DPython_EXECUTABLE={PYTHON}",
         f"-DBANYAN_PYTHON_OUT={os.path.dirname(PACKAGE)}"],
        ["cmake", "--build", build, "-j", jobs, "--target", "banyan_python_package"],
    ):
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)


def _metadata() -> str:
    return "\n".join([
        "Metadata-Version: 2.1",
        "Name: banyan",
        f"Version: {_version()}",
        "Summary: Simulates interconnection networks",
        "License: Apache-2.0",
        "Requires-Python: >=3.11,<3.12",
        "Provides-Extra: notebook",
        *(f"Requires-Dist: {name}; extra == 'notebook'" for name in ("numpy", "pandas", "matplotlib", "networkx")),
        "",
    ])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = _tag()
    _build()
    info = f"banyan-{_version()}.dist-info"
    files = {}
    for name in sorted(os.listdir(PACKAGE)):
        path = os.path.join(PACKAGE, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files[f"banyan/{name}"] = file.read()
    with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
        files[f"{info}/LICENSE"] = file.read()
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: banyan {_version()}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"banyan-{_version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # The same content gives the same bytes.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return wheel


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Without it, pip would link the C++ sources in src/banyan as a package, and say that all went well."""
    raise SystemExit("banyan is a compiled module and cannot be installed as editable (-e)\n"
                     "  remedy: pip install --no-build-isolation --no-index . or, while working on it, ./dev python --build and "
                     "PYTHONPATH=build/python")


def build_sdist(sdist_directory, config_settings=None):
    name = f"banyan-{_version()}"
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for file in sorted(listed):
            if os.path.isfile(os.path.join(ROOT, file)):
                archive.add(os.path.join(ROOT, file), f"{name}/{file}", recursive=False)
    return f"{name}.tar.gz"
