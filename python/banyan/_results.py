"""Results of runs and of sweeps."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _core, _toml
from ._core import Metric as Metric
from ._checks import nearest, path as _path, shown, text as _text, whole, whole_or_none, words
from ._components import Component
from ._errors import ConfigError, UnknownMetric, UnknownPoint, config_error

if TYPE_CHECKING:
    import pandas


def _frame(csv: str, texts: list[str]) -> "pandas.DataFrame":
    import pandas

    # Texts stay texts: a hash of digits alone, and the name of a component that looks like a number.
    return pandas.read_csv(
        io.StringIO(csv), float_precision="round_trip", dtype={name: str for name in ["state_hash", "verdict", *texts]}
    )


class Page:
    """A report page, which a notebook shows inline."""

    def __init__(self, text: str, height: int = 600) -> None:
        self.text = text
        self.height = whole(height, "height")

    def save(self, path: str) -> None:
        """Writes the page as one HTML file."""
        name = _path(path, "path")
        try:
            with open(name, "w", encoding="utf-8") as file:
                file.write(self.text)
        except OSError as error:
            raise config_error(f"{shown(name)} cannot be written: {error.strerror}", "give the path of a file that may be written",
                               "path") from None

    def __repr__(self) -> str:
        return f"<banyan.Page of {len(self.text) // 1000} kB, which a notebook shows and save() writes>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text, quote=True)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


class Result(Mapping):
    """What a run gives back: a mapping from names of metrics to metrics.

    >>> r["packet_latency"].mean, r["packet_latency"].half_width, r["packet_latency"].unit
    """

    def __init__(self, core: _core.Result, sweep: "_core.Sweep | None" = None) -> None:
        self._core = core
        self._sweep = sweep
        self._columns: dict[str, dict[str, Any]] = {}

    # --- metrics ---------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Metric:
        if not isinstance(name, str):
            raise config_error(f"{shown(name)} is no name of a metric", nearest(name, self), kind=UnknownMetric)
        try:
            return self._core.at(_text(name, "metric"))
        except ConfigError as error:
            raise UnknownMetric(*error.__reduce__()[1]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.metric_names)

    def __len__(self) -> int:
        return len(self._core.metric_names)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._core.metric_names

    def __eq__(self, other: object) -> bool:
        """True when the same experiment gave the same bits."""
        if not isinstance(other, Result):
            return NotImplemented
        return (self.state_hash, self._core.configuration) == (other.state_hash, other._core.configuration)

    def __hash__(self) -> int:
        return hash(self.state_hash)

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def verdict(self) -> str:
        """"steady", "saturated", "deadlocked" or "finished"."""
        return self._core.verdict

    @property
    def certain(self) -> bool:
        """False: the verdict is the likelier one, and `explanation` says which rules were not met."""
        return self._core.certain

    @property
    def explanation(self) -> str:
        return self._core.explanation

    @property
    def warning(self) -> str:
        return self._core.warning

    @property
    def state_hash(self) -> str:
        """Of final statistics and internal state, 16 hexadecimal digits: equal for any number of threads."""
        return self._core.state_hash

    @property
    def seed(self) -> int:
        return self._core.seed

    @property
    def configuration(self) -> dict[str, Any]:
        """The resolved experiment: every parameter with its value."""
        return json.loads(self._core.configuration)

    @property
    def configuration_hash(self) -> str:
        return self._core.configuration_hash

    @property
    def cpu_seconds(self) -> float:
        return self._core.cpu_seconds

    @property
    def peak_bytes(self) -> int:
        return self._core.peak_bytes

    # --- as data ---------------------------------------------------------------------------------------------------

    def frame(self) -> "pandas.DataFrame":
        """One row, with the columns of `banyan export --csv`."""
        return _frame(self._one().csv(), [])

    def metrics_frame(self) -> "pandas.DataFrame":
        """One row per metric: mean, half_width, confidence, count, unit."""
        import pandas

        return pandas.read_csv(
            io.StringIO(self._core.csv()), float_precision="round_trip", keep_default_na=False, na_values={
                column: [""] for column in ("mean", "half_width", "confidence")
            }, index_col="metric"
        )

    def to_dict(self) -> dict[str, Any]:
        """What `banyan run --json` prints, as a dict."""
        return json.loads(self._core.json())

    def to_json(self) -> str:
        return self._core.json()

    def to_csv(self) -> str:
        """What `banyan run --csv` prints."""
        return self._core.csv()

    def series(self, name: str | None = None) -> Any:
        """A time series (`name`, `unit`, `start`, `interval`, `values`); all of them by name without `name`."""
        return self._recorded("series", self._core.series_names, self._core.series, name,
                              "record them with run={'window': CYCLES}, or run={'series': 'all'} for sessions")

    def histogram(self, name: str | None = "packet_latency") -> Any:
        """A histogram (`low`, `high`, `count` as arrays); all of them by name with None."""
        return self._recorded("histogram", self._core.histogram_names, self._core.histogram, name,
                              "runs with a steady state have the histogram of packet_latency")

    def table(self, name: str | None = None) -> Any:
        """A table that the run wrote down, as a dict of columns; all of them by name without `name`. A column is an array
        of NumPy, one element per row: whole numbers, numbers, or texts. It is made once and belongs to the result: whoever
        asks again is given the same, and nobody may write into it."""
        return self._recorded("table", self._core.table_names, self._table, name,
                              "record it with run={'tables': 'all'}")

    def channels(self) -> dict[str, Any]:
        """What every channel carried, as a dict of columns (run={'tables': 'channels'}), one element per channel in the
        order of their numbers; see table()."""
        return self.table("channels")

    def _table(self, name: str) -> dict[str, Any]:
        columns = self._columns.get(name) or self._core.table(name) or {}
        self._columns[name] = columns
        return dict(columns)

    def _recorded(self, what: str, names: list[str], get: Any, name: str | None, remedy: str) -> Any:
        if name is None:
            return {each: get(each) for each in names}
        if not isinstance(name, str) or name not in names:
            raise config_error(f"the run recorded no {what} {shown(name)}", nearest(name, names, remedy))
        return get(name)

    # --- shown -----------------------------------------------------------------------------------------------------

    def plot(self, what: "str | _core.Series | _core.Histogram | None" = None, ax: Any = None, **style: Any) -> Any:
        """Draws a time series, or the histogram of latencies where there is none; r.plot(r.histogram()) draws that in
        any case. Other keywords are matplotlib's. Returns the axes of matplotlib."""
        from . import _plots

        return _plots.result(self, what, ax, **style)

    def report(self, height: int = 600) -> Page:
        """The report page, inline in a notebook."""
        return Page(self._one().html(), height)

    def _one(self) -> _core.Sweep:
        if self._sweep is None:
            self._sweep = _core.Sweep(_core.points_of(self._core), [self._core])
        return self._sweep

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        shown = [str(self[name]) for name in ("packet_latency", "completion_time", "accepted_load") if name in self][:1]
        doubt = "" if self.certain else " (uncertain)"
        return f"<banyan.Result {self.verdict}{doubt}{''.join(', ' + s for s in shown)}, state {self.state_hash}>"

    def _repr_html_(self) -> str:
        rows = []
        for name in self:
            metric = self[name]
            half = "" if metric.half_width is None else f"± {metric.half_width:.3g}"
            count = "" if metric.counter else f"{metric.count}"
            rows.append(
                f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{metric.mean:.6g}</td><td>{half}</td>"
                f"<td style='text-align:left'>{html.escape(metric.unit)}</td><td>{count}</td></tr>"
            )
        doubt = "" if self.certain else " (uncertain)"
        return (
            f"<p><b>{html.escape(self.configuration.get('name', ''))}</b> {self.verdict}{doubt}, seed {self.seed}, "
            f"state <code>{self.state_hash}</code></p><p>{html.escape(self.explanation)}</p>"
            "<table><thead><tr><th style='text-align:left'>metric</th><th>mean</th><th></th>"
            "<th style='text-align:left'>unit</th><th>samples</th></tr></thead><tbody>"
            + "".join(rows)
            + "</tbody></table>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"_core": self._core, "_sweep": None, "_columns": {}}

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """A result that `banyan run --json` printed."""
        return cls(_core.result_from_json(_text(text, "text")))


class Sweep:
    """The finished points of a sweep, in the order of its axes."""

    def __init__(self, core: _core.Sweep) -> None:
        self._core = core
        self._results: dict[int, Result] = {}

    def __reduce__(self):
        return Sweep, (self._core,)

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, index: int) -> Result:
        place = self._place(index)
        if place not in self._results:
            self._results[place] = Result(self._core[place])
        return self._results[place]

    def _place(self, index: int) -> int:
        place = whole_or_none(index)
        if place is None:
            raise config_error(f"{shown(index)} is no number of a point",
                               "give a whole number, or choose with at(axis=value)", kind=UnknownPoint)
        if not -len(self) <= place < len(self):
            raise config_error(f"there is no point {place}", f"the sweep has {len(self)}, counted from 0", kind=UnknownPoint)
        return place % len(self)

    def __iter__(self) -> Iterator[Result]:
        return (self[i] for i in range(len(self)))

    @property
    def axis_names(self) -> list[str]:
        return self._core.axis_names

    def axes(self, index: int) -> dict[str, str]:
        """The values of the axes at a point, as texts."""
        return dict(self._core.axes(self._place(index)))

    def at(self, **axes: Any) -> Result:
        """The one point at these values of axes: t.at(load=0.2, routing="dimension_order")."""
        names = {key: self._axis(key) for key in axes}
        found = [i for i in range(len(self)) if all(_same(self.axes(i)[names[k]], v) for k, v in axes.items())]
        if len(found) != 1:
            raise config_error(f"{len(found)} points have these values", "name a value of every axis: "
                               + ", ".join(self.axis_names))
        return self[found[0]]

    def _axis(self, key: str) -> str:
        """The axis of that name, or the one that ends in that word."""
        meant = [name for name in self.axis_names if name == key or name.endswith(f".{key}")]
        if len(meant) != 1:
            raise config_error(f"the sweep has no axis {shown(key)}", nearest(key, self.axis_names))
        return meant[0]

    def frame(self) -> "pandas.DataFrame":
        """One row per point, with the columns of `banyan export --csv`."""
        return _frame(self._core.csv(), [])

    def series_frame(self) -> "pandas.DataFrame":
        """The time series of all points: axes, series, unit, time, value."""
        text = self._core.series_csv()
        if not text:
            raise config_error("no point recorded a time series", "record them with run={'window': CYCLES}")
        return _frame(text, ["series", "unit"])

    def to_csv(self) -> str:
        """What `banyan sweep --csv` prints."""
        return self._core.csv()

    def to_json(self) -> str:
        return self._core.json()

    def to_dict(self) -> dict[str, Any]:
        return json.loads(self._core.json())

    def table(self, *metrics: str) -> str:
        """Axes, verdict and metrics as text."""
        return self._core.text(words(metrics, "metrics"))

    def plot(self, metric: str = "packet_latency", x: str | None = None, ax: Any = None, printed: bool = False,
             **style: Any) -> Any:
        """A curve per combination of the other axes over `x` (the last axis of numbers, or else of words; never the seed,
        over which points are pooled), with intervals as error bars. Saturated points have a hollow triangle, at the upper
        edge where they do not report the metric, deadlocked ones a cross. `printed`: in black, as papers are, with markers and dashes for each curve; other
        keywords are matplotlib's. Returns the axes of matplotlib."""
        from . import _plots

        return _plots.sweep(self, metric, x, ax, printed, **style)

    def report(self, height: int = 800) -> Page:
        """The report page, inline in a notebook."""
        return Page(self._core.html(), height)

    def write_report(self, folder: str) -> str:
        """Writes the page, its charts and its tables into a folder; returns the path of the page."""
        return self._core.write_page(_path(folder, "folder"))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<banyan.Sweep of {len(self)} points over {', '.join(self.axis_names) or 'nothing'}>"

    def _repr_html_(self) -> str:
        shown = self._shown_metrics()
        head = [*self.axis_names, "verdict", *shown]
        rows = []
        for i, result in enumerate(self):
            cells = [*self.axes(i).values(), result.verdict + ("" if result.certain else " (uncertain)")]
            cells += [str(result[name]) if name in result else "-" for name in shown]
            rows.append("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>")
        heads = "".join(f"<th>{html.escape(c)}</th>" for c in head)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _shown_metrics(self, most: int = 5) -> list[str]:
        names = list(dict.fromkeys(name for result in self for name in result if not result[name].counter))
        return sorted(names, key=lambda name: "." in name)[:most]  # those of all traffics before those of one


def _same(text: str | None, value: Any) -> bool:
    if text is None:
        return False
    try:
        return float(text) == float(value)
    except (TypeError, ValueError, OverflowError):
        name = value.name if isinstance(value, Component) and not value.parameters else value
        return _bare(text) == _bare(_toml.value(name))


def _bare(text: str) -> str:
    """A value as TOML without quotes and spaces, which the texts of axes lack."""
    return text.replace('"', "").replace(" ", "")
