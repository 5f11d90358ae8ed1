"""Banyan simulates interconnection networks.

>>> import banyan
>>> e = banyan.Experiment(
...     topology=banyan.mesh(size=[8, 8]),
...     switch=banyan.vc_router(vcs=4, buffer=8),
...     routing="dimension_order",
...     traffic=[banyan.uniform(load=0.2)],
... )
>>> r = e.run()
>>> r["packet_latency"]

`banyan.load("file.toml")` reads an experiment file. Every component has a function of its name, whose keywords are its
parameters: help(banyan.mesh). The tutorial is docs/how-to/use-python.md.
"""

from __future__ import annotations

from . import _built_for  # first: says so where the compiled part is for another Python
from . import _checks, _core
from ._comparing import Comparison, Saturation, Study, compare, describe, open_store, saturation, studies, study
from ._components import FUNCTIONS as _FUNCTIONS
from ._components import Component
from ._errors import BanyanWarning, ConfigError, InvariantError, SweepInterrupted, UnknownMetric, UnknownName, UnknownPoint
from ._experiment import Experiment, load
from ._inputs import graph, job, messages, schedule, table_of
from ._network import Network
from ._plugins import load_plugin
from ._results import Metric, Page, Result, Sweep
from ._topology import Topology

__version__: str = _core.version

globals().update(_FUNCTIONS)

__all__ = [
    "BanyanWarning",
    "Comparison",
    "Component",
    "ConfigError",
    "Experiment",
    "InvariantError",
    "Metric",
    "Network",
    "Page",
    "Result",
    "Saturation",
    "Study",
    "Sweep",
    "SweepInterrupted",
    "Topology",
    "UnknownMetric",
    "UnknownName",
    "UnknownPoint",
    "compare",
    "describe",
    "graph",
    "job",
    "load",
    "load_plugin",
    "messages",
    "open_store",
    "saturation",
    "schedule",
    "studies",
    "study",
    "table_of",
    *_FUNCTIONS,
]

for _class in (Comparison, Component, Experiment, Metric, Network, Page, Result, Saturation, Study, Sweep, Topology,
               _core.Delivery, _core.Histogram, _core.Series, _core.Window):
    setattr(_class, "__getattr__", _checks.unknown_attribute)


def __getattr__(name: str) -> object:
    raise _checks.unknown_of_package(name, __all__)
