"""Experiments: read from a file or written in Python, checked, run and swept."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import os
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar, overload

from . import _core, _toml
from ._checks import expect, function, refuse_unknown, shown, whole, words
from ._checks import path as _path
from ._components import Component
from ._errors import BanyanWarning, ConfigError, SweepInterrupted, config_error
from ._inputs import kept_in
from ._plugins import load_all, loaded
from ._results import Result, Sweep
from ._topology import Topology

Progress = Callable[[int, int], object]


def load(path: "str | os.PathLike[str]", **overrides: Any) -> "Experiment":
    """Reads an experiment file. Paths in it are relative to its folder, wherever the program or a worker is when a run
    begins.

    >>> e = banyan.load("examples/mesh-vc-router.toml", **{"traffic.load": 0.2})
    """
    name = _path(path, "path")
    try:
        with open(name, encoding="utf-8", newline="") as file:  # as it stands there: errors name places in it
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        try:
            _core.refuse_file(name)
        except ConfigError as told:
            raise told from None
        raise config_error(f"{name} cannot be read: {error}", "give the path of an experiment file") from None
    return Experiment._of(text, name, _overrides(overrides))


def _overrides(values: Mapping[str, Any]) -> list[str]:
    return [_toml.override(key, value) for key, value in values.items() if value is not None]


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return ""


def _is_axis(value: Any) -> bool:
    if isinstance(value, (str, bytes, Mapping)):
        return isinstance(value, Mapping) and not isinstance(value, Component)
    return isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) == 1



_Method = TypeVar("_Method", bound=Callable[..., Any])


def _near_its_own(method: _Method) -> _Method:
    """A method that takes parameters of experiments beside its own: a slip in one of these is no parameter of a network."""
    own = [p.name for p in inspect.signature(method).parameters.values() if p.kind is not p.VAR_KEYWORD][1:]

    @functools.wraps(method)
    def call(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except ConfigError as error:
            for key in kwargs:
                near = difflib.get_close_matches(key, own, 1, 0.75)
                if near and key not in own and error.key in (key, f"sweep.{key}"):
                    raise config_error(f'nothing in this experiment is called "{key}"', f'did you mean "{near[0]}"?',
                                       key) from None
            raise

    return call  # type: ignore[return-value]


class Experiment:
    """One topology, one switch model, one routing function, one or more traffics or jobs, and how to run them.

    A component is what its function gives (``banyan.mesh(size=[8, 8])``), its name, or a dict with a "name".

    ``job`` is what ``banyan.job(...)`` gives, or several of it; ``flit``, ``packet`` and ``cycle_time`` say how messages of jobs
    are cut (``banyan.describe("messages")``).

    ``run`` holds the parameters of the run (``banyan.describe("run")``), ``sweep`` axes with their values.
    """

    def __init__(
        self,
        *unnamed: Any,
        topology: Any = None,
        switch: Any = None,
        traffic: Any = None,
        routing: Any = None,
        admission: Any = None,
        analysis: Any = None,
        job: Any = None,
        flit: Any = None,
        packet: Any = None,
        cycle_time: Any = None,
        run: Mapping[str, Any] | None = None,
        sweep: Mapping[str, Any] | None = None,
        name: str | None = None,
        **others: Any,
    ) -> None:
        if isinstance(traffic, (list, tuple)):
            traffic = list(traffic)
        if job is not None:
            job = list(job) if isinstance(job, (list, tuple)) else [job]
        parts = {
            "name": name,
            "topology": topology,
            "switch": switch,
            "routing": routing,
            "traffic": traffic,
            "admission": admission,
            "analysis": analysis,
            "job": job,
            "flit": flit,
            "packet": packet,
            "cycle_time": cycle_time,
            "run": run,
        }
        if unnamed:
            raise config_error("an experiment takes its parts by name", "write topology=..., switch=...")
        refuse_unknown(others, [*parts, "sweep"], "an experiment")
        for key, part in parts.items():
            for one in part if isinstance(part, list) else [part]:
                if isinstance(one, Component) and one.kind != key:
                    raise config_error(f"{one.name} is a {one.kind}, not a {key}", f"give it as {one.kind}=", key)
        lines = [f"{key} = {_toml.value(part, key)}" for key, part in parts.items() if part is not None]
        if sweep is not None and expect(sweep, Mapping, "sweep", "dict of axes"):
            lines.append("[sweep]")
            lines += [f'"{key}" = {_toml.value(_plain(values), key)}'
                      for key, values in sweep.items()]
        self._set("\n".join(lines) + "\n", "experiment", [])

    @classmethod
    def _of(cls, text: str, name: str, overrides: Sequence[str], kept: "Mapping[str, str]" = {},
            folder: str | None = None) -> "Experiment":
        """`kept`: where the files that the texts name lie here. `folder`: the one that its name and its paths were given
        in, which is the current one otherwise."""
        self = cls.__new__(cls)
        self._set(_moved(text, kept), name, [_moved(word, kept) for word in overrides], folder)
        return self

    def _set(self, text: str, name: str, overrides: Sequence[str], folder: str | None = None) -> None:
        self._text = text
        self._name = name
        self._overrides = list(overrides)
        self._folder = folder or _current_folder()
        self._read_as = self._place()
        self._points = _core.read_text(text, self._read_as, self._overrides)

    def _place(self) -> str:
        """Its name as seen from the current folder: files are looked for beside it."""
        return self._name if _current_folder() == self._folder else os.path.join(self._folder, self._name)

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._points[0].name

    @property
    def axis_names(self) -> list[str]:
        """The axes of its sweep."""
        return self._points.axis_names

    def to_toml(self) -> str:
        """The experiment file, without overrides."""
        return self._text

    @property
    def configuration(self) -> dict[str, Any]:
        """Every parameter with its value, of the first point."""
        import json

        return json.loads(self._points[0].configuration)

    def replace(self, **overrides: Any) -> "Experiment":
        """The experiment with other values: e.replace(**{"switch.vcs": 2}, routing="ugal")."""
        return self._with(_overrides(overrides))

    def network(self) -> Topology:
        """The network, which a notebook draws."""
        point = self._read({})[0]
        return Topology(point.topology_json(), point.topology_dot(), point.topology_svg())

    # --- what can be done with it ----------------------------------------------------------------------------------

    def check(self, **overrides: Any) -> list[str]:
        """Builds every network without running it. Raises ConfigError; returns notes, those on deadlock included."""
        points = self._read(overrides)
        notes: list[str] = []
        for i in range(len(points)):
            notes += points[i].check()
        notes += points.idle_parameters()
        notes += [text for _, text in points.check_deadlock()]
        return list(dict.fromkeys(notes))

    # Checkers of types try "**overrides" on every parameter that has a name.
    @overload
    def run(self, **overrides: Any) -> Result: ...
    @overload
    def run(self, threads: int, **overrides: Any) -> Result: ...
    @overload
    def run(self, threads: int = ..., *, progress: "Progress | bool | None" = ..., watch: Iterable[str] = ...,
            on_window: Callable[["_core.Window"], object] | None = ..., **overrides: Any) -> Result: ...

    @_near_its_own
    def run(
        self,
        threads: int = 1,
        *,
        progress: "Progress | bool | None" = None,
        watch: Iterable[str] = (),
        on_window: Callable[["_core.Window"], object] | None = None,
        **overrides: Any,
    ) -> Result:
        """Runs it once: e.run(threads=1, **{"traffic.load": 0.2}). The lock of the interpreter is free meanwhile.

        ``progress``: True for a display, or a function of (done, total). ``watch``: packets and ports of which every event
        is written down, as ``--watch`` of the command line. ``on_window``: called with what happened in each window of
        run.window cycles; True ends the run at the end of that window.
        """
        points = self._read(overrides)
        if len(points) != 1:
            axes = ", ".join(points.axis_names)
            raise config_error(f"the experiment sweeps {axes}: {len(points)} points, not one run",
                               "use sweep(), or give every swept key one value", "sweep")
        for text in points.idle_parameters():
            warnings.warn(text, BanyanWarning, stacklevel=3)
        core = points[0].run(whole(threads, "threads"), words(watch, "watch"), _display(progress, "run"), None,
                             function(on_window, "on_window"))
        if core.warning:
            warnings.warn(core.warning, BanyanWarning, stacklevel=3)
        if core.verdict == "saturated":
            for text in points.advice():
                warnings.warn(text, BanyanWarning, stacklevel=3)
        return Result(core, _core.Sweep(points, [core]))

    @_near_its_own
    def sweep(
        self,
        *,
        executor: Executor | None = None,
        threads: int | None = None,
        progress: "Progress | bool | None" = None,
        on_window: "Callable[[_core.Window, dict[str, str]], object] | None" = None,
        **axes: Any,
    ) -> Sweep:
        """Runs every point: e.sweep(load=[0.1, 0.2], routing=["dimension_order", "o1turn"]). A single value is an override.
        Components are values too: e.sweep(switch=[banyan.cioq(), banyan.vc_router(vcs=4)]).

        Without an executor the points run in ``threads`` threads of their own (all cores by default). With one, which may
        be any of concurrent.futures' kind (threads, processes, MPIPoolExecutor of mpi4py, get_executor() of
        dask.distributed), each point is a task of it, in which it runs with ``threads`` threads (one by default).

        ``on_window``: called in every point with what happened in a window of run.window cycles and with the values of the
        point's axes as texts; True ends the run of that point. With processes it has to be a function that can be pickled.

        Control-C ends all points at once and raises SweepInterrupted, a KeyboardInterrupt that has the finished points.
        """
        axis_words = self._axis_words(axes)
        swept = self._without(axes)._with(axis_words)
        points = swept._points
        self._require_axes(axis_words, swept)
        threads = 0 if threads is None else whole(threads, "threads")
        function(on_window, "on_window")
        for text in points.idle_parameters():
            warnings.warn(text, BanyanWarning, stacklevel=3)
        shown = _display(progress, "sweep")
        if executor is None and on_window is None:
            finished = _core.Finished()
            try:
                return Sweep(points.sweep(threads, shown, finished))
            except KeyboardInterrupt as stopped:
                raise _interrupted(points, finished.results) from stopped
        if executor is None:
            with ThreadPoolExecutor(threads or os.cpu_count()) as own:
                return Sweep(_through(own, swept, 1, shown, on_window))
        if not hasattr(executor, "submit"):
            raise config_error(f"{executor!r} is no executor", "give one of the kind of concurrent.futures", "executor")
        return Sweep(_through(executor, swept, threads or 1, shown, on_window))

    def _axis_words(self, axes: Mapping[str, Any]) -> list[str]:
        """As overrides. An axis of the file that ends in the same word is meant: `load` gives "traffic.load" other values."""
        given = []
        for key, value in axes.items():
            if value is None:
                continue
            if not _is_axis(value):
                given.append(_toml.override(key, value))
                continue
            self._refuse_one_list(key, value)
            meant = [name for name in self.axis_names if name.endswith(f".{key}")]
            name = meant[0] if key not in self.axis_names and len(meant) == 1 else key
            given.append(_toml.override(f"sweep.{name}", _plain(value)))
        return given

    def _without(self, axes: Mapping[str, Any]) -> "Experiment":
        """Without the single values that the keys of axes were given before: what is said last holds."""
        swept = {key for key, value in axes.items() if _is_axis(value)}
        kept = [word for word in self._overrides if word.partition("=")[0].strip() not in swept]
        return self if len(kept) == len(self._overrides) else Experiment._of(
            self._text, self._name, kept, {}, self._folder)

    @staticmethod
    def _require_axes(axis_words: Sequence[str], swept: "Experiment") -> None:
        """A value given before under another name of the key takes the place of an axis."""
        for word in axis_words:
            name = word.partition("=")[0].strip()
            if name.startswith("sweep.") and name.removeprefix("sweep.") not in swept.axis_names:
                key = name.removeprefix("sweep.")
                raise config_error(f"{key} was given one value before, by another name",
                                   "sweep over that name, or leave the value out", key)

    def _refuse_one_list(self, key: str, value: Any) -> None:
        """Where a parameter is a list itself, a list of numbers is one value of it, and no axis."""
        section, _, parameter = key.rpartition(".")
        parts = [part for name, part in self.configuration.items() if section in ("", name) and isinstance(part, Mapping)]
        if not any(isinstance(part.get(parameter), list) for part in parts):
            return
        values = list(value.values()) if isinstance(value, Mapping) else list(value)
        if any(isinstance(each, (list, tuple)) or getattr(each, "ndim", 0) > 0 for each in values):
            return
        raise config_error(f"{key} is a list, and {shown(value)} is one of its values",
                           f"give lists to sweep over, such as [{shown(value)}], or replace() for one value", key)

    def _read(self, overrides: Mapping[str, Any]) -> "_core.Points":
        if not overrides and self._place() == self._read_as:
            return self._points
        return _core.read_text(self._text, self._place(), [*self._overrides, *_overrides(overrides)])

    def _with(self, more: Sequence[str]) -> "Experiment":
        return Experiment._of(self._text, self._name, [*self._overrides, *more], {}, self._folder)

    def __reduce__(self):
        return _unpickled, (loaded(), self._text, self._name, self._overrides, kept_in([self._text, *self._overrides]),
                            self._folder)

    def __repr__(self) -> str:
        points = f", {len(self._points)} points over {', '.join(self.axis_names)}" if self.axis_names else ""
        return f"<banyan.Experiment {self.name}{points}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self._text)}</pre>"


def _unpickled(plugins: "tuple[str, ...]", *parts: Any) -> Experiment:
    load_all(plugins)
    return Experiment._of(*parts)


def _plain(values: Any) -> Any:
    """A component without parameters in a list of values stands for its name."""
    if isinstance(values, (list, tuple)):
        return [value.name if isinstance(value, Component) and not value.parameters else value for value in values]
    return values


def _moved(text: str, kept: "Mapping[str, str]") -> str:
    for old, new in kept.items():
        text = text.replace(old, new)
    return text


# --- executors -----------------------------------------------------------------------------------------------------


class _FilesMissing:
    """What a task gives back where a file of the experiment's values is not: it is sent again, with them."""


@functools.lru_cache(maxsize=1)
def _points_again(sweep: str, text: str, name: str, overrides: tuple[str, ...], folder: str,
                  kept: "tuple[tuple[str, str], ...]") -> "_core.Points":
    """The points of a sweep in another process, which reads them once."""
    return Experiment._of(text, name, overrides, dict(kept), folder)._points


@functools.lru_cache(maxsize=1)
def _signs() -> "tempfile.TemporaryDirectory[str]":
    """The folder of files that stand for sweeps of this process that go on."""
    return tempfile.TemporaryDirectory(prefix="banyan-sweeps-")


@contextlib.contextmanager
def _while_there_is(sign: str) -> "Iterator[_core.Stop]":
    """In another process: what stops a run when the sweep has taken its sign away. Where not even the folder of signs is,
    on another machine, nobody tells."""
    stop = _core.Stop()
    if not os.path.isdir(os.path.dirname(sign)):
        yield stop
        return
    if not os.path.exists(sign):
        raise KeyboardInterrupt("the sweep is over")
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            if not os.path.exists(sign):
                stop.request()

    threading.Thread(target=look, daemon=True).start()
    try:
        yield stop
    finally:
        over.set()


class _Task:
    """One point of a sweep, for another thread or another process. Files of values that Python gave may be large: a task
    takes them along only where they are not, which one has told before."""

    def __init__(self, experiment: Experiment, sweep: str, index: int, threads: int, sign: str, on_window: Any) -> None:
        text, overrides = experiment._text, experiment._overrides
        self.origin = (sweep, text, experiment._name, tuple(overrides), experiment._folder)
        self.plugins = loaded()
        self.kept = kept_in([text, *overrides])
        self.with_files = False
        self.index = index
        self.threads = threads
        self.sign = sign
        self.on_window = on_window
        self.point = experiment._points[index]
        self.configuration_hash = self.point.configuration_hash
        self.stop: Any = None

    def __getstate__(self) -> dict[str, Any]:
        kept: dict[str, str] = {**self.kept} if self.with_files else {path: str(path) for path in self.kept}
        return {**self.__dict__, "kept": kept, "point": None, "stop": None}

    def __call__(self) -> "_core.Result | _FilesMissing":
        if self.point is not None:
            return self.run(self.point, self.stop)
        if not all(os.access(path, os.R_OK) for path in self.kept.values()):
            return _FilesMissing()
        with _while_there_is(self.sign) as stop:
            load_all(self.plugins)
            point = _points_again(*self.origin, tuple(self.kept.items()))[self.index]
            if point.configuration_hash != self.configuration_hash:
                raise RuntimeError("the point is another one where it is run: see to it that the workers find the same files, "
                                   "and have this version of Banyan")
            return self.run(point, stop)

    def run(self, point: "_core.Point", stop: "_core.Stop") -> "_core.Result":
        listener = None
        if self.on_window is not None:
            axes = dict(point.axes)
            listener = lambda window: self.on_window(window, axes)  # noqa: E731
        return point.run(self.threads, [], None, stop, listener)


def _call(task: _Task) -> "_core.Result | _FilesMissing":
    return task()


def _interrupted(points: "_core.Points", results: "dict[int, _core.Result]") -> SweepInterrupted:
    done = sorted(results)
    return SweepInterrupted(Sweep(_core.Sweep(points.only(done), [results[i] for i in done])), len(points))


def _through(executor: Executor, swept: Experiment, threads: int, progress: Progress | None,
             on_window: Any) -> "_core.Sweep":
    points = swept._points
    sweep = uuid.uuid4().hex
    sign = os.path.join(_signs().name, sweep)
    stop = _core.Stop()
    tasks = [_Task(swept, sweep, i, threads, sign, on_window) for i in range(len(points))]
    for task in tasks:
        task.stop = stop
    lock = threading.Lock()
    finished = 0

    def count(_: Any) -> None:
        nonlocal finished
        with lock:
            finished += 1

    futures: "list[Future[_core.Result | _FilesMissing]]" = []
    try:
        with open(sign, "x"):
            pass
        futures += [executor.submit(_call, task) for task in tasks]
        for future in futures:
            future.add_done_callback(count)
        results: "dict[int, _core.Result]" = {}
        sent_again: list[int] = []

        def take(i: int) -> None:
            result = futures[i].result()
            if isinstance(result, _FilesMissing):
                sent_again.append(i)
                tasks[i].with_files = True
                futures[i] = executor.submit(_call, tasks[i])
                futures[i].add_done_callback(count)
                return
            results[i] = result
            if progress is not None:
                progress(finished - len(sent_again), len(futures))

        for i in range(len(tasks)):
            take(i)
        for i in list(sent_again):
            take(i)
        return _core.Sweep(points, [results[i] for i in range(len(tasks))])
    except BaseException as error:
        stop.request()
        for future in futures:
            future.cancel()
        if not isinstance(error, KeyboardInterrupt):
            raise
        done = {i: future.result() for i, future in enumerate(futures)
                if future.done() and not future.cancelled() and future.exception() is None}
        raise _interrupted(points, {i: r for i, r in done.items() if not isinstance(r, _FilesMissing)}) from error
    finally:
        with contextlib.suppress(OSError):
            os.remove(sign)


# --- progress ------------------------------------------------------------------------------------------------------


def _display(progress: "Progress | bool | None", label: str) -> Progress | None:
    if progress is None or progress is False:
        return None
    return _Bar(label) if progress is True else function(progress, "progress")


class _Bar:
    """One line that renews itself; in a notebook it is drawn."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.last = -1
        self.handle: Any = None
        try:
            from IPython import get_ipython

            self.notebook = get_ipython() is not None and hasattr(get_ipython(), "kernel")
        except ImportError:
            self.notebook = False

    def __call__(self, done: int, total: int) -> None:
        percent = 100 * done // max(total, 1)
        if percent == self.last:
            return
        self.last = percent
        if self.notebook:
            self._draw(percent)
        else:
            end = "\n" if percent >= 100 else ""
            sys.stderr.write(f"\r{self.label}: {percent:3d} %{end}")
            sys.stderr.flush()

    def _draw(self, percent: int) -> None:
        from IPython.display import HTML, display

        bar = HTML(f"{self.label} <progress max='100' value='{percent}'></progress> {percent} %")
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)
