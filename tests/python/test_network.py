"""Can a network be stepped from Python, at half the speed of a run at least?"""

import copy
import pickle
import threading
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
    (lambda net: net.inject_many([0], [1], "x"), 'flits: "x"'),
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


def test_injection_takes_its_words_as_any_function_does():
    net = network()
    assert net.inject(0, 1) == 0 and net.inject(0, 1, 2) == 1 and net.inject(0, 1, 2, 5) == 2
    assert net.inject(0, 1, flits=3) == 3 and net.inject(0, 1, at=6) == 4 and net.inject(0, 1, at=7, flits=2) == 5
    assert net.inject(source=0, destination=1, flits=4) == 6 and net.inject(0, destination=1) == 7
    net.step(100)
    assert {m.id: (m.flits, m.injected) for m in net.delivered} == {
        0: (1, 0), 1: (2, 0), 2: (2, 5), 3: (3, 0), 4: (1, 6), 5: (2, 7), 6: (4, 0), 7: (1, 0)}
    for wrong in ((), (0,), (0, 1, 2, 3, 4)):
        with pytest.raises(TypeError):
            net.inject(*wrong)
    for wrong in ({"flit": 2}, {"source": 1}):
        with pytest.raises(TypeError):
            net.inject(0, 1, **wrong)
    with pytest.raises(TypeError):
        net.inject(0, 1, 2, flits=2)


def test_a_class_may_have_an_injection_of_its_own():
    class Counting(banyan.Network):
        injected = 0

        def inject(self, *words, **named):
            self.injected += 1
            return super().inject(*words, **named)

    net = Counting(topology=banyan.mesh(size=[2]), switch="vc_router", routing="dimension_order")
    assert net.inject(0, 1) == 0 and net.inject(1, 0) == 1 and net.injected == 2


def test_threads_of_python_share_a_network_one_after_the_other():
    net = network(traffic=[banyan.uniform(load=0.3)])
    arrived = []

    def play():
        for i in range(200):
            net.inject(i % 16, (i * 7) % 16)
            arrived.append(net.step(20))

    players = [threading.Thread(target=play) for _ in range(3)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert net.now == 3 * 200 * 20
    arrived.append(net.step(1000))
    assert sorted(d.id for some in arrived for d in some) == list(range(600))
    net.audit()


def test_many_are_injected_or_none():
    net = network()
    for sources, flits in (([0, 99], 1), ([0, 1], [1, 65])):
        with pytest.raises(banyan.ConfigError):
            net.inject_many(sources, [1, 2], flits)
    assert net.in_flight == 0
    assert net.inject_many([0, 1], [1, 2]) == [0, 1]


def test_a_sweep_is_no_network():
    swept = banyan.Experiment(topology="mesh", switch="vc_router", routing="dimension_order", traffic="injected",
                              sweep={"switch.vcs": [2, 4]})
    with pytest.raises(banyan.ConfigError, match="2 points, not one network"):
        banyan.Network(swept)


def test_deliveries_travel_between_processes():
    net = network()
    net.inject(0, 15, flits=4)
    [here] = net.step(50)
    there = pickle.loads(pickle.dumps(here))
    assert type(there) is type(here) and repr(there) == repr(here)
    assert (there.id, there.flits, there.injected, there.delivered) == (here.id, here.flits, here.injected, here.delivered)
    assert copy.deepcopy(here).latency == here.latency


def test_quiet_cycles_cost_nothing():
    net = network()
    net.inject(0, 1, at=10**9)
    assert [d.id for d in net.step_to_delivery(2 * 10**9)] == [0]


def test_what_is_delivered_is_shown_once_and_belongs_to_the_caller():
    net = network()
    net.inject(0, 3, flits=2)
    first = net.step(30)
    assert repr(first) == f"[<message 0 from 0 to 3 after {first[0].latency} cycles>]"
    again = net.delivered
    assert again == first and again is not first and again[0] is first[0]
    first.clear()
    assert len(net.delivered) == 1
    with pytest.raises(AttributeError):
        again[0].id = 3
    with pytest.raises(AttributeError, match="flits"):
        again[0].flit
    with pytest.raises(TypeError):
        type(again[0])()
    net.step()
    assert net.delivered == [] and again[0].destination == 3


@pytest.mark.parametrize("kind", [list, tuple, lambda v: numpy.array(v, dtype="int64"), lambda v: numpy.array(v, dtype="uint64"),
                                  lambda v: numpy.array(v, dtype="uint8")[::1], lambda v: numpy.array([v, v]).T[:, 1],
                                  lambda v: numpy.array(v, dtype=">i4"), lambda v: numpy.array(v, dtype=float),
                                  lambda v: [float(each) for each in v], lambda v: [numpy.int32(each) for each in v]])
def test_columns_of_every_kind_are_the_same_messages(kind):
    def hashed(*columns):
        net = network()
        assert net.inject_many(*columns) == [0, 1, 2]
        net.step(5)
        return net.state_hash

    columns = ([0, 5, 9], [3, 2, 1], [4, 1, 2])
    assert hashed(*(kind(column) for column in columns)) == hashed(*columns)


def least_of_each(*works, until):
    """The least CPU time of each, of five tries that take turns, or of more until they are as they should be: on a machine
    that is shared all five can be slow, and no neighbour makes any of them fast."""
    least = {work: float("inf") for work in works}
    for tries in range(40):
        if tries >= 5 and until(least):
            break
        for work in works:
            start = time.process_time()
            work()
            least[work] = min(least[work], time.process_time() - start)
    return least


def test_steps_are_half_as_fast_as_a_run_at_least():
    parts = {"topology": banyan.mesh(size=[16, 16]), "switch": banyan.vc_router(vcs=4, buffer=8),
             "routing": "dimension_order"}
    cycles, load, terminals = 3000, 0.2, 256
    run = banyan.Experiment(traffic=banyan.uniform(load=load), run={"duration": cycles}, **parts)
    beside = banyan.Network(traffic=banyan.uniform(load=load), **parts)
    alone = banyan.Network(**parts)
    random = numpy.random.default_rng(3)
    born = [numpy.nonzero(random.random(terminals) < load)[0] for _ in range(cycles)]
    messages = [(sources, random.integers(0, terminals, len(sources))) for sources in born]

    def as_a_run():
        run.run()

    def stepped():
        beside.reset()
        for _ in range(cycles):
            beside.step()

    def injected():
        alone.reset()
        latency = 0
        for sources, destinations in messages:
            alone.inject_many(sources, destinations)
            alone.step()
            for message in alone.delivered:
                latency += message.latency
        assert latency > 0

    listed = [list(zip(sources.tolist(), destinations.tolist())) for sources, destinations in messages]

    def one_by_one():
        alone.reset()
        latency = 0
        for pairs in listed:
            for source, destination in pairs:
                alone.inject(source, destination)
            alone.step()
            for message in alone.delivered:
                latency += message.latency
        assert latency > 0

    def half_as_fast(least):
        return max(least[stepped], least[injected], least[one_by_one]) < 2 * least[as_a_run]

    least = least_of_each(as_a_run, stepped, injected, one_by_one, until=half_as_fast)
    assert half_as_fast(least), {work.__name__: seconds for work, seconds in least.items()}


@pytest.mark.parametrize("side, load", [(4, 0.02), (4, 0.1), (4, 0.5), (8, 0.02), (8, 0.2), (8, 0.5)])
def test_small_and_quiet_networks_are_half_as_fast_as_a_run_when_a_window_is_injected_at_once(side, load):
    parts = {"topology": banyan.mesh(size=[side, side]), "switch": banyan.vc_router(vcs=4, buffer=8),
             "routing": "dimension_order"}
    cycles, terminals, window = 40000 // side, side * side, 4
    run = banyan.Experiment(traffic=banyan.uniform(load=load), run={"duration": cycles}, **parts)
    beside = banyan.Network(traffic=banyan.uniform(load=load), **parts)
    alone = banyan.Network(**parts)
    random = numpy.random.default_rng(3)
    batches = []
    for begin in range(0, cycles, window):
        at, sources = numpy.nonzero(random.random((window, terminals)) < load)
        batches.append((sources, random.integers(0, terminals, len(sources)), at + begin))

    def as_a_run():
        run.run()

    def stepped():
        beside.reset()
        for _ in range(cycles):
            beside.step()

    def injected():
        alone.reset()
        latency = 0
        for sources, destinations, at in batches:
            alone.inject_many(sources, destinations, 1, at)
            for message in alone.step(window):
                latency += message.latency
        assert latency > 0

    def half_as_fast(least):
        return max(least[stepped], least[injected]) < 2 * least[as_a_run]

    least = least_of_each(as_a_run, stepped, injected, until=half_as_fast)
    assert half_as_fast(least), {work.__name__: seconds for work, seconds in least.items()}


def test_messages_of_a_window_are_those_that_are_injected_cycle_by_cycle():
    one, other = network(), network()
    at = numpy.array([0, 0, 3, 7], dtype="uint16")
    sources, destinations, flits = [0, 5, 9, 2], [3, 2, 1, 8], [4, 1, 2, 3]
    assert one.inject_many(sources, destinations, flits, at) == [0, 1, 2, 3]
    for i in range(4):
        other.step(int(at[i]) - other.now)
        other.inject(sources[i], destinations[i], flits[i])
    one.step(40)
    other.step(40 - other.now)
    assert one.state_hash == other.state_hash
    assert {m.id: m.injected for m in one.delivered} == {0: 0, 1: 0, 2: 3, 3: 7}
    with pytest.raises(banyan.ConfigError, match="cycle 39 is over"):
        one.inject_many([0, 1], [1, 2], 1, [50, 39])
    with pytest.raises(banyan.ConfigError, match=r"at\[1\]: -1"):
        one.inject_many([0, 1], [1, 2], at=[50, -1])
    with pytest.raises(banyan.ConfigError, match="2 sources, 2 destinations, 1 flits, 3 at"):
        one.inject_many([0, 1], [1, 2], at=[50, 51, 52])
    assert one.inject_many([0], [1], at=50.0) == [4]


def test_arrivals_are_an_array_that_stays():
    net = network()
    net.inject_many([0, 5], [3, 2], [4, 1])
    assert net.advance(40) == 2
    arrived = net.arrivals
    assert arrived.base is not None and not arrived.flags.writeable and arrived.ctypes.data == net.arrivals.ctypes.data
    assert arrived.dtype.names == ("id", "source", "destination", "flits", "injected", "delivered")
    assert [tuple(m)[:4] for m in arrived] == [(m.id, m.source, m.destination, m.flits) for m in net.delivered]
    kept = arrived.copy()
    net.inject(1, 2)
    assert net.advance(40) == 1 and len(net.arrivals) == 1
    assert (arrived == kept).all()
    with pytest.raises(banyan.ConfigError, match='cycles: "x"'):
        net.advance("x")


@pytest.mark.parametrize("cycles", ["step", "advance", "step_to_delivery"])
def test_two_to_the_sixty_idle_cycles_are_one_jump(cycles):
    one, other = network(), network()
    for net in (one, other):
        net.inject(0, 15, flits=4, at=3)
        net.step(100)
        net.inject(3, 5, at=2**60)
    start = time.process_time()
    getattr(one, cycles)(2**60 + 1000)
    assert time.process_time() - start < 0.1
    assert one.now >= 2**60 and [m.destination for m in one.delivered] == [5]
    for jump in (1, 10**6, 2**40, 2**60 - 2**40 - 10**6 - 101):  # the same cycles in other pieces
        other.step(jump)
    assert other.now == 2**60 and other.in_flight == 1
    other.step(one.now - other.now)
    assert one.state_hash == other.state_hash and one.counts == other.counts
    one.step(2**63 - 1 - one.now)
    assert one.now == 2**63 - 1
    with pytest.raises(banyan.ConfigError, match="1 cycles after the 9223372036854775807 that are done"):
        one.step()
    assert one.step_to_delivery(5) == [] and one.now == 2**63 - 1
    one.reset()
    assert one.now == 0


def test_cycles_between_rare_events_are_jumped_over():
    seldom = {"traffic": [banyan.uniform(load=1e-9)]}
    one, other = network(**seldom), network(**seldom)
    start = time.process_time()
    one.step(10**10)
    assert time.process_time() - start < 1.0
    for _ in range(1000):
        other.step(10**7)
    assert one.state_hash == other.state_hash and one.counts["packets_taken"] > 10


def test_more_cycles_than_there_are_is_refused():
    network = banyan.Network(banyan.Experiment(topology=banyan.mesh(size=[4, 4]), switch="vc_router", traffic=banyan.injected()))
    with pytest.raises(banyan.ConfigError, match="cycles"):
        network.step(2**63)
