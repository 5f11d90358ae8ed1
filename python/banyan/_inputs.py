"""Topologies, routing tables and messages that come from Python's own data."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ._components import FUNCTIONS, TABLES, Component, Job
from ._checks import MOST, MOST_CYCLES, items, shown, whole, wholes
from ._errors import BanyanWarning, ConfigError, config_error


def _words(attributes: Mapping[str, Any], whose: str) -> str:
    text = ""
    for key in ("latency", "cycles_per_flit"):
        if attributes.get(key) is not None:
            text += f" {key}={whole(attributes[key], f'{key} of {whose}', 1)}"
    return text


def graph(network: Any, terminals: "int | Mapping[Any, int]" = 1) -> Component:
    """The topology of a graph of networkx: a switch per node, a link per edge.

    ``terminals``: of each switch, or of each node by a mapping; a node attribute "terminals" goes before it. Edges may have
    the attributes "latency" and "cycles_per_flit", nodes "latency" for their terminals. Edges of a directed graph are links
    in one direction. Switches and terminals are numbered in the order of the nodes.
    """
    if not hasattr(network, "nodes") or not hasattr(network, "edges"):
        raise config_error(f"{shown(network)} is no graph", "give a graph of networkx", "topology")
    drawn = next((node for node in network.nodes if isinstance(node, tuple) and len(node) == 2 and node[0] == "terminal"), None)
    if drawn is not None:
        raise config_error(f"the node {drawn!r} is a terminal, as to_networkx() names them, and nodes are switches here",
                           "take these nodes out, and say how many terminals each switch has", "topology")
    if len(network.nodes) == 0:
        raise config_error("the graph has no nodes", "give a graph of networkx with a node for every switch", "topology")
    if isinstance(terminals, Mapping):
        strange = next((node for node in terminals if node not in network.nodes), None)
        if strange is not None:
            raise config_error(f"the graph has no node {strange!r}", "give terminals to nodes of the graph", "terminals")
    names = {node: f"n{i}" for i, node in enumerate(network.nodes)}
    lines = [f"switch {name}" for name in names.values()]
    number = 0
    for node, name in names.items():
        data = network.nodes[node]
        of_node = terminals.get(node, 0) if isinstance(terminals, Mapping) else terminals
        for _ in range(whole(data.get("terminals", of_node), f"terminals of node {node!r}", 0, MOST - number)):
            lines.append(f"terminal {number} {name}{_words({'latency': data.get('latency')}, f'node {node!r}')}")
            number += 1
    one_way = " one_way" if network.is_directed() else ""
    lines += [f"link {names[a]} {names[b]}{_words(data, f'edge {a!r}, {b!r}')}{one_way}" for a, b, data in network.edges(data=True)]
    return Component("topology", "graph_file", {"lines": lines})


def table_of(entries: Any) -> Component:
    """The routing of a table: {(switch, terminal): port} or {(switch, terminal): [ports]}, or an array [switch, terminal]
    of ports in which a negative one means none. A port may be a tuple (port, vc_begin, vc_end).
    """
    if isinstance(entries, Mapping):
        items: Iterable[tuple[Any, Any]] = entries.items()
    else:
        items = _items_of_rows(entries)
    lines = []
    for place, ports in items:
        if not isinstance(place, tuple) or len(place) != 2:
            raise config_error(f"{shown(place)} is no entry of a table", "give {(switch, terminal): port}", "routing")
        for port in ports if isinstance(ports, list) else [ports]:
            numbers = (*place, *(port if isinstance(port, tuple) else (port,)))
            if len(numbers) not in (3, 5):
                raise config_error(f"{shown(port)} is no port", "give a port, or (port, vc_begin, vc_end)",
                                   f"routing of {shown(place)}")
            lines.append(" ".join(str(whole(each, f"routing of {shown(place)}")) for each in numbers))
    return Component("routing", "table", {"lines": lines})


def _items_of_rows(entries: Any) -> "Iterable[tuple[tuple[int, int], Any]]":
    rows = entries.tolist() if hasattr(entries, "tolist") else entries
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in rows):
        raise config_error(f"{shown(entries)} is no table", "give {(switch, terminal): port} or a row per switch", "routing")
    for s, row in enumerate(rows):
        for t, port in enumerate(row):
            if isinstance(port, (list, tuple)) or whole(port, f"routing of ({s}, {t})", -MOST) >= 0:
                yield (s, t), port


_COLUMNS = ("cycle", "source", "destination", "flits")


def messages(rows: Any, **parameters: Any) -> Component:
    """The traffic of these messages: a DataFrame with the columns cycle, source, destination and flits, or an array or a
    list of such rows. A run ends when all have arrived. Keywords are parameters of the traffic `trace`.

    They are kept as a trace in the folder of temporary files, under a name that tells their content.
    """
    # A DataFrame, a dict of columns, or an array whose columns have names.
    named = getattr(rows, "columns", None)
    if named is None:
        named = rows.keys() if isinstance(rows, Mapping) else getattr(getattr(rows, "dtype", None), "names", None)
    if named is not None:
        missing = [column for column in _COLUMNS if column not in named]
        if missing:
            raise config_error(f"the messages have no column {missing[0]}", "give cycle, source, destination and flits")
        more = [column for column in named if column not in _COLUMNS]
        if more:
            warnings.warn(f"the messages have a column {more[0]}, which nothing reads", BanyanWarning, stacklevel=2)
        given: Any = [rows[column] for column in _COLUMNS]
    else:
        given = _columns_of(rows)
    columns = []
    for name, values in zip(_COLUMNS, given):
        columns.append(wholes(values, lambda i: f"{name} of message {i}", least=1 if name == "flits" else 0,
                              most=MOST_CYCLES if name == "cycle" else MOST, of=name))
    lengths = {name: len(column) for name, column in zip(_COLUMNS, columns)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise config_error(f"the columns of the messages have {told}", "give every message a value of each")
    lines = ["# banyan trace 1", *(" ".join(map(str, (i, *row))) for i, row in enumerate(zip(*columns)))]
    return FUNCTIONS["trace"](**{"file": _kept("\n".join(lines) + "\n", ".trace"), **parameters})


def _columns_of(rows: Any) -> list[list[Any]]:
    try:
        listed = items(rows, "rows", "list of messages")
    except ConfigError as told:
        raise config_error(told.cause, "give rows of cycle, source, destination and flits") from None
    for i, row in enumerate(listed):
        # Not what has a length but no order, and no text or bytes of four signs.
        if not isinstance(row, (list, tuple)) and getattr(row, "ndim", 0) != 1 or len(row) != len(_COLUMNS):
            raise config_error(f"message {i} is {shown(row)}, which is not {len(_COLUMNS)} values",
                               "give cycle, source, destination and flits")
    return [[row[column] for row in listed] for column in range(len(_COLUMNS))]


class Kept(str):
    """The path of a file of values that Python gave. It takes the content along where it is pickled."""

    def __reduce__(self):
        try:
            with open(self, encoding="utf-8") as file:
                return _kept, (file.read(), os.path.splitext(self)[1])
        except OSError as error:
            raise config_error(f"{self} cannot be read: {error.strerror}", "make the messages or the schedule again") from None


def _folder() -> str:
    return os.path.join(tempfile.gettempdir(), f"banyan-{os.getuid()}")


def kept_in(texts: Iterable[str]) -> dict[str, Kept]:
    """The files of values that these texts name, each by the path that stands there."""
    name = re.compile(re.escape(_folder()) + r"/[0-9a-f]{32}\.[a-z]+")
    return {path: Kept(path) for text in texts for path in name.findall(text)}


def _kept(text: str, end: str) -> Kept:
    """The path of a file of that content in the folder of temporary files; its name tells the content."""
    folder = _folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, hashlib.sha256(text.encode()).hexdigest()[:32] + end)
    if not os.path.exists(path):
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    return Kept(path)


def job(*unnamed: Any, **parameters: Any) -> Component:
    return Job("job", "job", TABLES["job"](*unnamed, **parameters).parameters)


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
    programs = [items(rank, f"rank {number}", "list of operations") for number, rank in
                enumerate(items(ranks, "ranks", "list of ranks"))]
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
    if not isinstance(kind, str) or kind not in _OPERATIONS or len(numbers) not in ((1,) if kind == "calc" else (2, 3)):
        raise config_error(f"rank {rank}: {shown(operation)} is no operation",
                           'give ("calc", ns), ("send", bytes, to) or ("recv", bytes, from)', "job")
    return _OPERATIONS[kind].format(*(whole(n, f"{shown(operation)} of rank {rank}", 0, MOST_CYCLES) for n in [*numbers, 0, 0][:3]))
