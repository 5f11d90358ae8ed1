"""Do graphs, tables and messages of Python become networks, routings and traffics?"""

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
