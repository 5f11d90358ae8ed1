"""Can a network be stepped from Python, at half the speed of a run at least?"""

import time

import numpy
import pytest

import banyan


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
    with pytest.raises(TypeError):
        banyan.Network(banyan.Experiment(topology="mesh", switch="vc_router", routing="dimension_order",
                                         traffic="injected"), traffic="injected")


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
