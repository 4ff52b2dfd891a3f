"""Machines and messages that both simulators are given, and what closed forms say of some."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from searchspace.graph import Graph
from searchspace.kernels import Routes, routes
from searchspace.topology import generate

__all__ = ["Case", "Flow", "Load", "Machine", "closed_forms", "random_cases"]

BANDWIDTH = 1e9  # bytes/s of a cable
LATENCY = 0.613e-6  # s of a cable; packet times are no multiples of it
PAYLOAD = 1500  # bytes
HEADER = 38  # bytes
SECOND = 10**12  # picoseconds; random starts are whole ones, so that ns-3 has to round nothing


@dataclass(frozen=True)
class Machine:
    """A network whose nodes forward, or whose switches do, with full-duplex cables."""

    graph: Graph
    bandwidth: float = BANDWIDTH
    host_bandwidth: float = BANDWIDTH
    latency: float = LATENCY

    @property
    def hosts(self) -> int:
        """How many of the first nodes are hosts."""
        return self.graph.nodes - self.graph.switches

    @property
    def slowest(self) -> float:
        """Bytes/s of the slowest cable."""
        return min(self.bandwidth_of(edge) for edge in self.graph.edges)

    def bandwidth_of(self, edge: tuple[int, int]) -> float:
        """Bytes/s of an edge, each way."""
        at_host = self.graph.switches > 0 and edge[0] < self.hosts
        return self.host_bandwidth if at_host else self.bandwidth

    def routes(self) -> Routes:
        """The routes that the simulator takes."""
        return routes(self.graph.nodes, self.graph.edges, hosts=self.hosts)


@dataclass(frozen=True)
class Flow:
    """A message.

    Attributes:
        start: Seconds after what the sender did before, or after the arrival of `after`.
        sender: Its rank.
        receiver: Its rank.
        bytes: From 1.
        after: The flow that the sender receives first.
    """

    start: float
    sender: int
    receiver: int
    bytes: int
    after: int | None = None


@dataclass(frozen=True)
class Case:
    """Messages on a machine.

    Attributes:
        name: Of the kind of case; several may share it.
        machine: The network.
        hosts: Of each rank.
        flows: The messages.
        expected: When the last byte of each arrives by closed form, s; nothing without one.
    """

    name: str
    machine: Machine
    hosts: tuple[int, ...]
    flows: tuple[Flow, ...]
    expected: tuple[float, ...] = ()
    payload: int = PAYLOAD
    header: int = HEADER

    @property
    def packet_seconds(self) -> float:
        """Of a full packet on the slowest cable."""
        return (self.payload + self.header) / self.machine.slowest

    @property
    def packets(self) -> tuple[int, ...]:
        """How many each message has."""
        return tuple(-(-flow.bytes // self.payload) for flow in self.flows)


@dataclass(frozen=True)
class Load:
    """How much random traffic there is: messages of so many bytes that start within `spread` s."""

    name: str
    messages: int
    smallest: int
    largest: int
    spread: float


SPARSE = Load("30 messages of 1 B to 1 MB", 30, 1, 1_000_000, 1e-4)
DENSE = Load("60 messages of 10 to 100 kB", 60, 10_000, 100_000, 2e-5)


def _apart(
    name: str,
    machine: Machine,
    flows: list[tuple[float, int, int, int]],
    expected: tuple[float, ...] = (),
) -> Case:
    """Flows (start, source host, target host, bytes), each between two ranks of its own."""
    return Case(
        name,
        machine,
        tuple(host for _, source, target, _ in flows for host in (source, target)),
        tuple(
            Flow(start, 2 * number, 2 * number + 1, size)
            for number, (start, _, _, size) in enumerate(flows)
        ),
        expected,
    )


def _line(nodes: int) -> Machine:
    return Machine(Graph(nodes, tuple((node, node + 1) for node in range(nodes - 1))))


def _packets(size: int) -> tuple[int, float]:
    """How many packets a message has, and the seconds of its last one on a cable."""
    count = -(-size // PAYLOAD)
    return count, (size - (count - 1) * PAYLOAD + HEADER) / BANDWIDTH


_FULL = (PAYLOAD + HEADER) / BANDWIDTH  # s of a full packet on a cable


def one_message(cables: int, size: int) -> Case:
    """The last packet waits for full ones before it, at every cable but the last."""
    count, last = _packets(size)
    sending = last * cables if count == 1 else (count + cables - 2) * _FULL + last
    name = f"one message of {size} B over {cables} cable{'s' if cables > 1 else ''}"
    expected = (sending + cables * LATENCY,)
    return _apart(name, _line(cables + 1), [(0.0, 0, cables, size)], expected)


def two_flows(first: int, second: int) -> Case:
    """Their packets take turns until one has ended; the second starts within the first packet."""
    (n, last), (m, other) = _packets(first), _packets(second)
    late = 0.3 * min(last, _FULL)
    if n <= m:
        ends = ((2 * n - 2) * _FULL + last, ((m - 1) * _FULL + other) + (n - 1) * _FULL + last)
    else:
        ends = ((n - 1) * _FULL + last + (m - 1) * _FULL + other, (2 * m - 1) * _FULL + other)
    return _apart(
        f"two flows over one cable, {first} and {second} B",
        _line(2),
        [(0.0, 0, 1, first), (late, 0, 1, second)],
        tuple(end + LATENCY for end in ends),
    )


def fan_in(senders: int, packets: int) -> Case:
    """Hosts around a switch send to one; its cable is never idle once the first packet is there."""
    machine = Machine(
        Graph(
            senders + 2,
            tuple((host, senders + 1) for host in range(senders + 1)),
            switches=1,
        )
    )
    late = 0.7 * _FULL / senders
    flows = [(late * host, host, senders, packets * PAYLOAD) for host in range(senders)]
    first = _FULL + LATENCY
    expected = tuple(
        first + ((packets - 1) * senders + host + 1) * _FULL + LATENCY for host in range(senders)
    )
    return _apart(f"fan-in of {senders}, {packets} packets each", machine, flows, expected)


def pipeline(hosts: int, segments: int, packets: int) -> Case:
    """Segments go down a chain of ranks, each forwarding a segment when it has all of it."""
    flows: list[Flow] = []
    expected = []
    for segment in range(segments):
        for rank in range(hosts - 1):
            after = len(flows) - 1 if rank else None
            flows.append(Flow(0.0, rank, rank + 1, packets * PAYLOAD, after))
            expected.append((segment + rank + 1) * packets * _FULL + (rank + 1) * LATENCY)
    return Case(
        f"pipeline of {segments} segments of {packets} packets down {hosts} hosts",
        _line(hosts),
        tuple(range(hosts)),
        tuple(flows),
        tuple(expected),
    )


def _start(rng: random.Random, spread: float) -> float:
    return rng.randrange(round(spread * SECOND)) / SECOND


def ring_all_to_all(hosts: int, size: int, seed: int) -> Case:
    """Everybody to everybody around a ring, at random times, about as much."""
    rng = random.Random(seed)
    machine = Machine(generate("ring", hosts))
    spread = hosts * (size + HEADER) / BANDWIDTH
    flows = [
        (_start(rng, spread), source, target, rng.randint(size // 2, size))
        for source in range(hosts)
        for target in range(hosts)
        if source != target
    ]
    return _apart(f"all-to-all of up to {size} B, ring of {hosts}", machine, flows)


def random_traffic(name: str, machine: Machine, load: Load, seed: int) -> Case:
    """Messages between random hosts, whose sizes are spread evenly over the logarithms."""
    rng = random.Random(seed)
    flows = []
    for _ in range(load.messages):
        source, target = rng.sample(range(machine.hosts), 2)
        size = math.exp(rng.uniform(math.log(load.smallest), math.log(load.largest)))
        flows.append((_start(rng, load.spread), source, target, round(size)))
    return _apart(f"{load.name}, {name}", machine, flows)


def closed_forms() -> list[Case]:
    """Cases whose arrivals are known."""
    cases = [
        one_message(cables, size) for cables in (1, 2, 5) for size in (1, 1500, 4000, 1_000_000)
    ]
    sizes = ((100_000, 100_000), (1_000_000, 7), (7, 1_000_000), (1_000_000, 500_000))
    cases += [two_flows(first, second) for first, second in sizes]
    cases += [fan_in(senders, packets) for senders in (2, 8) for packets in (40, 200)]
    return [*cases, pipeline(5, 8, 10), pipeline(5, 4, 100)]


def random_cases(seed: int) -> list[Case]:
    """Cases of a seed whose arrivals are not."""
    torus = generate("torus-2d", 16)
    regular = generate("random", 16, degree=3, seed=seed)
    tree = generate("fat-tree", 16)
    switched_torus = generate("torus-2d", 16, hosts_per_switch=1)
    switched_regular = generate("random", 16, degree=3, seed=seed, hosts_per_switch=1)
    direct = {"torus 4x4": Machine(torus), "degree 3 of 16": Machine(regular)}
    switched = {
        "fat tree of 16": Machine(tree),
        "torus 4x4, mixed": _mixed(switched_torus),
        "degree 3 of 16, mixed": _mixed(switched_regular),
        "fat tree of 16, mixed": _mixed(tree),
    }
    # Dense traffic on equal cables only is hardly ever without ties.
    loads = ((SPARSE, direct | switched), (DENSE, switched))
    return [
        ring_all_to_all(9, 1500, seed),
        ring_all_to_all(5, 10_000, seed),
        *(
            random_traffic(name, machine, load, seed)
            for load, machines in loads
            for name, machine in machines.items()
        ),
    ]


def _mixed(graph: Graph) -> Machine:
    """Cables of hosts have another bandwidth than those between switches."""
    return Machine(graph, bandwidth=0.8e9, host_bandwidth=2.5e9)
