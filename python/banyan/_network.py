"""A network in somebody else's loop."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._checks import BYTES, MOST, MOST_CYCLES, expect, shown, whole, wholes
from ._components import FUNCTIONS, Component
from ._errors import config_error
from ._experiment import Experiment

if TYPE_CHECKING:
    import numpy


class Network:
    """A network that is stepped: messages are injected, time goes on as far as asked, and what arrived is told.

    >>> net = banyan.Network(topology=banyan.mesh(size=[4, 4]), switch="vc_router", routing="dimension_order")
    >>> net.inject(0, 15, flits=4)
    0
    >>> net.step(30)
    [<message 0 from 0 to 15 after 16 cycles>]

    Given are an experiment with the traffic ``injected``, or the parts of one: without ``traffic`` it has that alone, with
    one it is added. Other traffics run beside it. Lengths of messages are limited by ``banyan.injected(longest=...)``.
    Threads of Python that share a network use it one after the other.
    """

    def __init__(self, experiment: Experiment | None = None, *, threads: int = 1, traffic: Any = None, **parts: Any) -> None:
        if experiment is None:
            traffics = [] if traffic is None else list(traffic) if isinstance(traffic, (list, tuple)) else [traffic]
            if not any(_is_injected(each) for each in traffics):
                traffics.append(FUNCTIONS["injected"]())
            experiment = Experiment(traffic=traffics, **parts)
        elif traffic is not None or parts:
            raise config_error("an experiment and parts of one are given", "give either the experiment or its parts")
        self.experiment = expect(experiment, Experiment, "experiment", "banyan.Experiment")
        points = experiment._read({})
        if len(points) != 1:
            raise config_error(f"the experiment sweeps {', '.join(points.axis_names)}: {len(points)} points, not one network",
                               "give every swept key one value, with experiment.replace(key=value)", "sweep")
        self._core = _core.Network(points[0], whole(threads, "threads", 1))
        self._delivered = self._core.quick("delivered", None)
        otherwise: dict[str, Callable[..., Any]] = {
            "inject": _inject, "inject_many": _inject_many, "step": _step, "advance": _advance}
        for name, usual in otherwise.items():
            if getattr(type(self), name) is getattr(Network, name):  # and not that of a class that adds something to it
                setattr(self, name, self._core.quick(name, functools.partial(usual, self._core)))

    def inject(self, source: int, destination: int, flits: int = 1, at: int = 0) -> int:
        """Generates a message in the next cycle, or in the later cycle `at`; returns its number."""
        return _inject(self._core, source, destination, flits, at)

    def inject_many(self, sources: Any, destinations: Any, flits: Any = 1, at: Any = 0) -> list[int]:
        """A message per element of these arrays, all in the next cycle, or each in its cycle of `at`; returns their
        numbers. All or, after an error, none. `flits` and `at`: one number for all, or one for each."""
        return _inject_many(self._core, sources, destinations, flits, at)

    def step(self, cycles: int = 1) -> list["_core.Delivery"]:
        """Simulates so many cycles; returns the messages that arrived: `id`, `source`, `destination`, `flits`,
        `injected`, `delivered`, `latency`."""
        return _step(self._core, cycles)

    def advance(self, cycles: int = 1) -> int:
        """Simulates so many cycles; returns how many messages arrived, which `delivered` and `arrivals` show."""
        return _advance(self._core, cycles)

    def step_to_delivery(self, most: int) -> list["_core.Delivery"]:
        """Simulates until a message arrives, or so many cycles at most; cycles in which nothing happens cost nothing."""
        return self._core.step_to_delivery(whole(most, "most", 0, MOST_CYCLES))

    @property
    def delivered(self) -> list["_core.Delivery"]:
        """The messages that arrived in the last step."""
        return self._delivered()

    @property
    def arrivals(self) -> "numpy.ndarray":
        """The same as an array of NumPy, one element per message, with the fields `id`, `source`, `destination`, `flits`,
        `injected` and `delivered` (cycles). It is a view on the memory in which they lie, and stays as it is."""
        return self._core.arrivals

    @property
    def now(self) -> int:
        """Cycles that are done."""
        return self._core.now

    @property
    def terminals(self) -> int:
        return self._core.terminals

    @property
    def in_flight(self) -> int:
        """Injected messages that have not arrived."""
        return self._core.in_flight

    @property
    def counts(self) -> dict[str, int]:
        """Packets and flits of all traffics that left their sources, and that arrived."""
        return self._core.counts

    @property
    def state_hash(self) -> str:
        return f"{self._core.hash:016x}"

    def reset(self, replication: int = 0) -> None:
        """Begins again with an empty network; another replication has other randomness."""
        self._core.reset(whole(replication, "replication"))

    def audit(self) -> None:
        """Checks that no packet, flit or credit was lost."""
        self._core.audit()

    def deadlock(self) -> str:
        """Who waits for whom, when packets wait for each other in a cycle; else an empty text."""
        return self._core.deadlock()

    def __repr__(self) -> str:
        return f"<banyan.Network of {self.terminals} terminals at cycle {self.now}, {self.in_flight} messages in flight>"

    def _repr_html_(self) -> str:
        return self.experiment.network()._repr_svg_()


def _inject(core: "_core.Network", source: int, destination: int, flits: int = 1, at: int = 0) -> int:
    return core.inject(whole(source, "source"), whole(destination, "destination"), whole(flits, "flits"),
                       whole(at, "at", 0, MOST_CYCLES))


def _inject_many(core: "_core.Network", sources: Any, destinations: Any, flits: Any = 1, at: Any = 0) -> list[int]:
    numbers = core.inject_many(sources, destinations, flits, at)
    if numbers is not None:
        return numbers
    given = {"sources": sources, "destinations": destinations, "flits": flits if _is_list(flits) else [flits],
             "at": at if _is_list(at) else [at]}
    for name, values in given.items():
        if not _is_list(values):
            raise config_error(f"{shown(values)} is no list of whole numbers", f"give {name} an array or a list", name)
    one = {"flits": flits, "at": at}
    columns = [wholes(values, lambda i: f"{name}[{i}]" if _is_list(one.get(name, values)) else name,
                      most=MOST_CYCLES if name == "at" else MOST) for name, values in given.items()]
    messages = len(columns[0])
    if len(columns[1]) != messages or any(len(column) not in (1, messages) for column in columns[2:]):
        told = ", ".join(f"{len(column)} {name}" for name, column in zip(given, columns) if name != "at" or _is_list(at))
        raise config_error(f"{told} are given", "give as many of each, or one number of flits and one cycle for all")
    numbers = core.inject_many(*columns)
    assert numbers is not None  # these are lists of whole numbers
    return numbers


def _step(core: "_core.Network", cycles: int = 1) -> list["_core.Delivery"]:
    return core.step(whole(cycles, "cycles", 0, MOST_CYCLES))


def _advance(core: "_core.Network", cycles: int = 1) -> int:
    return core.advance(whole(cycles, "cycles", 0, MOST_CYCLES))


def _is_list(values: Any) -> bool:
    return (isinstance(values, Sequence) and not isinstance(values, (str, *BYTES))
            or getattr(values, "ndim", 0) > 0 and not isinstance(values, BYTES))


def _is_injected(traffic: Any) -> bool:
    if isinstance(traffic, Component):
        return traffic.name == "injected"
    name = traffic.get("name") if isinstance(traffic, dict) else traffic
    return isinstance(name, str) and name == "injected"


def _delivery(*values: int) -> "_core.Delivery":
    return _core.delivery_from(*values)


copyreg.pickle(_core.Delivery, lambda d: (_delivery, (d.id, d.source, d.destination, d.flits, d.injected, d.delivered)))
