"""Topologies, routing tables and messages that come from Python's own data."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from ._components import TABLES, Component, Job
from ._errors import config_error


def _words(attributes: Mapping[str, Any]) -> str:
    text = ""
    for key in ("latency", "cycles_per_flit"):
        if attributes.get(key) is not None:
            text += f" {key}={int(attributes[key])}"
    return text


def graph(network: Any, terminals: "int | Mapping[Any, int]" = 1) -> Component:
    """The topology of a graph of networkx: a switch per node, a link per edge.

    ``terminals``: of each switch, or of each node by a mapping; a node attribute "terminals" goes before it. Edges may have
    the attributes "latency" and "cycles_per_flit", nodes "latency" for their terminals. Edges of a directed graph are links
    in one direction. Switches and terminals are numbered in the order of the nodes.
    """
    names = {node: f"n{i}" for i, node in enumerate(network.nodes)}
    lines = [f"switch {name}" for name in names.values()]
    number = 0
    for node, name in names.items():
        data = network.nodes[node]
        of_node = terminals.get(node, 0) if isinstance(terminals, Mapping) else terminals
        for _ in range(int(data.get("terminals", of_node))):
            lines.append(f"terminal {number} {name}{_words({'latency': data.get('latency')})}")
            number += 1
    one_way = " one_way" if network.is_directed() else ""
    lines += [f"link {names[a]} {names[b]}{_words(data)}{one_way}" for a, b, data in network.edges(data=True)]
    return Component("topology", "graph_file", {"lines": lines})


def table_of(entries: Any) -> Component:
    """The routing of a table: {(switch, terminal): port} or {(switch, terminal): [ports]}, or an array [switch, terminal]
    of ports in which a negative one means none. A port may be a tuple (port, vc_begin, vc_end).
    """
    if isinstance(entries, Mapping):
        items: Iterable[tuple[Any, Any]] = entries.items()
    else:
        rows = entries.tolist() if hasattr(entries, "tolist") else entries
        items = (((s, t), port) for s, row in enumerate(rows) for t, port in enumerate(row)
                 if not isinstance(port, int) or port >= 0)
    lines = []
    for place, ports in items:
        if not isinstance(place, tuple) or len(place) != 2:
            raise config_error(f"{place!r} is no entry of a table", "give {(switch, terminal): port}", "routing")
        for port in ports if isinstance(ports, list) else [ports]:
            words = port if isinstance(port, tuple) else (port,)
            lines.append(" ".join(str(int(word)) for word in (*place, *words)))
    return Component("routing", "table", {"lines": lines})


_COLUMNS = ("cycle", "source", "destination", "flits")


def messages(rows: Any, **parameters: Any) -> Component:
    """The traffic of these messages: a DataFrame with the columns cycle, source, destination and flits, or an array or a
    list of such rows. A run ends when all have arrived. Keywords are parameters of the traffic `trace`.

    They are kept as a trace in the folder of temporary files, under a name that tells their content.
    """
    if hasattr(rows, "columns"):
        missing = [column for column in _COLUMNS if column not in rows.columns]
        if missing:
            raise config_error(f"the messages have no column {missing[0]}", "give cycle, source, destination and flits")
        rows = rows[list(_COLUMNS)].to_numpy()
    listed = rows.tolist() if hasattr(rows, "tolist") else list(rows)
    lines = ["# banyan trace 1"]
    for i, row in enumerate(listed):
        if len(row) != 4:
            raise config_error(f"message {i} has {len(row)} values", "give cycle, source, destination and flits")
        lines.append(f"{i} " + " ".join(str(int(word)) for word in row))
    return Component("traffic", "trace", {"file": _kept("\n".join(lines) + "\n", ".trace"), **parameters})


def _kept(text: str, end: str) -> str:
    """The path of a file of that content in the folder of temporary files; its name tells the content."""
    folder = os.path.join(tempfile.gettempdir(), f"banyan-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, hashlib.sha256(text.encode()).hexdigest()[:32] + end)
    if not os.path.exists(path):
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    return path


def job(**parameters: Any) -> Component:
    return Job("job", "job", TABLES["job"](**parameters).parameters)


job.__doc__ = (TABLES["job"].__doc__ or "") + """

An experiment takes it as job=, or a list of several: banyan.job(generator={"collective": "all_reduce", "ranks": 16,
"bytes": "1 MiB"}), banyan.job(file="x.goal"), banyan.job(file=banyan.schedule(...)).
"""
job.__signature__ = TABLES["job"].__signature__  # type: ignore[attr-defined]

_OPERATIONS = {
    "calc": "calc {0}",
    "send": "send {0}b to {1} tag {2}",
    "recv": "recv {0}b from {1} tag {2}",
}


def schedule(ranks: Iterable[Iterable[Any]]) -> str:
    """The file of a schedule, for banyan.job(file=...). Every rank is what a generator gives, one operation after another:

    ("calc", ns), ("send", bytes, to), ("recv", bytes, from), the last two with a tag behind them where there are several.
    A list of operations begins at once; what follows waits for all of them.

    >>> def rank(r, n):
    ...     yield "calc", 1000
    ...     yield [("send", 4096, (r + 1) % n), ("recv", 4096, (r - 1) % n)]
    >>> banyan.job(file=banyan.schedule(rank(r, 4) for r in range(4)))
    """
    programs = [list(rank) for rank in ranks]
    lines = [f"num_ranks {len(programs)}"]
    for number, program in enumerate(programs):
        lines.append(f"rank {number} {{")
        before: list[int] = []
        labels = 0
        for step in program:
            begun = []
            for operation in step if isinstance(step, list) else [step]:
                lines.append(f"l{labels}: {_operation(operation, number)}")
                lines += [f"l{labels} requires l{label}" for label in before]
                begun.append(labels)
                labels += 1
            before = begun or before
        lines.append("}")
    return _kept("\n".join(lines) + "\n", ".goal")


def _operation(operation: Any, rank: int) -> str:
    kind, *numbers = operation if isinstance(operation, tuple) and operation else (None,)
    if kind not in _OPERATIONS or len(numbers) not in ((1,) if kind == "calc" else (2, 3)):
        raise config_error(f"rank {rank}: {operation!r} is no operation",
                           'give ("calc", ns), ("send", bytes, to) or ("recv", bytes, from)', "job")
    return _OPERATIONS[kind].format(*(int(n) for n in [*numbers, 0, 0][:3]))
