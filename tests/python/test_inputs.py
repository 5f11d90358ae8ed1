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
