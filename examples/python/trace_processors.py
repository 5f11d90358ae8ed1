"""Processors that read a trace of memory accesses, on a mesh whose corners have the memories.

Each processor works, misses its cache, asks a memory and waits for the line: a slow network slows the processors, and they
ask less. The trace is made here; a real one has the same three columns.

  PYTHONPATH=build/python /usr/bin/python3 examples/python/trace_processors.py
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import banyan

REQUEST_FLITS = 1
LINE_FLITS = 5
MEMORY_CYCLES = 30


@dataclass
class Access:
    work: int  # cycles of computation before it
    memory: int  # that has the line
    blocking: bool  # the processor waits for the line


class Processor:
    """Executes its trace in order; at most `window` lines are on their way."""

    def __init__(self, trace: list[Access], window: int) -> None:
        self.trace = trace
        self.window = window
        self.next = 0
        self.outstanding = 0
        self.waits_for: int | None = None
        self.ready_at = trace[0].work
        self.done_at: int | None = None

    def issue(self, net: banyan.Network, terminal: int, requests: dict[int, int]) -> None:
        """Sends the request that is due in the next cycle, if there is one and it may go."""
        if self.next == len(self.trace) or self.waits_for is not None:
            return
        if net.now < self.ready_at or self.outstanding == self.window:
            return
        access = self.trace[self.next]
        number = net.inject(terminal, access.memory, REQUEST_FLITS)
        requests[number] = terminal
        self.outstanding += 1
        self.next += 1
        if access.blocking:
            self.waits_for = number
        if self.next < len(self.trace):
            self.ready_at = net.now + self.trace[self.next].work

    def receive(self, request: int, now: int) -> None:
        self.outstanding -= 1
        if self.waits_for == request:
            self.waits_for = None
            if self.next < len(self.trace):
                self.ready_at = now + self.trace[self.next].work
        if self.next == len(self.trace) and self.outstanding == 0:
            self.done_at = now


def trace_of(terminal: int, accesses: int, memories: list[int]) -> list[Access]:
    draw = random.Random(terminal)
    return [
        Access(draw.randint(5, 40), draw.choice(memories), draw.random() < 0.5) for _ in range(accesses)
    ]


def simulate(side: int = 8, accesses: int = 100, window: int = 4, **switch: object) -> tuple[int, float]:
    """Cycles until every processor is done, and the mean time from request to line."""
    net = banyan.Network(
        topology=banyan.mesh(size=[side, side]),
        switch=banyan.vc_router(**{"vcs": 2, "buffer": 4, **switch}),
        routing="dimension_order",
        traffic=[banyan.injected(longest=LINE_FLITS)],
    )
    last = side * side - 1
    memories = [0, side - 1, last - side + 1, last]
    processors = {
        t: Processor(trace_of(t, accesses, memories), window) for t in range(net.terminals) if t not in memories
    }
    requests: dict[int, int] = {}  # request: its processor
    lines: dict[int, tuple[int, int]] = {}  # line: its request, and when that was sent
    waited = answered = 0
    while any(p.done_at is None for p in processors.values()):
        for terminal, processor in processors.items():
            processor.issue(net, terminal, requests)
        for message in net.step():
            if message.id in requests:
                line = net.inject(
                    message.destination, message.source, LINE_FLITS, at=net.now + MEMORY_CYCLES
                )
                lines[line] = (message.id, message.injected)
                del requests[message.id]
            else:
                request, sent = lines.pop(message.id)
                processors[message.destination].receive(request, net.now)
                waited += net.now - sent
                answered += 1
    net.audit()
    return max(p.done_at or 0 for p in processors.values()), waited / answered


def main() -> None:
    for buffer in (1, 4, 16):
        cycles, mean = simulate(buffer=buffer)
        print(f"buffers of {buffer:2d} flits: {cycles} cycles, {mean:.1f} cycles from request to line")


if __name__ == "__main__":
    main()
