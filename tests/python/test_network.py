"""Can a network be stepped from Python, at half the speed of a run at least?"""

import time

import numpy
import pytest

import banyan


NAN = float("nan")


def network(**more):
    return banyan.Network(topology=banyan.mesh(size=[4, 4]), switch=banyan.vc_router(vcs=2, buffer=4),
                          routing="dimension_order", **more)


def test_messages_are_injected_and_delivered():
    net = network()
    assert net.inject(0, 15, flits=4) == 0
    delivered = []
    while not delivered:
        delivered = net.step()
    assert [(d.id, d.source, d.destination, d.flits, d.injected) for d in delivered] == [(0, 0, 15, 4, 0)]
    assert delivered[0].latency == delivered[0].delivered < net.now
    assert net.in_flight == 0 and net.counts["flits_delivered"] == 4
    net.audit()
    assert net.deadlock() == ""


def test_many_at_once_and_again():
    net = network(traffic=[banyan.uniform(load=0.1)])

    def play():
        ids = net.inject_many(numpy.arange(16), numpy.arange(16)[::-1], 2)
        assert ids == list(range(16))
        net.step(300)
        assert len(net.delivered) == 16
        return net.state_hash

    first = play()
    net.reset()
    assert play() == first


def test_errors_are_those_of_the_library():
    net = network()
    with pytest.raises(banyan.ConfigError, match="there is no terminal 16"):
        net.inject(16, 0)
    with pytest.raises(banyan.ConfigError, match="longest"):
        net.inject(0, 1, flits=1000)
    with pytest.raises(banyan.ConfigError, match="either the experiment or its parts"):
        banyan.Network(banyan.Experiment(topology="mesh", switch="vc_router", routing="dimension_order",
                                         traffic="injected"), traffic="injected")


@pytest.mark.parametrize("call, named", [
    (lambda net: net.inject("a", 2), 'source: "a"'), (lambda net: net.inject(0, 1.5), "destination: 1.5"),
    (lambda net: net.inject(0, 1, flits=2**40), "flits: 1099511627776"), (lambda net: net.inject(0, 1, at=-1), "at: -1"),
    (lambda net: net.inject_many([0, 0.5], [1, 2]), r"sources\[1\]: 0.5"),
    (lambda net: net.inject_many([0], numpy.array([NAN])), r"destinations\[0\]: nan"),
    (lambda net: net.inject_many([0], [-1]), r"destinations\[0\]: -1"),
    (lambda net: net.inject_many([0], [2**33]), r"destinations\[0\]: 8589934592"),
    (lambda net: net.inject_many([0], [1], "x"), r'flits\[0\]: "x"'),
    (lambda net: net.inject_many([0, 1], [1]), "2 sources, 1 destinations"),
    (lambda net: net.inject_many(0, 1), "sources: 0 is no list"),
    (lambda net: net.step("x"), 'cycles: "x"'), (lambda net: net.step(-1), "cycles: -1"),
    (lambda net: net.step_to_delivery(1.5), "most: 1.5"), (lambda net: net.reset("x"), 'replication: "x"')])
def test_numbers_that_are_not_whole_are_refused(call, named):
    net = network()
    with pytest.raises(banyan.ConfigError, match=named):
        call(net)
    assert net.now == 0 and net.in_flight == 0


def test_whole_numbers_of_any_type_are_taken():
    net = network()
    assert net.inject(numpy.int64(0), 3.0) == 0
    assert net.inject_many(numpy.array([0, 1], dtype="uint8"), [2.0, 3.0], numpy.array([1, 2])) == [1, 2]
    net.step(2.0)
    assert net.now == 2


def test_quiet_cycles_cost_nothing():
    net = network()
    net.inject(0, 1, at=10**9)
    assert [d.id for d in net.step_to_delivery(2 * 10**9)] == [0]


def test_steps_are_half_as_fast_as_a_run_at_least():
    parts = {"topology": banyan.mesh(size=[8, 8]), "switch": banyan.vc_router(vcs=4, buffer=8),
             "routing": "dimension_order"}
    cycles = 20000
    run = banyan.Experiment(traffic=banyan.uniform(load=0.3), run={"duration": cycles}, **parts)
    net = banyan.Network(traffic=banyan.uniform(load=0.3), **parts)

    def alone():
        run.run()

    def stepped():
        net.reset()
        for cycle in range(cycles):
            if cycle % 16 == 0:
                net.inject(cycle // 16 % 64, cycle // 7 % 64)
            net.step()

    def least(work):
        times = []
        for _ in range(3):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    assert least(stepped) < 2 * least(alone)
