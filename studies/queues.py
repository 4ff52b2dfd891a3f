"""Messages that wait at the memories and interfaces of a cluster: one queue at every server.

Soryani, Analoui and Zarrinchian, "Improving inter-node communications in multi-core clusters using
a contention-free process mapping algorithm", 2013, sections 2 and 3: a message between hosts is
served by the memory of its sender's socket, both ports of the interfaces, and the memory of its
receiver's socket; one within a host twice by memory. Servers are first come, first served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Operation, decode
from searchspace.formats.patterns import PATTERNS, Pattern
from searchspace.formats.trace import read_header, read_operations
from searchspace.kernels import traffic_matrix

__all__ = ["Cluster", "Messages", "Waiting", "of_pattern", "of_trace", "serve"]

Times = NDArray[np.float64]
Numbers = NDArray[np.int64]

_MOST_ROUNDS = 200
_SETTLED = (
    1e-9  # change of any arrival from round to round, of the time of all; sums settle too soon
)


@dataclass(frozen=True)
class Messages:
    """Messages, in any order.

    Attributes:
        sent: When each is sent, seconds.
        length: Bytes of each.
        sender: The rank that sends it.
        receiver: The rank that gets it.
    """

    sent: Times
    length: Numbers
    sender: Numbers
    receiver: Numbers

    @classmethod
    def together(cls, jobs: Sequence[Messages], ranks: Sequence[int]) -> Messages:
        """The messages of jobs that run at once; the ranks of each follow those before it."""
        first = np.concatenate(([0], np.cumsum(ranks)[:-1]))
        return cls(
            np.concatenate([job.sent for job in jobs]),
            np.concatenate([job.length for job in jobs]),
            np.concatenate([job.sender + start for job, start in zip(jobs, first, strict=True)]),
            np.concatenate([job.receiver + start for job, start in zip(jobs, first, strict=True)]),
        )


@dataclass(frozen=True)
class Cluster:
    """What serves messages; that of the paper, table 2.

    Attributes:
        cores: Of a host.
        socket: Cores of a socket, which share a memory.
        memory: Bytes/s of a memory.
        interface: Bytes/s of each port of a host's interface.
        switch: Seconds in the switch between hosts.
    """

    cores: int = 16
    socket: int = 4
    memory: float = 4e9
    interface: float = 1e9
    switch: float = 100e-9


@dataclass(frozen=True)
class Waiting:
    """Seconds that all messages together wait.

    Attributes:
        memory: At memories.
        interface: At interfaces.
        end: When the last message is served.
    """

    memory: float
    interface: float
    end: float


def of_pattern(pattern: Pattern, *, seed: int) -> Messages:
    """The messages of a synthetic workload; intervals between rounds are exponential."""
    goes = PATTERNS[pattern.pattern]
    index = range(pattern.ranks)
    pairs = np.array([(i, j) for i in index for j in index if goes(i, j)], dtype=np.int64)
    draw = np.random.default_rng(seed)
    rounds = np.cumsum(draw.exponential(1 / pattern.rate, (pattern.ranks, pattern.count)), axis=1)
    sent = rounds[pairs[:, 0]]
    sender, receiver = np.repeat(pairs, pattern.count, axis=0).T
    return Messages(sent.ravel(), np.full(sender.shape, pattern.size), sender, receiver)


def of_trace(trace: Path, host_speed: float) -> Messages:
    """The messages of a program, sent when its computation alone would get to them.

    All-to-all exchanges send one message a pair; other collectives, which move little in the
    programs of the paper, are left out.

    Raises:
        InvalidInput: Messages are sent within a part of the ranks only.
    """
    ranks = read_header(trace).ranks
    left = traffic_matrix(trace)  # what is not accounted for yet
    rows: list[tuple[float, int, int, int]] = []
    for rank in range(ranks):
        clock = 0.0
        for operation in decode(read_operations(trace, rank)):
            if operation.name == "compute":
                clock += float(operation.fields["flops"]) / host_speed  # type: ignore[arg-type]
                continue
            targets = _targets(operation, ranks)
            rows += [(clock, size, rank, peer) for peer, size in targets if size and peer != rank]
            if operation.name not in ("alltoall", "alltoallv"):
                for peer, size in targets:
                    left[rank, peer] -= size
    if left.any():
        raise InvalidInput(f"{trace.name} sends messages within a part of its ranks")
    sent, *others = zip(*rows, strict=True) if rows else ((), (), (), ())
    length, sender, receiver = (np.array(each, dtype=np.int64) for each in others)
    return Messages(np.array(sent), length, sender, receiver)


def _targets(operation: Operation, ranks: int) -> list[tuple[int, int]]:
    """To whom a rank sends how many bytes by an operation."""
    fields = operation.fields
    name = operation.name
    if name in ("send", "isend", "ssend", "issend", "bsend"):
        sent = [(_number(fields["peer"]), _number(fields["count"]) * _number(fields["size"]))]
    elif name == "sendrecv":
        size = _number(fields["send_count"]) * _number(fields["send_size"])
        sent = [(_number(fields["to"]), size)]
    elif name == "alltoall":
        size = _number(fields["send_count"]) * _number(fields["send_size"])
        sent = [(peer, size) for peer in range(ranks)]
    elif name == "alltoallv":
        counts, size = fields["send_counts"], _number(fields["send_size"])
        assert isinstance(counts, Sequence)
        sent = [(peer, count * size) for peer, count in enumerate(counts)]
    else:
        sent = []
    return [(peer, size) for peer, size in sent if peer >= 0]


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def serve(messages: Messages, places: Numbers, cluster: Cluster) -> Waiting:
    """Lets messages pass all servers, and adds up how long they wait.

    A memory serves what leaves its socket and what arrives there, which depends on what left other
    sockets; arrivals are settled round by round.

    Args:
        messages: What is sent.
        places: The core of each rank; those of host 0 come first.
        cluster: What serves.
    """
    origin, target = places[messages.sender], places[messages.receiver]
    outside = origin // cluster.cores != target // cluster.cores
    from_socket, to_socket = origin // cluster.socket, target // cluster.socket
    from_host, to_host = origin // cluster.cores, target // cluster.cores
    in_memory = messages.length / cluster.memory
    on_wire = messages.length[outside] / cluster.interface
    count = len(messages.sent)
    sockets = np.concatenate((from_socket, to_socket))
    twice = np.concatenate((in_memory, in_memory))
    arrived = messages.sent + in_memory
    arrived[outside] += 2 * on_wire + cluster.switch
    for _ in range(_MOST_ROUNDS):
        begins = _begin(np.concatenate((messages.sent, arrived)), twice, sockets)
        left = begins[:count] + in_memory
        at_port = left[outside]
        out = _begin(at_port, on_wire, from_host[outside])
        at_entry = out + on_wire + cluster.switch
        into = _begin(at_entry, on_wire, to_host[outside])
        memory = float((begins - np.concatenate((messages.sent, arrived))).sum())
        interface = float((out - at_port).sum() + (into - at_entry).sum())
        before, arrived = arrived, left.copy()
        arrived[outside] = into + on_wire
        if np.abs(arrived - before).max(initial=0.0) <= _SETTLED * arrived.max(initial=0.0):
            break
    end = float((begins[count:] + in_memory).max(initial=0.0))
    return Waiting(memory, interface, end)


def _begin(arrival: Times, service: Times, server: Numbers) -> Times:
    """When each begins to be served by its server, first come, first served."""
    order = np.lexsort((arrival, server))
    a, s, at = arrival[order], service[order], server[order]
    begins = np.empty_like(a)
    edges = np.flatnonzero(np.diff(at)) + 1
    for low, high in zip((0, *edges), (*edges, len(at)), strict=True):
        done = np.cumsum(s[low:high])
        # The start of one is the end of the one before, or its own arrival: a running maximum.
        earlier = done - s[low:high]
        begins[low:high] = np.maximum.accumulate(a[low:high] - earlier) + earlier
    found = np.empty_like(begins)
    found[order] = begins
    return found
