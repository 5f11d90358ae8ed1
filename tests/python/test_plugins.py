"""Do components of a plug-in work from Python as they do from the command line?"""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PLUGIN = os.path.join(ROOT, "examples", "plug-in")
PROGRAM = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor
import banyan

def parts():
    return {"topology": banyan.complete_graph(switches=6, terminals=2), "switch": banyan.plain_wormhole(buffer=4),
            "routing": "relay", "admission": banyan.token_bucket(rate=0.1, size=12)}

def refused(call):
    try:
        call()
    except banyan.ConfigError as error:
        return str(error)
    raise AssertionError("it is taken")

if __name__ == "__main__":
    plugin, old, none, text, file = sys.argv[1:]
    assert "banyan.load_plugin(FILE)" in refused(lambda: banyan.load(file))
    before = banyan.load("examples/mesh-vc-router.toml", **{"traffic.load": 0.2, "run.measure": 500})
    assert "was built for Banyan" in refused(lambda: banyan.load_plugin(old))
    assert "no such file" in refused(lambda: banyan.load_plugin(none))
    assert "cannot be loaded" in refused(lambda: banyan.load_plugin(text))
    assert "is no file" in refused(lambda: banyan.load_plugin("."))
    assert "is no plug-in of Banyan" in refused(lambda: banyan.load_plugin(banyan._core.__file__))
    assert "is no path" in refused(lambda: banyan.load_plugin(3))

    names = banyan.load_plugin(plugin)
    assert sorted(names) == ["complete_graph", "plain_wormhole", "relay", "token_bucket"], names
    assert banyan.load_plugin(plugin) == names
    assert {*names} <= {*banyan.__all__} and "switches" in banyan.complete_graph.__doc__
    assert "token_bucket" in banyan.describe("token_bucket")
    assert 'no parameter "switch"' in refused(lambda: banyan.complete_graph(switch=3))

    e = banyan.load(file)
    r = e.run()
    print(r.state_hash)
    assert e.run(threads=2).state_hash == r.state_hash and before.run().verdict == "steady"
    # What the plug-in itself throws, from its constructor of a routing.
    assert "two steps need two virtual channels" in refused(lambda: e.run(**{"routing.way": "relayed"}))
    net = banyan.Network(**parts())
    net.inject(0, 11, flits=4)
    assert len(net.step(200)) == 1
    net.audit()
    # Processes that know nothing of it are told.
    own = banyan.Experiment(**parts(), traffic=banyan.uniform(load=0.1, size=4), run={"warmup": 100, "measure": 500})
    here = own.sweep(load=[0.05, 0.1])
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = own.sweep(executor=pool, load=[0.05, 0.1])
        assert pool.submit(banyan.Experiment.run, own).result() == own.run()
    assert [one.state_hash for one in here] == [one.state_hash for one in there]
    assert pickle.loads(pickle.dumps(here))[0] == here[0]
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """The example, built against the installed package."""
    folder = tmp_path_factory.mktemp("plugin")
    build = os.path.join(ROOT, "build", "release")
    for command in (["cmake", "--build", build, "--target", "banyan_share"],
                    ["cmake", "--install", build, "--prefix", folder / "usr"],
                    ["cmake", "-G", "Ninja", "-S", PLUGIN, "-B", folder / "built", f"-DCMAKE_PREFIX_PATH={folder / 'usr'}"],
                    ["cmake", "--build", folder / "built"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "built" / "my_components.so"


def test_a_plug_in_works_as_from_the_command_line(plugin, tmp_path, program):
    file = os.path.join(PLUGIN, "experiment.toml")
    old = tmp_path / "old.so"
    old.write_bytes(re.sub(rb"\(interface [0-9a-f]{12}", b"(interface 0123456789ab", plugin.read_bytes()))
    script = tmp_path / "use.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, script, plugin, old, tmp_path / "none.so", file, file], cwd=ROOT,
                          capture_output=True, text=True, env={**os.environ, "PYTHONFAULTHANDLER": "1"}, check=False)
    assert done.returncode == 0, done.stderr
    told = program("run", file, "--json", "--quiet", "--plugin", plugin)
    assert done.stdout.split() == [json.loads(told)["state_hash"]]


def test_one_that_was_built_again_asks_for_a_new_python(plugin, tmp_path):
    again = tmp_path / "own.so"
    again.write_bytes(plugin.read_bytes())
    script = ("import banyan, os, sys; banyan.load_plugin(sys.argv[1]); os.utime(sys.argv[1], (1, 1))\n"
              "try: banyan.load_plugin(sys.argv[1])\nexcept banyan.ConfigError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", script, again], capture_output=True, text=True, check=True)
    assert "was loaded before, and is another one now" in done.stdout and "a new Python" in done.stdout
