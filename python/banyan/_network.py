"""A network in somebody else's loop."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Sequence
from typing import Any

from . import _core
from ._checks import MOST_CYCLES, expect, whole, wholes
from ._components import FUNCTIONS, Component
from ._errors import config_error
from ._experiment import Experiment


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
        points = experiment._points
        if len(points) != 1:
            raise config_error(f"the experiment sweeps {', '.join(points.axis_names)}: {len(points)} points, not one network",
                               "give every swept key one value, with experiment.replace(key=value)", "sweep")
        self._core = _core.Network(points[0], whole(threads, "threads", 1))
        if type(self).inject is Network.inject:  # and not that of a class that adds something to it
            setattr(self, "inject", self._core.quick_inject(functools.partial(_inject, self._core)))

    def inject(self, source: int, destination: int, flits: int = 1, at: int = 0) -> int:
        """Generates a message in the next cycle, or in the later cycle `at`; returns its number."""
        return _inject(self._core, source, destination, flits, at)

    def inject_many(self, sources: Any, destinations: Any, flits: Any = 1) -> list[int]:
        """A message per element of these arrays, all in the next cycle; returns their numbers. All or, after an error, none."""
        numbers = self._core.inject_many(sources, destinations, flits)
        if numbers is not None:
            return numbers
        given = {"sources": sources, "destinations": destinations, "flits": flits if _is_list(flits) else [flits]}
        for name, values in given.items():
            if not _is_list(values):
                raise config_error(f"{values!r} is no list of whole numbers", f"give {name} an array or a list", name)
        columns = [wholes(values, lambda i: f"{name}[{i}]") for name, values in given.items()]
        if len(columns[0]) != len(columns[1]) or len(columns[2]) not in (1, len(columns[0])):
            raise config_error(f"{len(columns[0])} sources, {len(columns[1])} destinations and {len(columns[2])} flits are given",
                               "give as many of each, or one number of flits for all")
        numbers = self._core.inject_many(*columns)
        assert numbers is not None  # these are lists of whole numbers
        return numbers

    def step(self, cycles: int = 1) -> list["_core.Delivery"]:
        """Simulates so many cycles; returns the messages that arrived: `id`, `source`, `destination`, `flits`,
        `injected`, `delivered`, `latency`."""
        try:
            if cycles <= MOST_CYCLES:
                return self._core.step(cycles)
            return self._core.step(whole(cycles, "cycles", 0, MOST_CYCLES))
        except TypeError:
            return self._core.step(whole(cycles, "cycles", 0, MOST_CYCLES))

    def step_to_delivery(self, most: int) -> list["_core.Delivery"]:
        """Simulates until a message arrives, or so many cycles at most; cycles in which nothing happens cost nothing."""
        return self._core.step_to_delivery(whole(most, "most", 0, MOST_CYCLES))

    @property
    def delivered(self) -> list["_core.Delivery"]:
        """The messages that arrived in the last step."""
        return self._core.delivered

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
    try:
        return core.inject(source, destination, flits, at)
    except TypeError:
        return core.inject(whole(source, "source"), whole(destination, "destination"), whole(flits, "flits"),
                           whole(at, "at", 0, MOST_CYCLES))


def _is_list(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) or getattr(values, "ndim", 0) > 0


def _is_injected(traffic: Any) -> bool:
    if isinstance(traffic, Component):
        return traffic.name == "injected"
    return traffic == "injected" or (isinstance(traffic, dict) and traffic.get("name") == "injected")


def _delivery(*values: int) -> "_core.Delivery":
    return _core.delivery_from(*values)


copyreg.pickle(_core.Delivery, lambda d: (_delivery, (d.id, d.source, d.destination, d.flits, d.injected, d.delivered)))
