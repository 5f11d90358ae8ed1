"""Is an experiment the same in Python as on the command line?"""

import concurrent.futures
import contextlib
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import banyan
from conftest import ROOT, TEXT


def test_a_loaded_file_gives_the_bits_of_the_program(file, program):
    e = banyan.load(file)
    r = e.run(threads=1, **{"traffic.load": 0.2})
    told = json.loads(program("run", file, "traffic.load=0.2", "--json", "--quiet"))
    assert r.state_hash == told["state_hash"]
    assert r.verdict == told["verdict"]
    metric = told["metrics"]["packet_latency"]
    assert r["packet_latency"].mean == metric["mean"]
    assert r["packet_latency"].half_width == metric["half_width"]
    assert r["packet_latency"].unit == metric["unit"] == "cycles"
    assert r["packet_latency"].count == metric["count"]
    assert r["packet_latency"].confidence == metric["confidence"]
    assert list(r) == list(told["metrics"])


def test_an_experiment_written_in_python_is_the_one_of_the_file(file, small):
    assert small.configuration == banyan.load(file).configuration
    assert small.run().state_hash == banyan.load(file).run().state_hash


def test_threads_do_not_change_the_result(small):
    assert small.run(threads=2).state_hash == small.run(threads=1).state_hash


def test_component_functions_carry_their_rows():
    signature = inspect.signature(banyan.mesh)
    assert "size" in signature.parameters
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in signature.parameters.values())
    rows = {row["name"]: row for row in json.loads(subprocess_json())}
    components = set(rows) - {"run", "job", "messages"}
    assert components <= set(banyan.__all__)
    for name in components:
        function = getattr(banyan, name)
        assert function.__doc__.startswith(rows[name]["summary"])
        defaults = [p.default for p in inspect.signature(function).parameters.values()]
        groups = {p["name"].split(".")[0] for p in rows[name]["parameters"] if "." in p["name"]}
        assert defaults[len(rows[name]["parameters"]):] == [{}] * len(groups), "a table, such as mark={\"low\": 8}"
        assert defaults[:len(rows[name]["parameters"])] == [inspect.Parameter.empty if p["required"] else p["default"] for p in rows[name]["parameters"]]


def subprocess_json():
    program = os.path.join(ROOT, "build", "release", "banyan")
    return subprocess.run([program, "describe", "--json"], capture_output=True, text=True, check=True).stdout


def test_every_component_with_its_defaults_is_read_as_it_is_written():
    # A parameter with a dot is a keyword with an underscore.
    marks = banyan.vc_router(mark_high=8)
    assert marks.toml() == '{ name = "vc_router", mark.high = 8 }'
    assert banyan.vc_router(mark={"high": 8}).toml() == '{ name = "vc_router", mark = { high = 8 } }'


def test_an_unknown_keyword_names_the_nearest():
    with pytest.raises(banyan.ConfigError) as error:
        banyan.mesh(sise=[4, 4])
    assert error.value.remedy == 'did you mean "size"?'


def test_a_component_in_the_wrong_place_is_refused(small):
    with pytest.raises(banyan.ConfigError, match="mesh is a topology, not a switch"):
        banyan.Experiment(topology=banyan.mesh(), switch=banyan.mesh(), traffic=banyan.uniform())


def test_errors_have_place_and_text_of_the_command_line(tmp_path, program):
    path = tmp_path / "wrong.toml"
    path.write_text(TEXT.replace("buffer = 4", "bufer = 4"))
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.load(str(path))
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 3, 43)
    assert "buffer" in error.remedy
    assert program("check", path, status=2) == f"banyan: error: {error}\n"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.remedy) == (str(error), error.line, error.remedy)


def test_a_file_is_read_as_it_stands_there(tmp_path, program):
    path = tmp_path / "lines.toml"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert banyan.load(path).run().state_hash == banyan.Experiment._of(TEXT, "x", []).run().state_hash
    path.write_bytes(TEXT.replace("\n", "\r").encode())
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.load(path)
    assert program("check", path, status=2) == f"banyan: error: {caught.value}\n"


def test_signs_that_toml_has_escaped_are_no_errors_of_syntax():
    with pytest.raises(banyan.ConfigError, match=r"control character U\+007F"):
        banyan.Experiment(name="a\x7f", topology="mesh", switch="vc_router", routing="dimension_order", traffic="uniform")


def test_errors_of_the_build_phase_are_errors_too(small):
    with pytest.raises(banyan.ConfigError, match="multistage"):
        small.run(routing="destination_tag")
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.load("/nowhere/e.toml")
    assert caught.value.file == "/nowhere/e.toml"


def test_check_builds_and_notes(small):
    assert any("deadlock" in note for note in small.check())
    with pytest.raises(banyan.ConfigError):
        small.check(**{"switch.vcs": 0})


def test_a_file_with_a_sweep_is_no_run(file):
    swept = banyan.Experiment(topology="mesh", switch="vc_router", routing="dimension_order",
                              traffic=banyan.uniform(load=0.1), sweep={"traffic.load": [0.1, 0.2]})
    assert swept.axis_names == ["traffic.load"]
    with pytest.raises(banyan.ConfigError, match="2 points"):
        swept.run()


def test_an_experiment_can_be_pickled(small):
    assert pickle.loads(pickle.dumps(small)).configuration == small.configuration


def test_windows_are_told_and_end_the_run(small):
    seen = []
    whole = small.run(on_window=seen.append, **{"run.window": 500})
    assert [w.number for w in seen] == list(range(len(seen)))
    assert len(seen) == 9 and (seen[0].end, seen[-1].end) == (500, 4500)
    assert repr(seen[2]).startswith("<window 2 of cycles 1000 to 1500: offered load 0.")
    series = whole.series("accepted_load").values
    assert [w.accepted_load for w in seen] == list(series[: len(seen)])
    assert whole.state_hash == small.run(**{"run.window": 500}).state_hash

    told = []
    r = small.run(on_window=lambda w: told.append(w) or w.number == 3, **{"run.window": 300})
    assert "ended by the caller after 1200 cycles" in r.explanation
    assert [w.number for w in told] == [0, 1, 2, 3] and told[-1].end == 1200
    audited = {"run.window": 300, "run.audit": "full"}
    assert "after 1200 cycles" in small.run(2, on_window=lambda w: w.number == 3, **audited).explanation
    assert r["simulated_cycles"].mean < whole["simulated_cycles"].mean

    def fail(window):
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        small.run(on_window=fail, **{"run.window": 500})
    with pytest.raises(banyan.ConfigError, match="no windows to tell of"):
        small.run(on_window=fail)


def test_progress_ends_at_all_and_its_errors_stop_the_run(small):
    told = []
    small.run(progress=lambda done, total: told.append((done, total)))
    assert told and told[-1][0] == told[-1][1]


LONG = """
import banyan, sys
e = banyan.Experiment(topology=banyan.mesh(size=[8, 8]), switch="vc_router", routing="dimension_order",
                      traffic=banyan.uniform(load=0.2), run={"measure": 500000000})
print("ready", flush=True)
try:
    e.%s
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("call", ["run()", "sweep(load=[0.1, 0.2])",
                                  "sweep(load=[0.1, 0.2], executor=__import__('concurrent.futures').futures.ThreadPoolExecutor(2))"])
def test_control_c_is_a_keyboard_interrupt(call):
    # What runs in the background has Control-C ignored, and so would its children.
    child = subprocess.Popen([sys.executable, "-c", LONG % call], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=20)[0] == "stopped\n"
    assert child.returncode == 0


def test_the_lock_is_free_while_it_runs(small):
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = ticks
    small.run(**{"run.measure": 100000})
    done.set()
    thread.join()
    assert ticks - before > 10


def test_another_python_in_the_path_does_not_matter(tmp_path):
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho the wrong python >&2\nexit 9\n")
    other.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    built = tmp_path / "build"
    configured = subprocess.run(
        ["cmake", "-S", ROOT, "-B", built, "-G", "Ninja", "-DBANYAN_PYTHON=ON", "-DBANYAN_TESTS=OFF", "-DBANYAN_WEB=OFF"],
        capture_output=True, text=True, env=environment, check=False)
    assert configured.returncode == 0, configured.stderr
    cache = (built / "CMakeCache.txt").read_text()
    assert "Python_EXECUTABLE:FILEPATH=/usr/bin/python3" in cache
    assert str(tmp_path) + "/python3" not in cache


@pytest.mark.parametrize("call, named", [
    (lambda e: e.run(threads="x"), 'threads: "x" is no whole number from 0 on'), (lambda e: e.run(threads=-1), "threads: -1"),
    (lambda e: e.sweep(threads=1.5, load=[0.1]), "threads: 1.5"), (lambda e: e.run(watch=3), "watch: 3"),
    (lambda e: e.run(on_window=3), "on_window: 3 is no function"), (lambda e: e.run(progress=3), "progress: 3"),
    (lambda e: e.sweep(executor=3, load=[0.1]), "executor: 3"), (lambda e: e.sweep(load=[object()]), "sweep.load: <object"),
    (lambda e: e.run(**{"run.measure": object()}), "run.measure: <object"), (lambda e: banyan.load(3), "path: 3 is no path"),
    (lambda e: banyan.Experiment("mesh"), "by name"), (lambda e: banyan.mesh([4, 4]), "write size="),
    (lambda e: banyan.Experiment(topolgy="mesh"), 'did you mean "topology"'),
    (lambda e: banyan.Experiment(switch="cioq"), "names no topology"),
    (lambda e: banyan.Network(3), "experiment: 3 is no banyan.Experiment"),
    (lambda e: banyan.Network(topolgy="mesh"), 'did you mean "topology"'),
    (lambda e: banyan.saturation(3), "experiment: 3"), (lambda e: banyan.saturation(e, width="x"), 'width: "x"'),
    *[(lambda e, width=width: banyan.saturation(e, width=width), f"width: {width} is not a number above 0 and below 1")
      for width in (0, -0.1, 1, float("nan"))],
    (lambda e: banyan.study(3), "name: 3"), (lambda e: banyan.describe(3), "name: 3"),
    (lambda e: banyan.compare(3, 4), "compare: 3 is no result"),
    (lambda e: e.network().plot(load=[1]), "1 loads are given for")])
def test_wrong_types_are_refused_in_a_sentence(small, call, named):
    with pytest.raises(banyan.ConfigError) as caught:
        call(small)
    assert named in str(caught.value) and caught.value.remedy


def test_attributes_that_are_missing_name_the_nearest(small):
    with pytest.raises(AttributeError) as caught:
        small.swep
    assert isinstance(caught.value, banyan.ConfigError) and caught.value.remedy == 'did you mean "sweep"?'
    with pytest.raises(banyan.UnknownName, match='did you mean "mesh"'):
        banyan.messh
    assert not hasattr(small, "nope") and not hasattr(banyan, "nope")
    for name in banyan.__all__:
        each = getattr(banyan, name)
        if isinstance(each, type) and not issubclass(each, BaseException):
            assert hasattr(each, "__getattr__"), name


def test_a_list_of_numbers_is_one_value_of_a_parameter_that_is_a_list():
    e = banyan.Experiment(topology=banyan.mesh(size=[4, 4]), switch="vc_router", traffic=banyan.uniform(load=0.1),
                          run={"warmup": 10, "measure": 50})
    for key in ("topology.size", "size"):
        with pytest.raises(banyan.ConfigError, match=rf"{key} is a list, and \[4, 8\] is one of its values") as told:
            e.sweep(**{key: [4, 8]})
        assert "[[4, 8]]" in told.value.remedy
    assert len(e.sweep(**{"topology.size": [[4, 8], [2, 2]]})) == 2
    assert len(e.replace(**{"topology.size": [4, 8]}).network().switches) == 32


def test_what_docstrings_sweep_over_is_there():
    e = banyan.Experiment(topology=banyan.mesh(size=[4, 4]), switch=banyan.vc_router(vcs=2), traffic=banyan.uniform(load=0.1),
                          run={"warmup": 10, "measure": 50})
    t = e.sweep(load=[0.1, 0.2], routing=["dimension_order", "o1turn"])
    assert t.at(load=0.2, routing="dimension_order")["packet_latency"].mean > 0


NO_MEMORY = """
import resource, sys, banyan

parts = {"topology": banyan.mesh(size=[16, 16]), "switch": banyan.vc_router(vcs=2, buffer=2048), "routing": "dimension_order"}
net = banyan.Network(traffic=banyan.uniform(load=1.0), run={"shards": 2}, threads=int(sys.argv[1]), **parts)
net.step(10)
limit = 4096 * int(open("/proc/self/statm").read().split()[0]) + 8 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    net.step(10000)
except MemoryError as error:
    print(error)
assert net.now > 10
del net
e = banyan.Experiment(traffic=banyan.uniform(load=0.1), run={"duration": 100}, **parts)
print(e.run(**{"switch.buffer": 4}).verdict)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_without_memory_raises_and_the_process_lives(threads):
    done = subprocess.run([sys.executable, "-c", NO_MEMORY, str(threads)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "not enough memory", "  remedy: make the network smaller, or use fewer threads", "finished"]


STOPPED = """
import concurrent.futures, sys, time, banyan

e = banyan.Experiment(topology=banyan.mesh(size=[16, 16]), switch="vc_router", routing="dimension_order",
                      traffic=banyan.uniform(load=0.1), run={"warmup": 0})
def main():
    pools = {"threads": concurrent.futures.ThreadPoolExecutor, "processes": concurrent.futures.ProcessPoolExecutor}
    try:
        if sys.argv[1] == "own":
            print("ready", flush=True)
            e.sweep(threads=2, **{"run.measure": [100, 30000000]})
        with pools[sys.argv[1]](2) as pool:
            list(pool.map(abs, range(2)))
            print("ready", flush=True)
            e.sweep(executor=pool, **{"run.measure": [100, 30000000, 40000000, 50000000, 60000000, 70000000]})
    except KeyboardInterrupt as error:
        print(type(error).__name__, error, len(error.done), error.done.axes(0), flush=True)

if __name__ == "__main__":
    main()
    print("over", flush=True)
"""


@pytest.mark.parametrize("kind", ["own", "threads", "processes"])
def test_control_c_ends_all_points_at_once_and_keeps_those_that_are_done(kind, tmp_path):
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    # In a notebook the signal goes to its kernel alone, and not to its workers.
    child = subprocess.Popen([sys.executable, script, kind], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert child.stdout.readline() == "ready\n"
    time.sleep(3)
    child.send_signal(signal.SIGINT)
    told = child.communicate(timeout=20)[0].splitlines()
    points = 2 if kind == "own" else 6
    assert told == [f"SweepInterrupted interrupted; 1 of {points} points are finished, and are kept in `done` of this exception "
                    "1 {'run.measure': '100'}", "over"]
    assert child.returncode == 0


def enough(window, axes):
    assert axes["load"] in ("0.1", "0.3")
    return window.number == 3 and axes["load"] == "0.3"


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_windows_of_a_sweep_are_told_with_their_point(small, kind):
    pools = {"threads": concurrent.futures.ThreadPoolExecutor, "processes": concurrent.futures.ProcessPoolExecutor}
    with contextlib.nullcontext() if kind is None else pools[kind](2) as pool:
        t = small.sweep(executor=pool, on_window=enough, load=[0.1, 0.3], **{"run.window": 500})
    assert "stopped" not in t[0].explanation and t[0].state_hash == small.run(**{"run.window": 500, "load": 0.1}).state_hash
    assert len(t[1].series("accepted_load").values) < len(t[0].series("accepted_load").values)
    with pytest.raises(banyan.ConfigError, match="no function"):
        small.sweep(on_window=3, load=[0.1, 0.3])


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """An experiment with a file in a folder beside, which it names by a relative path. Leaves the folder afterwards."""
    (tmp_path / "exp" / "data").mkdir(parents=True)
    (tmp_path / "exp" / "data" / "m.trace").write_text("# banyan trace 1\n0 0 0 5 4\n1 3 2 6 4\n")
    (tmp_path / "exp" / "e.toml").write_text(
        'topology = { name = "mesh", size = [4, 4] }\nswitch = "vc_router"\nrouting = "dimension_order"\n'
        'traffic = { name = "trace", file = "data/m.trace" }\nrun = { sessions = 1 }\n')
    monkeypatch.chdir(tmp_path)
    e = banyan.load("exp/e.toml")
    there = e.run().state_hash
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    return e, there


def test_files_are_found_after_the_program_has_gone_elsewhere(beside):
    e, there = beside
    assert e.run().state_hash == there and e.run(**{"switch.vcs": 8}).verdict == "finished"
    assert e.replace(threads=None, seed=1).run().state_hash == there
    assert pickle.loads(pickle.dumps(e)).run().state_hash == there
    assert e.sweep(**{"switch.buffer": [8, 16]})[0].state_hash == there


def test_a_folder_that_is_gone_stops_nothing(small, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    os.rmdir(tmp_path / "gone")
    assert small.run(seed=4).verdict == "steady" and small.replace(seed=4).run().verdict == "steady"


def test_workers_elsewhere_find_the_files(beside):
    e, there = beside
    os.chdir("..")
    e = banyan.load("exp/e.toml")
    with concurrent.futures.ProcessPoolExecutor(1, initializer=os.chdir, initargs=("/",)) as pool:
        assert e.sweep(executor=pool, **{"switch.buffer": [8, 16]})[0].state_hash == there


def test_errors_name_what_python_gave_and_not_where_it_was_written():
    parts = {"topology": banyan.mesh(size=[4, 4]), "switch": "vc_router", "routing": "dimension_order"}
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.Experiment(traffic=banyan.messages([[0, 0, 1, 4], [0, 0, 99, 4]]), run={"sessions": 1}, **parts).run()
    assert str(caught.value).startswith("message 1 of banyan.messages(...): there is no terminal 99")
    assert caught.value.file is None and caught.value.cause == "there is no terminal 99"
    bad = banyan.schedule([[("send", 5, 3)], [("recv", 5, 0)]])
    with pytest.raises(banyan.ConfigError, match=r"^banyan.schedule\(\.\.\.\): rank 3 of 2"):
        banyan.Experiment(job=banyan.job(file=bad), flit="1 B", **parts).run()


@pytest.mark.parametrize("name", ["plain", "two words", 'quo"te', "apo'strophe", "back\\slash", "a=b", "1"])
def test_a_name_is_what_was_given(small, name):
    assert small.replace(name=name).name == name and small.run(name=name).configuration["name"] == name


def test_a_stored_sweep_is_opened(small, file, program, tmp_path):
    folder = tmp_path / "out"
    program("sweep", file, "sweep.load=[0.1, 0.2]", "--out", folder, "--quiet")
    t = banyan.open_store(folder)
    assert t.to_csv() == banyan.load(file).sweep(load=[0.1, 0.2]).to_csv() == program("export", folder, "--csv")
    assert t.at(load=0.2)["packet_latency"].count > 0 and "<html" in t.report().text
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.open_store(tmp_path)
    assert str(caught.value) in program("export", tmp_path, "--csv", status=2)


def test_another_python_is_told_for_which_one_it_was_built(tmp_path):
    from banyan import _built_for

    (tmp_path / "_core.cpython-39-x86_64-linux-gnu.so").touch()
    with pytest.raises(ImportError, match=r"was built for Python 3.9, and this is Python \d.\d+: run it with python3.9"):
        _built_for.require_this_python(tmp_path)
    (tmp_path / os.path.basename(banyan._core.__file__)).touch()
    _built_for.require_this_python(tmp_path)


def test_an_axis_takes_the_place_of_a_value_that_was_given_before(file):
    e = banyan.load(file)
    for before in (e.replace(load=0.3), banyan.load(file, load=0.3), e.replace(load=0.1).replace(load=0.2)):
        assert before.sweep(load=[0.05, 0.1]).frame()["load"].tolist() == [0.05, 0.1]
    assert len(e.replace(**{"run.seed": 3}).sweep(**{"run.seed": [1, 2]})) == 2
    with pytest.raises(banyan.ConfigError, match="was given one value before"):
        e.replace(**{"traffic.load": 0.3}).sweep(load=[0.05, 0.1])


def test_a_slip_in_a_parameter_of_a_method_names_that_parameter(file):
    experiment = banyan.load(file)
    for call, name in ((lambda: experiment.run(thread=2), "threads"), (lambda: experiment.sweep(executer=None, thread=2), "threads"),
                       (lambda: experiment.sweep(load=[0.1], progres=True), "progress")):
        with pytest.raises(banyan.ConfigError) as error:
            call()
        assert error.value.remedy == f'did you mean "{name}"?'
    with pytest.raises(banyan.ConfigError) as error:
        experiment.run(loat=0.2)
    assert "load" in error.value.remedy


def test_a_warning_points_to_who_called(file):
    with pytest.warns(banyan.BanyanWarning) as caught:
        banyan.load(file).run(**{"switch.buffer": 1, "traffic.load": 0.9})
    assert {warning.filename for warning in caught} == {__file__}
