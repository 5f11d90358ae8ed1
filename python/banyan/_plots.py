"""Drawings with matplotlib."""

from __future__ import annotations

from typing import Any

from ._errors import config_error
from ._results import Result, Sweep


def _axes(ax: Any) -> Any:
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.subplots()[1]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _default_axis(sweep: Sweep) -> str:
    for name in reversed(sweep.axis_names):
        if all(_number(sweep.axes(i)[name]) is not None for i in range(len(sweep))):
            return name
    raise config_error("no axis of the sweep has numbers", "sweep a parameter that is one, or use frame()")


def curves(sweep: Sweep, metric: str, x: str) -> dict[str, list[tuple[float, Result]]]:
    """The points of each curve, ascending; a curve is named by what differs."""
    others = [name for name in sweep.axis_names if name != x]
    found: dict[str, list[tuple[float, Result]]] = {}
    for i, result in enumerate(sweep):
        axes = sweep.axes(i)
        name = ", ".join(
            axes[o].strip('"') if _number(axes[o]) is None else f"{o.split('.')[-1]} {axes[o]}" for o in others
        )
        place = _number(axes[x])
        if place is None:
            raise config_error(f"{x} has the value {axes[x]}, which is no number", "draw over an axis of numbers")
        found.setdefault(name, []).append((place, result))
    return {name: sorted(points, key=lambda p: p[0]) for name, points in found.items()}


def _printed(place: int) -> dict[str, Any]:
    """How papers that are printed in black tell curves apart: by their markers, filled and hollow, and their dashes."""
    return {"color": "black", "marker": "os^Dv*"[place % 6], "linestyle": ("-", "--", "-.", ":")[place // 6 % 4],
            "markersize": 5, "markerfacecolor": "white" if place % 2 else "black"}


def sweep(points: Sweep, metric: str, x: str | None, ax: Any, printed: bool, **style: Any) -> Any:
    x = points._axis(x) if x else _default_axis(points)
    ax = _axes(ax)
    unit = ""
    beyond = []
    for place, (name, line) in enumerate(curves(points, metric, x).items()):
        shown = [(place, r[metric]) for place, r in line if metric in r]
        unit = next((m.unit for _, m in shown), unit)
        bars = ax.errorbar(
            [at for at, _ in shown],
            [m.mean for _, m in shown],
            yerr=[m.half_width or 0.0 for _, m in shown],
            label=name or None,
            **{"marker": "o", "markersize": 3, "capsize": 2, "linewidth": 1, **(_printed(place) if printed else {}),
               **style},
        )
        colour = bars[0].get_color()
        beyond += [(at, colour, r.verdict) for at, r in line if metric not in r]
    # A point without the metric lies at the upper edge, whatever the scale: it is no datum.
    for place, colour, verdict in beyond:
        ax.plot([place], [1.0], marker="^" if verdict == "saturated" else "x", color=colour, clip_on=False,
                transform=ax.get_xaxis_transform(), linestyle="none", gid="beyond")
    ax.set_xlabel(x)
    ax.set_ylabel(f"{metric} ({unit})" if unit else metric)
    if len(points.axis_names) > 1:
        ax.legend(frameon=False)
    return ax


def result(one: Result, what: str | None, ax: Any, **style: Any) -> Any:
    ax = _axes(ax)
    series = one.series()
    histograms = one.histogram(None)
    if what is None:
        what = next(iter(series), next(iter(histograms), None))
    if what in series:
        import numpy

        line = series[what]
        times = line.start + line.interval * numpy.arange(len(line.values))
        ax.plot(times, line.values, **{"linewidth": 1, **style})
        ax.set_xlabel("time (cycles)")
        ax.set_ylabel(f"{what} ({line.unit})" if line.unit else what)
    elif what in histograms:
        bars = histograms[what]
        width = (bars.high - bars.low).astype(float) + 1.0
        ax.bar(bars.low.astype(float), bars.count / width, width=width, align="edge", **style)
        ax.set_xlabel(f"{what} ({bars.unit})")
        ax.set_ylabel("packets per cycle of latency")
    else:
        raise config_error(f'the run recorded no series and no histogram "{what}"',
                           "it has: " + ", ".join([*series, *histograms]) if series or histograms
                           else "record series with run={'window': CYCLES}")
    return ax


def topology(network: Any, ax: Any, load: Any) -> Any:
    if load is not None and len(load) != len(network.channels):
        raise config_error(f"{len(load)} loads are given for {len(network.channels)} channels",
                           "give one per channel, in the order of their numbers", "load")
    ax = _axes(ax)
    places = network.positions()
    seen = set()
    greatest = max(load) if load is not None and len(load) else 1.0
    import matplotlib

    colours = matplotlib.colormaps["viridis_r"]
    for channel in network.channels:
        a, b = channel["from"].get("switch"), channel["to"].get("switch")
        if a is None or b is None or (load is None and (b, a) in seen):
            continue
        seen.add((a, b))
        (x1, y1), (x2, y2) = places[a], places[b]
        colour = "0.6" if load is None else colours(load[channel["id"]] / greatest)
        ax.plot([x1, x2], [y1, y2], color=colour, linewidth=1, zorder=1,
                linestyle="--" if channel["failed"] else "-")
    xs, ys = zip(*places.values())
    ax.scatter(xs, ys, s=30, zorder=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.axis("off")
    return ax
