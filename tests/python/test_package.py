"""Can the package be installed, and do its documents and examples work?"""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

import banyan
from conftest import ROOT


def test_pip_installs_it_without_a_network(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP"))}
    venv.create(tmp_path / "env", system_site_packages=True, with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "."], cwd=ROOT,
                          capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = subprocess.run([python, "-c", "import banyan, sys; print(banyan.__file__, banyan.__version__)"], cwd=tmp_path,
                          capture_output=True, text=True, env=environment, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(str(tmp_path)) and banyan.__version__ in told.stdout


def test_the_debian_package_has_the_module_and_says_what_it_needs(tmp_path):
    if shutil.which("dpkg-shlibdeps") is None:
        pytest.skip("not a Debian system")
    config = os.path.join(ROOT, "build", "release", "CPackConfig.cmake")
    subprocess.run(["cpack", "-G", "DEB", "--config", config, "-B", tmp_path, "-D", "CPACK_COMPONENTS_ALL=python"],
                   check=True)
    (package,) = tmp_path.glob("*.deb")
    assert package.name.startswith("python3-banyan_")
    needs = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    assert "python3 (>= 3.11)" in needs and all(library in needs for library in ("libc6", "zlib1g", "libstdc++6", "libfmt9"))
    root = tmp_path / "root"
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    assert (root / "usr/share/doc/python3-banyan/copyright").is_file()
    modules = root / "usr/lib/python3/dist-packages"
    told = subprocess.run([sys.executable, "-c", "import banyan; print(banyan.__file__, banyan.__version__)"], cwd=tmp_path,
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(modules)}, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(str(modules)) and banyan.__version__ in told.stdout


def test_the_wheel_has_stubs_and_its_mark(tmp_path):
    sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
    import build_backend

    name = build_backend.build_wheel(tmp_path)
    assert name.endswith("cp311-cp311-linux_x86_64.whl")
    names = zipfile.ZipFile(tmp_path / name).namelist()
    assert {"banyan/__init__.pyi", "banyan/py.typed", "banyan/__init__.py"} <= set(names)
    first = (tmp_path / name).read_bytes()
    build_backend.build_wheel(tmp_path)
    assert (tmp_path / name).read_bytes() == first


def documents():
    listed = []
    for folder, _, files in os.walk(os.path.join(ROOT, "docs")):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".md") and "```python\n" in open(path, encoding="utf-8").read():
                listed.append(os.path.relpath(path, ROOT))
    return sorted(listed)


@pytest.mark.parametrize("document", documents())
def test_the_python_of_documents_works(document, tmp_path):
    """Blocks of a page are one program, run at the root of the project."""
    text = open(os.path.join(ROOT, document), encoding="utf-8").read()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    script = tmp_path / "document.py"
    script.write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks))
    environment = {**os.environ, "BANYAN_OUT": str(tmp_path)}
    done = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_a_learner_finds_a_threshold_that_is_better_on_new_seeds():
    sys.path.insert(0, os.path.join(ROOT, "examples", "python"))
    import train_recn

    fire = train_recn.Fire()
    best, means = train_recn.train(fire, episodes=12)
    assert sum(plays for plays, _ in means.values()) == 12 and set(means) == set(train_recn.THRESHOLDS)
    assert best <= 16
    new_seeds = range(1000, 1003)
    assert sum(fire.loss(best, seed) for seed in new_seeds) < 0.9 * sum(fire.loss(256, seed) for seed in new_seeds)
    assert train_recn.train(train_recn.Fire(), episodes=6) == train_recn.train(fire, episodes=6)


def test_processors_on_a_network_finish():
    sys.path.insert(0, os.path.join(ROOT, "examples", "python"))
    import trace_processors

    slow, wait_slow = trace_processors.simulate(side=4, accesses=20, buffer=1)
    fast, wait_fast = trace_processors.simulate(side=4, accesses=20, buffer=16)
    assert fast <= slow and wait_fast < wait_slow
    assert trace_processors.simulate(side=4, accesses=20, buffer=16) == (fast, wait_fast)


def test_an_editable_installation_is_refused(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(os.path.join(ROOT, "tools", "python"))
    import build_backend

    with pytest.raises(SystemExit, match="cannot be installed as editable"):
        build_backend.build_editable(tmp_path)
