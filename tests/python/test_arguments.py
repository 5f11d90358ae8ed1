"""Is whatever cannot be meant refused in a sentence, wherever it is given?"""

import decimal
import fractions

import networkx
import numpy
import pytest

import banyan
from conftest import parts


class Strange:
    pass


# No whole number, or none that anything here can have.
NEVER = ["a", "", "1", b"1", bytearray(b"1"), memoryview(b"1"), float("nan"), float("inf"), -float("inf"), -1, 2**64, 10**400,
         -(10**400), True, False, 1.5, 1e308, Strange(), [], [1], [None], {}, {1: 2}, {"a": b"b"}, set(), 1j,
         decimal.Decimal("NaN"), decimal.Decimal("1e999"), fractions.Fraction(1, 3), numpy.array([]), numpy.array([[1]]),
         numpy.bool_(True), numpy.float64("nan"), numpy.datetime64("NaT"), "a\0b", "\ud800", "x" * 1000, lambda: 1, int, banyan,
         Ellipsis]
ANYTHING = [*NEVER, None, 2**31, 2**32, 2**63, numpy.array(3), ["a"], [b"a"], range(3), [[1, 2], [3]]]


def a_network():
    return banyan.Network(**parts())


@pytest.fixture(scope="module")
def made():
    """An experiment, and what is made of it."""
    e = banyan.Experiment(**parts(), traffic="uniform", run={"warmup": 10, "measure": 50, "window": 10, "tables": "channels"})
    run = e.run()
    return {"e": e, "run": run, "sweep": e.sweep(load=[0.1, 0.2]), "compared": banyan.compare(run, run), "network": e.network()}


# What asks for a whole number; None is left out where it stands for nothing.
WHOLES = {
    "inject source": lambda v, _: a_network().inject(v, 1),
    "inject destination": lambda v, _: a_network().inject(0, v),
    "inject flits": lambda v, _: a_network().inject(0, 1, v),
    "inject at": lambda v, _: a_network().inject(0, 1, 1, v),
    "inject_many sources": lambda v, _: a_network().inject_many([v], [1]),
    "inject_many destinations": lambda v, _: a_network().inject_many([0], (v,)),
    "inject_many flits": lambda v, _: a_network().inject_many([0], [1], [v]),
    "inject_many at": lambda v, _: a_network().inject_many([0], [1], 1, [v]),
    "step": lambda v, _: a_network().step(v),
    "advance": lambda v, _: a_network().advance(v),
    "step_to_delivery": lambda v, _: a_network().step_to_delivery(v),
    "reset": lambda v, _: a_network().reset(v),
    "threads of a network": lambda v, _: banyan.Network(**parts(), threads=v),
    "threads of a run": lambda v, made: made["e"].run(threads=v),
    "threads of a sweep": lambda v, made: made["e"].sweep(load=[0.1], threads=v),
    "threads of saturation": lambda v, made: banyan.saturation(made["e"], width=0.9, threads=v),
    "terminals": lambda v, _: banyan.graph(networkx.cycle_graph(3), terminals=[] if isinstance(v, dict) else v),
    "latency": lambda v, _: banyan.graph(networkx.Graph([(0, 1, {"latency": v})])),
    "switch of a table": lambda v, _: banyan.table_of({(0, v if getattr(v, "__hash__", None) else "x"): 1}),
    "cycle of a message": lambda v, _: banyan.messages([[v, 0, 1, 1]]),
    "nanoseconds": lambda v, _: banyan.schedule([[("calc", v)]]),
    "height of a page": lambda v, made: made["run"].report(v),
}


@pytest.mark.parametrize("name", WHOLES)
def test_what_is_no_whole_number_is_refused_everywhere(name, made):
    for value in NEVER:
        with pytest.raises(banyan.ConfigError) as told:
            WHOLES[name](value, made)
        assert len(str(told.value).encode()) < 1000  # and can be written


# Whatever else is given: it is taken, or refused in a sentence.
OTHERS = {
    "load": lambda v, _: banyan.load(v),
    "a value": lambda v, made: made["e"].replace(**{"traffic.load": v}),
    "a number": lambda v, made: made["e"].check(**{"run.measure": v}),
    "topology": lambda v, _: banyan.Experiment(**{**parts(), "topology": v}, traffic="uniform"),
    "switch": lambda v, _: banyan.Experiment(**{**parts(), "switch": v}, traffic="uniform"),
    "routing": lambda v, _: banyan.Experiment(**{**parts(), "routing": v}, traffic="uniform"),
    "traffic": lambda v, _: banyan.Experiment(**parts(), traffic=v),
    "traffic of a network": lambda v, _: banyan.Network(**parts(), traffic=v),
    "admission": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", admission=v),
    "analysis": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", analysis=v),
    "job": lambda v, _: banyan.Experiment(**parts(), job=v),
    "file of a job": lambda v, _: banyan.Experiment(**parts(), job=banyan.job(file=v)),
    "flit": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", flit=v),
    "cycle_time": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", cycle_time=v),
    "run": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", run=v),
    "axes": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", sweep=v),
    "name": lambda v, _: banyan.Experiment(**parts(), traffic="uniform", name=v),
    "size": lambda v, _: banyan.Experiment(**{**parts(), "topology": banyan.mesh(size=v)}, traffic="uniform"),
    "watch": lambda v, made: made["e"].run(watch=v),
    "progress": lambda v, made: made["e"].run(progress=not_called(v)),
    "on_window": lambda v, made: made["e"].run(on_window=not_called(v)),
    "values of an axis": lambda v, made: made["e"].sweep(load=v),
    "value of an axis": lambda v, made: made["e"].sweep(load=[v]),
    "executor": lambda v, made: made["e"].sweep(load=[0.1], executor=v),
    "one side": lambda v, made: banyan.compare(v, made["run"]),
    "metrics": lambda v, made: banyan.compare(made["run"], made["run"], metrics=v),
    "names": lambda v, made: banyan.compare(made["run"], made["run"], names=v),
    "metric of a comparison": lambda v, made: made["compared"][v],
    "experiment": lambda v, _: banyan.saturation(v),
    "key": lambda v, made: banyan.saturation(made["e"], key=v, width=0.9),
    "width": lambda v, made: banyan.saturation(made["e"], width=v),
    "store": lambda v, _: banyan.open_store(v),
    "study": lambda v, _: banyan.study(v),
    "mode": lambda v, _: banyan.study("circuit-torus", mode=v, figures=["none"]),
    "out": lambda v, _: banyan.study("circuit-torus", figures=["none"], out=v),
    "traces": lambda v, _: banyan.study("silicon", traces=v),
    "describe": lambda v, _: banyan.describe(v),
    "graph": lambda v, _: banyan.graph(v),
    "table": lambda v, _: banyan.table_of(v),
    "row of a table": lambda v, _: banyan.table_of([v]),
    "port": lambda v, _: banyan.table_of({(0, 0): v}),
    "messages": lambda v, _: banyan.messages(v),
    "message": lambda v, _: banyan.messages([v]),
    "column": lambda v, _: banyan.messages({"cycle": v, "source": [0], "destination": [1], "flits": [1]}),
    "schedule": lambda v, _: banyan.schedule(v),
    "rank": lambda v, _: banyan.schedule([v]),
    "operation": lambda v, _: banyan.schedule([[v]]),
    "kind of an operation": lambda v, _: banyan.schedule([[(v, 8)]]),
    "network": lambda v, _: banyan.Network(v) if v is not None else None,
    "sources": lambda v, _: a_network().inject_many(v, [1]),
    "flits": lambda v, _: a_network().inject_many([0], [1], v),
    "at": lambda v, _: a_network().inject_many([0], [1], 1, v),
    "metric": lambda v, made: made["run"][v],
    "whether a metric is there": lambda v, made: v in made["run"],
    "series": lambda v, made: made["run"].series(v),
    "histogram": lambda v, made: made["run"].histogram(v),
    "recorded table": lambda v, made: made["run"].table(v),
    "what is drawn": lambda v, made: made["run"].plot(v),
    "axes of a run's drawing": lambda v, made: made["run"].plot(ax=v),
    "file of a page": lambda v, made: made["run"].report().save(v),
    "JSON": lambda v, _: banyan.Result.from_json(v),
    "point": lambda v, made: made["sweep"][v],
    "place": lambda v, made: made["sweep"].at(load=v),
    "metric of a table": lambda v, made: made["sweep"].table(v),
    "metric of a drawing": lambda v, made: made["sweep"].plot(v),
    "axis of a drawing": lambda v, made: made["sweep"].plot(x=v),
    "axes of a drawing": lambda v, made: made["sweep"].plot(ax=v),
    "folder of a page": lambda v, made: made["sweep"].write_report(v),
    "loads of channels": lambda v, made: made["network"].plot(load=v),
    "axes of a network's drawing": lambda v, made: made["network"].plot(ax=v),
}


def not_called(value):
    """What can be called may raise what it likes."""
    return value if not callable(value) else None


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_is_given_is_taken_or_refused_in_a_sentence(name, made, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    for value in ANYTHING:
        try:
            OTHERS[name](value, made)
        except banyan.ConfigError as told:
            assert str(told).encode()
        pyplot.close("all")


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("columns", [lambda v: [v], lambda v: (v,), lambda v: v], ids=["lists", "tuples", "numbers"])
def test_one_message_and_many_are_refused_for_the_same(place, columns):
    def outcome(inject, message):
        net = a_network()
        try:
            return numpy.ravel(inject(net)(*message)).tolist()
        except banyan.ConfigError as told:
            return str(told).replace("[0]", "").replace("sources", "source").replace("destinations", "destination")

    for value in [*NEVER, None, 0, 1, 3.0, numpy.int8(1), 15, 16, 64, 65, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**63 + 2**62]:
        message = [0, 1, 1, 0]
        message[place] = value
        if isinstance(value, (list, range)) or getattr(value, "ndim", 0):
            continue  # a column
        many = [columns(each) if i >= 2 else [each] for i, each in enumerate(message)]
        assert outcome(lambda net: net.inject, message) == outcome(lambda net: net.inject_many, many), value


def test_cycles_of_unsigned_arrays_are_in_range_too():
    with pytest.raises(banyan.ConfigError, match=r"at\[1\]: 9223372036854775808 is no whole number up to"):
        a_network().inject_many([0, 0], [1, 1], 1, numpy.array([0, 2**63], dtype="uint64"))
