# What the compiled module gives; use it through the package.
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

version: str

class Metric:
    """A mean with its confidence interval, or a counter."""

    name: str
    mean: float
    half_width: float | None
    confidence: float
    count: int
    unit: str
    counter: bool
    def __float__(self) -> float: ...

class Series:
    """Values over time."""

    name: str
    unit: str
    start: float
    interval: float
    @property
    def values(self) -> NDArray[numpy.float64]: ...

class Histogram:
    """Values in buckets, ascending."""

    name: str
    unit: str
    @property
    def low(self) -> NDArray[numpy.uint64]: ...
    @property
    def high(self) -> NDArray[numpy.uint64]: ...
    @property
    def count(self) -> NDArray[numpy.uint64]: ...

class Window:
    """What happened in one window of run.window cycles, all traffics together."""

    number: int
    start: int
    end: int
    offered_load: float
    accepted_load: float
    packet_latency: float
    delivered_packets: int
    packets_in_network: int
    source_backlog_flits: int

class Delivery:
    """A message of the caller that has arrived."""

    id: int
    source: int
    destination: int
    flits: int
    injected: int
    delivered: int
    latency: int

class Stop:
    def request(self) -> None: ...

class Result:
    version: str
    compiler: str
    state_hash: str
    configuration: str
    configuration_hash: str
    seed: int
    verdict: str
    certain: bool
    explanation: str
    warning: str
    cpu_seconds: float
    peak_bytes: int
    metric_names: list[str]
    series_names: list[str]
    histogram_names: list[str]
    table_names: list[str]
    def find(self, name: str) -> Metric | None: ...
    def at(self, name: str) -> Metric: ...
    def series(self, name: str) -> Series | None: ...
    def histogram(self, name: str) -> Histogram | None: ...
    def table(self, name: str) -> dict[str, Any] | None: ...
    def json(self) -> str: ...
    def csv(self) -> str: ...
    def text(self) -> str: ...

class Point:
    name: str
    configuration: str
    configuration_hash: int
    axes: list[tuple[str, str]]
    def check(self) -> list[str]: ...
    def topology_json(self) -> str: ...
    def topology_dot(self) -> str: ...
    def topology_svg(self) -> str: ...
    def run(
        self,
        threads: int = ...,
        watches: Sequence[str] = ...,
        progress: Callable[[int, int], object] | None = ...,
        stop: Stop | None = ...,
        on_window: Callable[[Window], object] | None = ...,
    ) -> Result: ...

class Points:
    file: str
    axis_names: list[str]
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Point: ...
    def check_deadlock(self) -> list[tuple[bool, str]]: ...
    def advice(self) -> list[str]: ...
    def sweep(self, threads: int = ..., progress: Callable[[int, int], object] | None = ...) -> Sweep: ...

class Sweep:
    axis_names: list[str]
    def __init__(self, points: Points, results: Sequence[Result]) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Result: ...
    def axes(self, index: int) -> list[tuple[str, str]]: ...
    def csv(self) -> str: ...
    def series_csv(self) -> str: ...
    def json(self) -> str: ...
    def text(self, metrics: Sequence[str]) -> str: ...
    def html(self) -> str: ...
    def write_page(self, folder: str) -> str: ...

class Network:
    now: int
    terminals: int
    in_flight: int
    hash: int
    delivered: list[Delivery]
    counts: dict[str, int]
    def __init__(self, point: Point, threads: int = ...) -> None: ...
    def step(self, cycles: int) -> list[Delivery]: ...
    def step_to_delivery(self, most: int) -> list[Delivery]: ...
    def inject(self, source: int, destination: int, flits: int, at: int) -> int: ...
    def inject_many(self, sources: Any, destinations: Any, flits: Any) -> list[int] | None: ...
    def reset(self, replication: int) -> None: ...
    def audit(self) -> None: ...
    def deadlock(self) -> str: ...

def refuse_file(name: str) -> None: ...
def read_text(text: str, name: str, overrides: Sequence[str]) -> Points: ...
def result_from_json(text: str) -> Result: ...
def is_metric(name: str) -> bool: ...
def mean_over_seeds(means: Sequence[float], confidence: float) -> tuple[float, float | None]: ...
def points_of(result: Result) -> Points: ...
def describe(name: str) -> str: ...
def describe_json(name: str) -> str: ...
def compare(a: Sweep, b: Sweep, name_a: str, name_b: str, metrics: Sequence[str]) -> tuple[str, str]: ...
def saturation(
    text: str,
    name: str,
    overrides: Sequence[str],
    key: str,
    width: float,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[str, str]: ...
def study(
    name: str,
    mode: str,
    figures: Sequence[str],
    out: str,
    overrides: Sequence[str],
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[str, str, str, dict[str, str]]: ...
def studies() -> list[str]: ...
