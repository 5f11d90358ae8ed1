"""Does a checker of types follow the package, as editors do?"""

import pathlib
import subprocess
import sys

import banyan

RIGHT = """
import banyan

e = banyan.Experiment(topology=banyan.mesh(size=[4, 4]), traffic=[banyan.uniform(load=0.1)])
e = banyan.load("x.toml", **{"traffic.load": 0.2})
r: banyan.Result = e.run(threads=1, **{"traffic.load": 0.2})
r = e.run(**{"traffic.load": 0.2, "switch.vcs": 2})
r = e.run(2, progress=True, on_window=lambda window: window.accepted_load > 0.3, **{"traffic.load": 0.2})
job = banyan.job(generator={"collective": "all_reduce", "ranks": 16}, host_overhead="500 ns", repeats=2)
marking = banyan.cioq(mark={"low": 8, "high": 8})
latency: banyan.Metric = r["packet_latency"]
mean: float = latency.mean
width: float | None = latency.half_width
frame = e.sweep(load=[0.1, 0.2]).frame()
difference: banyan.Comparison = banyan.compare(r, r, names=("one", "two"))
arrived: list[int] = [message.latency for message in banyan.Network(e).step(10)]
"""
# Each line is wrong, and the words say in what.
WRONG = {
    'banyan.mesh(siz=[4, 4])': 'Unexpected keyword argument "siz"',
    'banyan.mesh(size=0.5)': 'Argument "size"',
    'banyan.load("x.toml").run(1)["packet_latency"].mean = 3.0': 'read-only',
    'banyan.load("x.toml").run(1).verdikt': 'no attribute "verdikt"',
    'banyan.compare(1, 2)': 'Argument 1 to "compare"',
    'banyan.job(generater={})': 'Unexpected keyword argument "generater"',
    'banyan.Metric()': 'Too few arguments for "Metric"',
}


def messages_of(tmp_path: pathlib.Path, text: str) -> str:
    """What mypy says of a program that uses the package and of the package itself."""
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    command = ["/usr/bin/mypy", "--python-executable", sys.executable, "--ignore-missing-imports", "--no-error-summary",
               "--cache-dir", str(tmp_path / "cache"), str(program)]
    environment = {"MYPYPATH": str(pathlib.Path(banyan.__file__).parent.parent), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False).stdout


def test_a_program_that_runs_passes_and_so_does_the_package(tmp_path: pathlib.Path) -> None:
    assert messages_of(tmp_path, RIGHT) == ""


def test_slips_are_found_before_the_program_runs(tmp_path: pathlib.Path) -> None:
    lines = messages_of(tmp_path, "import banyan\n" + "\n".join(WRONG) + "\n").splitlines()
    errors = [line for line in lines if ": error: " in line]
    assert {line.split(":")[1] for line in errors} == {str(2 + i) for i in range(len(WRONG))}, lines
    for number, words in enumerate(WRONG.values(), 2):
        assert any(line.startswith(f"program.py:{number}:") and words in line for line in errors), (words, lines)
