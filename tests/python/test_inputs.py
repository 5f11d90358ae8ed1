"""Do graphs, tables and messages of Python become networks, routings and traffics?"""

import concurrent.futures
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import networkx
import numpy
import pandas
import pytest

import banyan


def experiment(topology, routing, traffic, **run):
    return banyan.Experiment(topology=topology, switch=banyan.vc_router(vcs=2, buffer=4), routing=routing,
                             traffic=traffic, run={"warmup": 200, "measure": 2000, **run})


def test_a_graph_of_networkx_is_a_topology():
    ring = networkx.cycle_graph(6)
    ring.nodes[0]["terminals"] = 2
    ring.edges[0, 1]["latency"] = 3
    e = experiment(banyan.graph(ring), "up_down", banyan.uniform(load=0.1))
    network = e.network()
    assert (len(network.switches), len(network.terminals)) == (6, 7)
    assert sorted(c["latency"] for c in network.channels)[-2:] == [3, 3]
    assert e.run()["packet_latency"].count > 0


def test_a_table_is_a_routing():
    line = networkx.path_graph(2)
    array = numpy.array([[-1, 1], [1, -1]])
    by_array = banyan.table_of(array)
    by_dict = banyan.table_of({(0, 1): 1, (1, 0): [1]})
    assert by_array == by_dict
    traffic = banyan.uniform(load=0.2)
    with pytest.raises(banyan.ConfigError):
        experiment(banyan.graph(line), banyan.table_of({(0, 1): 0}), traffic).check()
    # Ports are numbered in the order of the lines that mention a switch: the terminal first.
    assert experiment(banyan.graph(line), by_dict, traffic).run().verdict == "steady"


def test_messages_are_a_traffic():
    frame = pandas.DataFrame({"cycle": [0, 0, 5], "source": [0, 1, 2], "destination": [3, 2, 0], "flits": [1, 4, 2]})
    by_frame = banyan.messages(frame)
    assert by_frame == banyan.messages(frame.to_numpy()) == banyan.messages(frame.to_numpy().tolist())
    e = experiment(banyan.mesh(size=[2, 2]), "dimension_order", by_frame, sessions=1)
    r = e.run()
    assert r.verdict == "finished" and r["delivered_packets"].mean == 3
    with pytest.raises(banyan.ConfigError, match="no column flits"):
        banyan.messages(frame.drop(columns="flits"))


def ring(rank, ranks):
    yield "calc", 100
    for tag in range(2):
        yield [("send", 4096, (rank + 1) % ranks, tag), ("recv", 4096, (rank - 1) % ranks, tag)]


def jobs(job, **more):
    return banyan.Experiment(topology=banyan.mesh(size=[2, 2]), switch=banyan.vc_router(vcs=2, buffer=4),
                             routing="dimension_order", job=job, **more)


def test_a_job_is_what_generators_give(tmp_path):
    given = jobs(banyan.job(name="ring", file=banyan.schedule(ring(r, 4) for r in range(4))))
    (tmp_path / "ring.goal").write_text("num_ranks 4\n" + "".join(
        f"rank {r} {{\na: calc 100\n" +
        f"b: send 4096b to {(r + 1) % 4} tag 0\nc: recv 4096b from {(r - 1) % 4} tag 0\nb requires a\nc requires a\n" +
        f"d: send 4096b to {(r + 1) % 4} tag 1\ne: recv 4096b from {(r - 1) % 4} tag 1\n" +
        "d requires b\nd requires c\ne requires b\ne requires c\n}\n" for r in range(4)))
    written = jobs(banyan.job(name="ring", file=tmp_path / "ring.goal"))
    r = given.run()
    assert r.verdict == "finished" and r.state_hash == written.run().state_hash
    with pytest.raises(banyan.ConfigError, match="is no operation"):
        banyan.schedule([[("sent", 1, 2)]])


def test_jobs_share_a_network_and_have_parameters():
    one = banyan.job(generator={"collective": "barrier", "ranks": 2}, host_overhead="10 ns")
    other = banyan.job(name="other", generator={"collective": "barrier", "ranks": 2})
    e = jobs([one, other], flit="16 B", cycle_time="2 ns")
    assert [job["name"] for job in e.configuration["job"]] == ["job 0", "other"]
    assert e.configuration["cycle_time"] == 2.0 and e.configuration["flit"] == 16
    assert e.run().verdict == "finished"
    with pytest.raises(banyan.ConfigError, match="did you mean|has no parameter"):
        banyan.job(plaecment="random")


def test_a_drawing_is_that_of_the_program(program, tmp_path):
    e = experiment(banyan.dragonfly(), "dragonfly_routing", banyan.uniform(load=0.1))
    (tmp_path / "x.toml").write_text(e.to_toml())
    drawn = program("export-topology", tmp_path / "x.toml", "--svg")
    assert drawn == e.network().to_svg() and drawn.startswith("<svg")


def test_an_empty_graph_is_no_network():
    with pytest.raises(banyan.ConfigError, match="the graph has no nodes") as caught:
        banyan.graph(networkx.Graph())
    assert "networkx" in caught.value.remedy
    with pytest.raises(banyan.ConfigError, match=r"\[\] is no graph"):
        banyan.graph([])
    with pytest.raises(banyan.ConfigError, match=r"banyan.graph\(...\)"):
        experiment(networkx.path_graph(3), "up_down", banyan.uniform(load=0.1))
    assert experiment(banyan.graph_file(), "up_down", banyan.uniform(load=0.1)).network().switches


NAN = float("nan")


@pytest.mark.parametrize("rows, named", [
    ([[0.5, 0, 1, 1]], "cycle of message 0: 0.5"),
    ([[0, 0, 1, 1], [0, -1, 1, 1]], "source of message 1: -1"),
    ([[0, 0, "a", 1]], 'destination of message 0: "a"'),
    (numpy.array([[0, 0, 1, NAN]]), "flits of message 0: nan"),
    ([[0, 0, 1, 0]], "flits of message 0: 0"),
    ([[0, 0, 2**32, 1]], "destination of message 0: 4294967296"),
    (pandas.DataFrame({"cycle": [0, 1], "source": [0, None], "destination": [1, 1], "flits": [1, 1]}),
     "source of message 1: nan"),
    ([[0, 0, 1]], "message 0 is"), ([3], "message 0 is 3"), (3, "3 is no list of messages")])
def test_messages_that_are_not_whole_are_refused(rows, named):
    with pytest.raises(banyan.ConfigError) as caught:
        banyan.messages(rows)
    assert str(caught.value).startswith(named)


def test_whole_numbers_of_any_type_are_taken():
    plain = banyan.messages([[0, 1, 2, 3]])
    assert plain == banyan.messages([[0.0, 1.0, 2.0, 3.0]]) == banyan.messages(numpy.array([[0, 1, 2, 3]], dtype="uint8"))
    with pytest.raises(banyan.ConfigError, match='trace has no parameter "nope"'):
        banyan.messages([[0, 1, 2, 3]], nope=1)


@pytest.mark.parametrize("table, named", [
    ([[0.5]], r"routing of \(0, 0\): 0.5"), (numpy.array([[-1.0, NAN]]), r"routing of \(0, 1\): nan"),
    ({(0, "a"): 1}, r'routing of \(0, .a.\): "a"'), ({(0, 1): -1}, r"routing of \(0, 1\): -1"),
    ({(0, 1): (1, 2)}, "is no port"), (3, "3 is no table")])
def test_tables_that_are_not_whole_are_refused(table, named):
    with pytest.raises(banyan.ConfigError, match=named):
        banyan.table_of(table)


def test_none_in_a_table_is_negative_in_every_type():
    by_ints = banyan.table_of([[-1, 1], [1, -1]])
    assert by_ints == banyan.table_of(numpy.array([[-1.0, 1.0], [1.0, -1.0]]))
    assert by_ints == banyan.table_of([[numpy.int64(-1), 1], [numpy.int8(1), -1]])


@pytest.mark.parametrize("latency, terminals, named", [
    (1.5, 1, "latency of edge 0, 1: 1.5"), (0, 1, "latency of edge 0, 1: 0"), (1, 1.5, "terminals of node 0: 1.5"),
    (1, -1, "terminals of node 0: -1"), (1, {7: 1}, "the graph has no node 7"), (1, "x", 'terminals of node 0: "x"')])
def test_graphs_that_are_not_whole_are_refused(latency, terminals, named):
    line = networkx.path_graph(3)
    line.edges[0, 1]["latency"] = latency
    with pytest.raises(banyan.ConfigError, match=named):
        banyan.graph(line, terminals=terminals)


def test_a_graph_without_lines_is_no_example():
    with pytest.raises(banyan.ConfigError, match="the graph has no lines"):
        experiment(banyan.graph_file(lines=[]), "shortest_path", "uniform").run()
    experiment(banyan.graph_file(), "shortest_path", "uniform").check()


@pytest.mark.parametrize("operation", [("send", 1.5, 2), ("calc", "x"), ("recv", 8, -1)])
def test_operations_that_are_not_whole_are_refused(operation):
    with pytest.raises(banyan.ConfigError, match="of rank 0: .* is no whole number"):
        banyan.schedule([[operation]])


@pytest.mark.parametrize("operation", [(["calc"], 1), ({}, 1), (None, 1), ("wait", 1), ("calc",), (), 3])
def test_what_is_no_operation_is_refused(operation):
    with pytest.raises(banyan.ConfigError, match="rank 0: .* is no operation"):
        banyan.schedule([[operation]])


MESSAGES = """
import pickle, sys
import banyan
what = pickle.load(sys.stdin.buffer)
for e in what:
    print(e.run().state_hash)
"""


def test_what_python_gave_travels_with_an_experiment(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    traffic = banyan.messages([[0, 0, 3, 4], [2, 1, 2, 5]])
    e = experiment(banyan.mesh(size=[2, 2]), "dimension_order", traffic, sessions=1)
    j = jobs(banyan.job(name="ring", file=banyan.schedule(ring(r, 4) for r in range(4))))
    pickled = pickle.dumps([e, e.replace(**{"run.seed": 3}), j])
    hashes = [each.run().state_hash for each in pickle.loads(pickled)]
    part = pickle.dumps(traffic)
    shutil.rmtree(tmp_path / f"banyan-{os.getuid()}")
    done = subprocess.run([sys.executable, "-c", MESSAGES], input=pickled, capture_output=True, check=True)
    assert done.stdout.decode().split() == hashes
    assert experiment(banyan.mesh(size=[2, 2]), "dimension_order", pickle.loads(part), sessions=1).run().verdict == "finished"


class Elsewhere(concurrent.futures.Executor):
    """Runs tasks that were pickled, as another process does; `there`: whether the files of this one are there too."""

    def __init__(self, there):
        self.there = there
        self.sizes = []

    def submit(self, call, task):
        data = pickle.dumps(task)
        self.sizes.append(len(data))
        again = pickle.loads(data)
        if not self.there and not again.with_files:
            again.kept = {path: "/missing/" + path for path in again.kept}
        future = concurrent.futures.Future()
        future.set_result(call(again))
        return future


def test_files_are_sent_only_where_they_are_not():
    rows = [[i, i % 4, (i + 1) % 4, 1] for i in range(3000)]
    e = experiment(banyan.mesh(size=[2, 2]), "dimension_order", banyan.messages(rows), sessions=1)
    axes = {"switch.buffer": [2, 4, 8]}
    whole = e.sweep(**axes).to_csv()
    here, elsewhere = Elsewhere(True), Elsewhere(False)
    seen = []
    assert e.sweep(executor=here, **axes).to_csv() == whole
    assert len(here.sizes) == 3 and max(here.sizes) < 2000
    assert e.sweep(executor=elsewhere, progress=lambda done, of: seen.append((done, of)), **axes).to_csv() == whole
    assert len(elsewhere.sizes) == 6 and max(elsewhere.sizes[:3]) < 2000 < min(elsewhere.sizes[3:])
    assert seen[-1] == (3, 3) and all(done <= of for done, of in seen)


def test_what_python_gave_travels_with_the_points_of_a_sweep(tmp_path):
    e = experiment(banyan.mesh(size=[2, 2]), "dimension_order", banyan.messages([[0, 0, 3, 4], [2, 1, 2, 5]]), sessions=1)
    here = e.sweep(**{"switch.buffer": [2, 4]})
    with concurrent.futures.ProcessPoolExecutor(1, initializer=setattr, initargs=(tempfile, "tempdir", str(tmp_path))) as pool:
        assert e.sweep(executor=pool, **{"switch.buffer": [2, 4]}).to_csv() == here.to_csv()


def test_columns_go_by_their_names_and_not_by_their_places():
    rows = [(3, 100, 5, 4), (7, 120, 6, 2)]
    names = ["source", "cycle", "destination", "flits"]
    array = numpy.array(rows, dtype=[(name, int) for name in names])
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    expected = banyan.messages([[100, 3, 5, 4], [120, 7, 6, 2]])
    for given in (array, columns, pandas.DataFrame(columns)):
        assert banyan.messages(given) == expected
    with pytest.warns(banyan.BanyanWarning, match="a column after, which nothing reads"):
        assert banyan.messages(pandas.DataFrame({**columns, "after": [0, 0]})) == expected
    with pytest.raises(banyan.ConfigError, match="no column flits"):
        banyan.messages(array[["source", "cycle", "destination"]])


def test_a_network_that_was_drawn_is_no_graph_of_switches():
    drawn = experiment(banyan.mesh(size=[3, 3]), "dimension_order", banyan.uniform(load=0.1)).network().to_networkx()
    with pytest.raises(banyan.ConfigError, match="is a terminal, as to_networkx"):
        banyan.graph(drawn)
    drawn.remove_nodes_from([node for node in list(drawn.nodes) if isinstance(node, tuple) and node[0] == "terminal"])
    assert len(experiment(banyan.graph(drawn), "up_down", banyan.uniform(load=0.1)).network().switches) == 9
