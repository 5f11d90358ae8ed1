"""The network of an experiment, as data and as a drawing."""

from __future__ import annotations

import json
import math
from typing import Any


class Topology:
    """Switches, terminals and channels by their numbers; a notebook draws it."""

    def __init__(self, text: str, dot: str) -> None:
        self._data = json.loads(text)
        self._dot = dot

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
        """Draws the switches and their links with matplotlib; `load` colours channels by their number (result.channels())."""
        from . import _plots

        return _plots.topology(self, ax, load)

    def __repr__(self) -> str:
        name = self._data["topology"].get("name", "network")
        return f"<banyan.Topology {name}: {len(self.switches)} switches, {len(self.terminals)} terminals>"

    def _repr_svg_(self) -> str:
        """A small drawing; links run both ways unless drawn with one end."""
        places = self.positions()
        xs, ys = zip(*places.values())
        width, height = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
        scale = min(560 / width, 420 / height, 70)
        at = {s: ((x - min(xs)) * scale + 20, (y - min(ys)) * scale + 20) for s, (x, y) in places.items()}
        lines, seen = [], set()
        for channel in self.channels:
            a, b = channel["from"].get("switch"), channel["to"].get("switch")
            if a is None or b is None or (b, a) in seen or (a, b) in seen:
                continue
            seen.add((a, b))
            (x1, y1), (x2, y2) = at[a], at[b]
            dash = ' stroke-dasharray="4 3"' if channel["failed"] else ""
            lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#7a8899"{dash}/>')
        radius = max(2.0, min(8.0, scale / 5))
        for switch in self.switches:
            x, y = at[switch["id"]]
            title = _escape(str(switch["label"]))
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#2f6fa7"><title>{title}</title></circle>')
        w, h = width * scale + 40, height * scale + 40
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h:.0f}" '
                f'viewBox="0 0 {w:.0f} {h:.0f}">{"".join(lines)}</svg>')


def _node(end: dict[str, Any]) -> tuple[str, int]:
    return ("terminal", end["terminal"]) if "terminal" in end else ("switch", end["switch"])


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
