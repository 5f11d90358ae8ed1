"""The network of an experiment, as data and as a drawing."""

from __future__ import annotations

import json
import math
from typing import Any


class Topology:
    """Switches, terminals and channels by their numbers; a notebook draws it."""

    def __init__(self, text: str, dot: str, svg: str) -> None:
        self._data = json.loads(text)
        self._dot = dot
        self._svg = svg

    @property
    def switches(self) -> list[dict[str, Any]]:
        return self._data["switches"]

    @property
    def terminals(self) -> list[dict[str, Any]]:
        return self._data["terminals"]

    @property
    def channels(self) -> list[dict[str, Any]]:
        return self._data["channels"]

    def to_dict(self) -> dict[str, Any]:
        return self._data

    def to_dot(self) -> str:
        """For Graphviz."""
        return self._dot

    def to_networkx(self) -> Any:
        """A directed multigraph of networkx: nodes ("switch", i) and ("terminal", i), an edge per channel."""
        import networkx

        network = networkx.MultiDiGraph()
        for switch in self.switches:
            network.add_node(("switch", switch["id"]), **switch)
        for terminal in self.terminals:
            network.add_node(("terminal", terminal["id"]), **terminal)
        for channel in self.channels:
            network.add_edge(_node(channel["from"]), _node(channel["to"]), **{
                k: v for k, v in channel.items() if k not in ("from", "to")})
        return network

    def positions(self) -> dict[int, tuple[float, float]]:
        """Where switches are drawn: by their coordinates in two dimensions, by level, or on a circle."""
        switches = self.switches
        spots = [tuple(s["coordinates"]) for s in switches]
        if all(len(p) == 2 for p in spots) and len(set(spots)) == len(spots):
            return {s["id"]: (float(p[0]), float(p[1])) for s, p in zip(switches, spots)}
        levels = sorted({s["level"] for s in switches})
        if len(levels) > 1:
            places = {}
            for level in levels:
                row = [s for s in switches if s["level"] == level]
                for i, switch in enumerate(row):
                    places[switch["id"]] = (float(level), (i + 0.5) / len(row) * max(4, len(switches) / len(levels)))
            return places
        n = len(switches)
        radius = max(1.0, n / 6)
        return {s["id"]: (radius * math.cos(2 * math.pi * i / n), radius * math.sin(2 * math.pi * i / n))
                for i, s in enumerate(switches)}

    def plot(self, ax: Any = None, load: Any = None) -> Any:
        """Draws the switches and their links with matplotlib; `load` colours channels: a number for each, or what
        result.channels() gives, of which it takes the utilization. With it both directions of a link are drawn, side by
        side."""
        from . import _plots

        return _plots.topology(self, ax, load)

    def __repr__(self) -> str:
        name = self._data["topology"].get("name", "network")
        return f"<banyan.Topology {name}: {len(self.switches)} switches, {len(self.terminals)} terminals>"

    def to_svg(self) -> str:
        """A drawing, as `banyan export-topology --svg` writes it."""
        return self._svg

    _repr_svg_ = to_svg


def _node(end: dict[str, Any]) -> tuple[str, int]:
    return ("terminal", end["terminal"]) if "terminal" in end else ("switch", end["switch"])

