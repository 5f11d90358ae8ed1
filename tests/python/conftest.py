"""What the tests of the Python package share. Run by `./dev python`."""

import os
import subprocess

import pytest

import banyan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "build", "release", "banyan")

TEXT = """name = "small"
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
[[traffic]]
name = "uniform"
load = 0.1
[run]
warmup = 500
measure = 4000
seed = 3
"""


def parts():
    """A small network, as the parts of an experiment."""
    return {"topology": banyan.mesh(size=[4, 4]), "switch": banyan.vc_router(vcs=2, buffer=4), "routing": "dimension_order"}


@pytest.fixture
def program():
    """Runs the program; returns what it prints."""

    def run(*arguments, status=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def small():
    """A run of some hundredths of a second."""
    return banyan.Experiment(
        topology=banyan.mesh(size=[4, 4]),
        switch=banyan.vc_router(vcs=2, buffer=4),
        routing="dimension_order",
        traffic=[banyan.uniform(load=0.1)],
        run={"warmup": 500, "measure": 4000, "seed": 3},
        name="small",
    )
