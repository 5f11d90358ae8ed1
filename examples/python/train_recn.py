"""Trains a threshold of RECN: from which length of a detection queue on is its output congested?

A low threshold sets queues aside for every burst, and runs out of them; a high one lets a congestion tree hold up the packets
of others. The learner knows none of this. It plays episodes with a network that it steps: some hosts send to one host for a
while, all others to each other, and the others' waiting is the loss. A bandit (UCB1: P. Auer, N. Cesa-Bianchi, P. Fischer,
Finite-time Analysis of the Multiarmed Bandit Problem, Machine Learning 47, 2002) chooses which threshold to play next.

  PYTHONPATH=build/python /usr/bin/python3 examples/python/train_recn.py
"""

from __future__ import annotations

import math

import numpy as np

import banyan

THRESHOLDS = (1, 4, 16, 64, 256)  # packets
DEFAULT = 32  # of ingress_detection
PACKET = 64  # flits; a flit is a byte, and a cycle the time of a byte on a link
WINDOW = 500  # cycles between two looks of the learner
BURST = 6  # packets that a host sends at once


class Fire:
    """A network with a hot spot that burns for a while; one episode per threshold and seed."""

    def __init__(self, hosts: int = 64, senders: int = 16, load: float = 0.5, cycles: int = 30_000) -> None:
        self.hosts = hosts
        self.senders = senders
        self.load = load
        self.cycles = cycles
        self.networks: dict[int, banyan.Network] = {}

    def network(self, threshold: int) -> banyan.Network:
        """A network is built once for each threshold, and begins again with each episode."""
        if threshold not in self.networks:
            self.networks[threshold] = banyan.Network(
                topology=banyan.bidirectional_min(hosts=self.hosts),
                switch=banyan.cioq(
                    queues="recn_enhanced", saqs=4, ingress_detection=threshold, propagation=min(16, threshold)
                ),
                routing=banyan.nearest_common_ancestor(up="destination_digit"),
                traffic=[banyan.injected(longest=PACKET)],
            )
        return self.networks[threshold]

    def loss(self, threshold: int, seed: int) -> float:
        """The mean latency in cycles of the messages that have nothing to do with the hot spot; those that have not
        arrived count with their age."""
        draw = np.random.default_rng(seed)
        net = self.network(threshold)
        net.reset(seed)
        hot = int(draw.integers(self.hosts))
        roles = draw.permutation([host for host in range(self.hosts) if host != hot])
        senders, victims = roles[: self.senders], roles[self.senders :]
        waiting: dict[int, int] = {}  # message of a victim: when it was sent
        latencies: list[int] = []
        for window in range(self.cycles // WINDOW):
            if window < self.cycles // WINDOW // 2:  # then the fire goes out
                burning = np.repeat(senders, WINDOW // PACKET)
                net.inject_many(burning, np.full(burning.size, hot), PACKET)
            bursts = draw.random(victims.size) < self.load * WINDOW / (BURST * PACKET)
            sources = np.repeat(victims[bursts], BURST)
            sent = net.inject_many(sources, draw.choice(victims, sources.size), PACKET)
            waiting.update((number, net.now) for number in sent)
            for message in net.step(WINDOW):
                if waiting.pop(message.id, None) is not None:
                    latencies.append(message.latency)
        latencies.extend(net.now - sent_at for sent_at in waiting.values())
        return sum(latencies) / len(latencies)


def train(fire: Fire, episodes: int, seed: int = 0) -> tuple[int, dict[int, tuple[int, float]]]:
    """The threshold with the least mean loss, and for each threshold how often it was played and its mean loss."""
    plays = dict.fromkeys(THRESHOLDS, 0)
    sums = dict.fromkeys(THRESHOLDS, 0.0)
    scale = 0.0  # UCB1 takes rewards from 0 to 1: losses are divided by the largest one so far
    for episode in range(episodes):
        untried = [threshold for threshold in THRESHOLDS if plays[threshold] == 0]

        def promise(threshold: int) -> float:
            mean = sums[threshold] / plays[threshold] / scale
            return mean - math.sqrt(2 * math.log(episode) / plays[threshold]) / 4

        threshold = untried[0] if untried else min(THRESHOLDS, key=promise)
        loss = fire.loss(threshold, seed + episode)
        plays[threshold] += 1
        sums[threshold] += loss
        scale = max(scale, loss)
    means = {t: (plays[t], sums[t] / plays[t]) for t in THRESHOLDS if plays[t] > 0}
    return min(means, key=lambda t: means[t][1]), means


def main() -> None:
    fire = Fire()
    best, means = train(fire, episodes=30)
    for threshold, (plays, loss) in means.items():
        print(f"{threshold:4d} packets: {plays:3d} episodes, victims take {loss:.0f} cycles")
    # Seeds that no episode had.
    trained, default = (np.mean([fire.loss(t, seed) for seed in range(1000, 1005)]) for t in (best, DEFAULT))
    print(f"trained to {best} packets: {trained:.0f} cycles on new seeds; the default of {DEFAULT}: {default:.0f}")


if __name__ == "__main__":
    main()
