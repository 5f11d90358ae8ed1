"""What is asked of several runs."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._checks import expect, items, nearest, number, path, readable, shown, text as _text, whole, words
from ._errors import BanyanWarning, UnknownMetric, config_error
from ._experiment import Experiment, _display, _overrides
from ._results import Page, Result, Sweep, _frame


class Comparison:
    """B - A, and whether chance could have made the difference."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text = text
        self._data = data

    def __getitem__(self, metric: str) -> dict[str, Any]:
        """Difference, half width and relative difference of a metric."""
        if not isinstance(metric, str) or metric not in self._data["metrics"]:
            raise config_error(f"the comparison has no metric {shown(metric)}", nearest(metric, self), kind=UnknownMetric)
        return self._data["metrics"][metric]

    def __iter__(self):
        return iter(self._data["metrics"])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __len__(self) -> int:
        return len(self._data["metrics"])

    def to_dict(self) -> dict[str, Any]:
        return self._data

    def frame(self) -> Any:
        """One row per metric."""
        import pandas

        return pandas.DataFrame.from_dict(self._data["metrics"], orient="index")

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def compare(a: "Result | Sweep", b: "Result | Sweep", metrics: Iterable[str] = (),
            names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Two runs, or the same points of two sweeps, in pairs where they share their seed: `banyan compare`."""
    one, other = (side._one() if isinstance(side, Result) else expect(side, Sweep, "compare", "result of a run or a sweep")._core
                  for side in (a, b))
    named = words(names, "names")
    if len(named) != 2:
        raise config_error(f"{len(named)} names are given", "give one of each side", "names")
    text, data = _core.compare(one, other, named[0], named[1], words(metrics, "metrics"))
    return Comparison(text, json.loads(data))


class Saturation:
    """A bracket of the load at which a network saturates: `low` does not, `high` does. Flits per cycle and terminal that
    sends, of all traffics or of the load `key` alone, as `bound["load"]` is; `others` is the load of the other traffics."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text = text
        self._data = data
        self.low: float = data["low"]
        self.high: float = data["high"]
        self.key: str | None = data["key"]
        self.others: float = data["others"]
        self.bound: dict[str, Any] | None = data["bound"]

    def to_dict(self) -> dict[str, Any]:
        return self._data

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def saturation(experiment: Experiment, key: str = "", width: float = 0.01, threads: int = 1, *,
               progress: "Callable[[int, int], object] | bool | None" = None, **overrides: Any) -> Saturation:
    """Finds the load at which the network saturates, to a width: `banyan saturation`. `key`: the load of a traffic that is
    varied alone ("traffic.uniform.load"); by default every load, in proportion. ConfigError where it is no load."""
    expect(experiment, Experiment, "experiment", "banyan.Experiment")
    if not 0.0 < number(width, "width") < 1.0:
        raise config_error(f"{width} is not a number above 0 and below 1", "give width a number above 0 and below 1", "width")
    given = [*experiment._overrides, *_overrides(overrides)]
    text, data = _core.saturation(experiment._text, experiment._place(), given, _text(key, "key"), number(width, "width"),
                                  whole(threads, "threads"), _display(progress, "run"))
    return Saturation(text, json.loads(data))


def open_store(folder: "str | os.PathLike[str]") -> Sweep:
    """The finished points of a result store, the folder that `banyan sweep --out` was given: `banyan export`. Warns where
    points are missing; ConfigError where the folder holds no store, or none that is whole."""
    core, missing = _core.open_store(path(folder, "folder"))
    if missing:
        warnings.warn(missing, BanyanWarning, stacklevel=2)
    return Sweep(core)


class Study:
    """A paper's figures and claims, as they came out."""

    def __init__(self, name: str, table: str, data: dict[str, Any], page: str, csv: dict[str, str]) -> None:
        self.name = name
        self.text = table
        self._data = data
        self._page = page
        self._csv = csv

    @property
    def figures(self) -> list[str]:
        return list(self._csv)

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Each with `id`, `claim`, `measured`, `verdict` and `expected`; none of a study that measures files."""
        return list(self._data.get("claims", []))

    def frame(self, figure: str) -> Any:
        """The points of a figure."""
        if not isinstance(figure, str) or figure not in self._csv:
            raise config_error(f"the study has no figure {shown(figure)}", nearest(figure, self._csv))
        return _frame(self._csv[figure], [])

    def to_dict(self) -> dict[str, Any]:
        return self._data

    def report(self, height: int = 800) -> Page:
        """The study's page, inline in a notebook."""
        return Page(self._page, height)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        if not self._csv:
            return f"<p><b>{html.escape(self.name)}</b></p><pre>{html.escape(self.text)}</pre>"
        rows = "".join(
            f"<tr><td style='text-align:left'>{html.escape(c['claim'])}</td>"
            f"<td style='text-align:left'>{html.escape(c['measured'])}</td><td>{html.escape(c['verdict'])}</td></tr>"
            for c in self.claims
        )
        return (f"<p><b>{html.escape(self.name)}</b>: {len(self.figures)} figures</p><table><thead><tr><th>claim</th>"
                f"<th>measured</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table>")


def study(name: str, mode: str = "quick", figures: Iterable[str] = (), out: str = "", threads: int = 1, *,
          traces: str = "", progress: "Callable[[int, int], object] | bool | None" = None, **overrides: Any) -> Study:
    """Runs the figures of a paper and checks its claims: `banyan study run`. mode: "quick", "standard" or "full". traces: the
    folder of the files that a study measures in place of figures ("silicon")."""
    if _folder_or_none(traces, "traces"):
        return Study(name, *_files_of(name, traces, overrides))
    if not isinstance(mode, str) or mode not in ("quick", "standard", "full"):
        raise config_error(f"a study has no mode {shown(mode)}", "give quick, standard or full", "mode")
    table, data, page, csv = _core.study(_text(name, "name"), mode, _figures(figures), _folder_or_none(out, "out"),
                                         _overrides(overrides), whole(threads, "threads"), _display(progress, "study"))
    return Study(name, table, json.loads(data), page, csv)


def _files_of(name: str, traces: str, overrides: Any) -> "tuple[str, dict[str, Any], str, dict[str, str]]":
    table, data, page, csv = _core.measure_files(_text(name, "name"), path(traces, "traces"), _overrides(overrides))
    return table, json.loads(data), page, csv


def _folder_or_none(folder: Any, what: str) -> str:
    return "" if isinstance(folder, str) and not folder else path(folder, what)


def _figures(figures: Any) -> list[str]:
    listed = [figures] if isinstance(figures, (str, int)) else items(figures, "figures", "list of figures")
    return [readable(str(figure), "figures") for figure in listed]


def studies() -> list[str]:
    """Names of the studies."""
    return _core.studies()


class _Text(str):
    """Text that shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def describe(name: str = "") -> str:
    """All components, or the parameters of one: `banyan describe`."""
    return _Text(_core.describe(_text(name, "name")))
