"""Drawings with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._checks import axes, items, nearest, number, shown as _shown, text
from ._errors import config_error
from ._results import Result, Sweep


def _axes(ax: Any) -> Any:
    import matplotlib.pyplot as plt

    return axes(ax) if ax is not None else plt.subplots()[1]


def _style(style: dict[str, Any]) -> dict[str, Any]:
    """What matplotlib knows by two names, by the longer one: lw is linewidth."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(style, Line2D)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_seed(axis: str) -> bool:
    """Seeds are repetitions of one point, not places along an axis."""
    return axis.split(".")[-1] == "seed"


def _default_axis(sweep: Sweep) -> str:
    """The load, or else the last axis of numbers, or of words."""
    names = [name for name in reversed(sweep.axis_names) if not _is_seed(name)]
    if not names:
        seeds = sweep.axis_names[-1] if sweep.axis_names else "seed"
        raise config_error("the sweep has no axis to draw over", f'sweep a parameter beside the seed, or give x="{seeds}"')
    numbers = [name for name in names if _has_numbers(sweep, name)]
    return next((name for name in numbers if name.split(".")[-1] == "load"), [*numbers, *names][0])


def _has_numbers(sweep: Sweep, axis: str) -> bool:
    return all(_number(sweep.axes(i)[axis]) is not None for i in range(len(sweep)))


def _name_of(text: str) -> str:
    return text.strip('"')


def curves(sweep: Sweep, x: str) -> dict[str, list[tuple[float, list[Result]]]]:
    """The points of each curve, ascending, each with its results, one per seed; a curve is named by what differs. Words
    lie at 0, 1, 2 in their order."""
    others = [name for name in sweep.axis_names if name != x and not _is_seed(name)]
    names = list(dict.fromkeys(sweep.axes(i)[x] for i in range(len(sweep))))
    numbers = _has_numbers(sweep, x)
    found: dict[str, dict[float, list[Result]]] = {}
    for i, result in enumerate(sweep):
        axes = sweep.axes(i)
        name = ", ".join(
            _name_of(axes[o]) if _number(axes[o]) is None else f"{o.split('.')[-1]} {axes[o]}" for o in others
        )
        place = float(axes[x]) if numbers else float(names.index(axes[x]))
        found.setdefault(name, {}).setdefault(place, []).append(result)
    return {name: sorted(points.items()) for name, points in found.items()}


def _unsettled(results: list[Result]) -> list[Result]:
    return [r for r in results if r.verdict in ("saturated", "deadlocked")]


def _pooled(results: list[Result], metric: str) -> tuple[float, float] | None:
    """The mean over the seeds, with the interval that their means give. None where a seed does not report the metric: the
    others are no sample of all."""
    if len(results) == 1:
        return (results[0][metric].mean, results[0][metric].half_width or 0.0) if metric in results[0] else None
    pooled = _core.pool_seeds([r._core for r in results], metric)
    return pooled and (pooled[0], pooled[1] or 0.0)


def _require_reported(points: Sweep, metric: str) -> None:
    """Refuses a metric that no point reports, if it is none that saturated points only lack."""
    if not (_unsettled(list(points)) and _core.is_metric(text(metric, "metric"))):
        points.table(metric)


def _printed(place: int) -> dict[str, Any]:
    """How papers that are printed in black tell curves apart: by their markers, filled and hollow, and their dashes."""
    return {"color": "black", "marker": "os^Dv*"[place % 6], "linestyle": ("-", "--", "-.", ":")[place // 6 % 4],
            "markersize": 5, "markerfacecolor": "white" if place % 2 else "black"}


_ROW = 9  # points from one row of marks at the upper edge to the next


def _mark(ax: Any, at: float, mean: float | None, results: list[Result], colour: Any, row: int) -> None:
    """Tells that these results are none of a steady state. A point without the metric lies at the upper edge, whatever the
    scale: it is no datum. There every curve has a row of its own, from the top."""
    if not results:
        return
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    saturated = results[0].verdict == "saturated"
    style = {"marker": "^" if saturated else "x", "color": colour, "linestyle": "none", "markersize": 8}
    if mean is None:
        height = ax.transAxes + ScaledTranslation(0, -row * _ROW / 72, ax.figure.dpi_scale_trans)
        ax.plot([at], [1.0], clip_on=False, transform=blended_transform_factory(ax.transData, height), gid=f"beyond {row}",
                markerfacecolor="none", zorder=1.5, **style)  # below what was measured
    else:
        ax.plot([at], [mean], gid="saturated" if saturated else "deadlocked", markerfacecolor=ax.get_facecolor(), zorder=4,
                **style)  # hollow, also where the marker of the point lies


def _next_row(ax: Any) -> int:
    """The first row at the upper edge in which no curve of these axes has marks, those of an earlier drawing included."""
    gids = [str(line.get_gid()) for line in ax.lines]
    return max((int(gid.split()[1]) + 1 for gid in gids if gid.startswith("beyond ")), default=0)


def sweep(points: Sweep, metric: str, x: str | None, ax: Any, printed: bool, **style: Any) -> Any:
    _require_reported(points, metric)
    style = _style(style)
    title = style.pop("label", None)
    x = points._axis(text(x, "x")) if x is not None else _default_axis(points)
    ax = _axes(ax)
    unit = next((r[metric].unit for r in points if metric in r), "")
    for place, (name, line) in enumerate(curves(points, x).items()):
        shown = [(at, pooled) for at, results in line if (pooled := _pooled(results, metric)) is not None]
        words = {"linestyle": "none"} if not _has_numbers(points, x) else {}
        bars = ax.errorbar(
            [at for at, _ in shown],
            [mean for _, (mean, _) in shown],
            label=", ".join(str(part) for part in (title, name) if part) or None,
            **{"yerr": [half for _, (_, half) in shown], "marker": "o", "markersize": 3, "capsize": 2, "linewidth": 1, **(_printed(place) if printed else {}),
               **words, **style},
        )
        means = {at: mean for at, (mean, _) in shown}
        row = _next_row(ax)
        for at, results in line:
            _mark(ax, at, means.get(at), _unsettled(results) or ([] if at in means else results), bars[0].get_color(), row)
    if not _has_numbers(points, x):
        names = list(dict.fromkeys(points.axes(i)[x] for i in range(len(points))))
        ax.set_xticks(range(len(names)), [_name_of(name) for name in names])
    ax.set_xlabel(x)
    ax.set_ylabel(f"{metric} ({unit})" if unit else metric)
    if len(ax.get_legend_handles_labels()[1]) > 0:
        ax.legend(frameon=False)
    return ax


def result(one: Result, what: Any, ax: Any, **style: Any) -> Any:
    drawn = what if isinstance(what, (_core.Series, _core.Histogram)) else _recorded(one, what)
    ax = _axes(ax)
    if isinstance(drawn, _core.Series):
        import numpy

        times = drawn.start + drawn.interval * numpy.arange(len(drawn.values))
        ax.plot(times, drawn.values, **{"linewidth": 1, **_style(style)})
        ax.set_xlabel("time (cycles)")
        ax.set_ylabel(f"{drawn.name} ({drawn.unit})" if drawn.unit else drawn.name)
    else:
        width = (drawn.high - drawn.low).astype(float) + 1.0
        ax.bar(drawn.low.astype(float), drawn.count / width, **{"width": width, "align": "edge", **style})
        ax.set_xlabel(f"{drawn.name} ({drawn.unit})")
        ax.set_ylabel("packets per cycle of latency")
    return ax


def _recorded(one: Result, what: Any) -> Any:
    """The series of that name, or the histogram where there is none."""
    series = one.series()
    histograms = one.histogram(None)
    if what is None:
        what = next(iter(series), next(iter(histograms), None))
    if not isinstance(what, str) or (what not in series and what not in histograms):
        raise config_error(f"the run recorded no series and no histogram {_shown(what)}",
                           nearest(what, dict.fromkeys([*series, *histograms]),
                                   "record series with run={'window': CYCLES}"))
    return series[what] if what in series else histograms[what]


def _lanes(network: Any, places: "Mapping[int, tuple[float, float]]") -> dict[int, float]:
    """How far to the right of the way between its switches each channel is drawn, by its number."""
    ways: dict[tuple[int, int], list[int]] = {}
    for channel in network.channels:
        a, b = channel["from"].get("switch"), channel["to"].get("switch")
        if a is not None and b is not None:
            ways.setdefault((a, b), []).append(channel["id"])
    lengths = [math.dist(places[a], places[b]) for a, b in ways if a != b]
    apart = 0.08 * min(lengths, default=1.0)
    return {number: (lane + 0.5) * apart if (b, a) in ways or len(numbers) > 1 else 0.0
            for (a, b), numbers in ways.items() for lane, number in enumerate(numbers)}


def topology(network: Any, ax: Any, load: Any) -> Any:
    if isinstance(load, Mapping) and "utilization" in load:
        load = load["utilization"]
    if load is not None:
        load = [number(each, "load") for each in items(load, "load", "list of numbers")]
    if load is not None and len(load) != len(network.channels):
        raise config_error(f"{len(load)} loads are given for {len(network.channels)} channels",
                           "give one per channel, in the order of their numbers", "load")
    ax = _axes(ax)
    places = network.positions()
    seen = set()
    lanes = _lanes(network, places)
    greatest = max(load, default=0.0) if load is not None else 0.0
    import matplotlib

    colours = matplotlib.colormaps["viridis_r"]
    for channel in network.channels:
        a, b = channel["from"].get("switch"), channel["to"].get("switch")
        if a is None or b is None or (load is None and (b, a) in seen):
            continue
        seen.add((a, b))
        (x1, y1), (x2, y2) = places[a], places[b]
        if load is not None:  # the directions of a link side by side, each to the right of its way
            right = lanes[channel["id"]] / (math.hypot(x2 - x1, y2 - y1) or 1.0)
            dx, dy = right * (y2 - y1), right * (x1 - x2)
            x1, y1, x2, y2 = x1 + dx, y1 + dy, x2 + dx, y2 + dy
        colour = "0.6" if load is None else colours(load[channel["id"]] / (greatest or 1.0))
        ax.plot([x1, x2], [y1, y2], color=colour, linewidth=1, zorder=1,
                linestyle="--" if channel["failed"] else "-")
    xs, ys = zip(*places.values())
    ax.scatter(xs, ys, s=30, zorder=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.axis("off")
    return ax
