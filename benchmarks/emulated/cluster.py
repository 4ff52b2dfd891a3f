"""A cluster of network namespaces: hosts that forward, cables with a rate, the model's own routes.

A host is a namespace with one address; a cable is a pair of virtual Ethernet devices whose two ends
send through a token bucket. The bucket holds one packet: a larger one lets a burst pass at once.
Each pair of hosts talks over the path that `searchspace.kernels.routes` gives it, there and back.
A node forwards by source and destination, for paths of a pair need not consist of those of others.
Nobody has to be asked for an address: neighbours are written down with the links.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from searchspace.graph import Graph
from searchspace.kernels import routes

__all__ = ["COUNTERS", "Cluster", "Counts", "Link", "RunFailed"]

AGENT = Path(__file__).with_name("agent.sh")
DEVICE = "d0"
"""The device that holds the address of a host, the same in all of them."""
COUNTERS = ("RetransSegs", "TCPSynRetrans", "TCPTimeouts")
"""What the kernel counts when a segment had to be sent again."""
_FIRST_TABLE = 1000
_SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    # Nor does a connection begin with what an earlier one to the same host has seen.
    "net.ipv4.tcp_no_metrics_save": "1",
    # Cables are fifty times slower than those of gigabits, and messages wait in them fifty times
    # longer: so do the kernel's timers, or they would take for lost what only waits.
    "net.ipv4.tcp_rto_min_us": "10000000",
    "net.ipv4.tcp_early_retrans": "0",
}
_numbers = itertools.count()


class RunFailed(Exception):
    """A command in the cluster that failed or did not end, with what it said."""


@dataclass(frozen=True)
class Link:
    """The cables: what a token bucket lets through, and how TCP finds out.

    Attributes:
        rate: In bits/s, of whole Ethernet frames.
        bucket_bytes: What may pass at once.
        queue_seconds: How long a frame may wait before frames are dropped.
        congestion_control: The kernel's name of it.
    """

    rate: int = 20_000_000
    bucket_bytes: int = 1600
    queue_seconds: int = 4
    congestion_control: str = "reno"

    @property
    def discipline(self) -> str:
        """The queue of an end of a cable, in the words of `tc`."""
        return f"tbf rate {self.rate}bit burst {self.bucket_bytes} latency {self.queue_seconds}s"


@dataclass(frozen=True)
class Counts:
    """What the kernel has counted since the cluster came up, over all hosts.

    Attributes:
        sent_again: `COUNTERS`, summed up.
        cable_bytes: What was sent on cables, each cable that a frame crosses anew.
    """

    sent_again: Mapping[str, int]
    cable_bytes: int

    def since(self, earlier: Counts) -> Counts:
        """What was counted in between."""
        again = {name: n - earlier.sent_again[name] for name, n in self.sent_again.items()}
        return Counts(again, self.cable_bytes - earlier.cable_bytes)


class Cluster:
    """A network of hosts, up within the `with` statement.

    Args:
        graph: The network; every node is a host.
        link: Its cables.
    """

    def __init__(self, graph: Graph, link: Link) -> None:
        self.graph = graph
        self.link = link
        run = f"emu{os.getpid()}r{next(_numbers)}"
        self.hosts = tuple(f"{run}h{node}" for node in range(graph.nodes))

    def __enter__(self) -> Cluster:
        try:
            self._up()
        except BaseException:
            self._down()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._down()

    def mpirun(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], seconds: float
    ) -> str:
        """Run a program of Open MPI, rank i on host i, over TCP alone; returns what it printed.

        Args:
            arguments: Options of mpirun and the program.
            environment: Added to that of mpirun.
            seconds: When it is given up.

        Raises:
            RunFailed: It failed or did not end.
        """
        settings = {
            "plm_rsh_agent": str(AGENT),
            "plm_rsh_no_tree_spawn": "1",
            "pml": "ob1",
            "btl": "tcp,self",
            "btl_tcp_if_include": DEVICE,
            "oob_tcp_if_include": DEVICE,
            # There are more ranks than cores: who waits lets others compute.
            "mpi_yield_when_idle": "1",
        }
        command = [
            *("ip", "netns", "exec", self.hosts[0], "unshare", "--uts"),
            *("sh", "-c", 'hostname "$0"; exec "$@"', self.hosts[0]),
            *("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none"),
            *("-np", str(len(self.hosts)), "-H", ",".join(self.hosts)),
            *(word for item in settings.items() for word in ("--mca", *item)),
            *arguments,
        ]
        return self._run(command, environment, seconds)

    def counts(self) -> Counts:
        """What the kernel has counted so far."""
        again: Counter[str] = Counter(dict.fromkeys(COUNTERS, 0))
        sent = 0
        files = ("/proc/net/snmp", "/proc/net/netstat", "/proc/net/dev")
        for host in self.hosts:
            text = _said("ip", "netns", "exec", host, "cat", *files).splitlines()
            for names, values in itertools.pairwise(text):
                if names.split(":")[0] == values.split(":")[0] in ("Tcp", "TcpExt"):
                    row = dict(zip(names.split(), values.split(), strict=True))
                    again.update({name: int(row[name]) for name in COUNTERS if name in row})
            devices = [line.split() for line in text if line.lstrip().startswith("c")]
            sent += sum(int(words[9]) for words in devices)
        return Counts(dict(again), sent)

    def _up(self) -> None:
        edges = self.graph.edges
        _batch("ip", [f"netns add {host}" for host in self.hosts])
        _batch(
            "ip",
            [
                f"link add c{edge} address {_mac(edge, 0)} netns {self.hosts[u]} type veth "
                f"peer name c{edge} address {_mac(edge, 1)} netns {self.hosts[v]}"
                for edge, (u, v) in enumerate(edges)
            ],
        )
        next_hops = self._next_hops()
        for node, host in enumerate(self.hosts):
            _batch("ip", self._links_of(node) + _rules_of(node, next_hops[node]), host)
            ends = [edge for edge, cable in enumerate(edges) if node in cable]
            discipline = self.link.discipline
            _batch("tc", [f"qdisc add dev c{edge} root {discipline}" for edge in ends], host)
            settings = {
                **_SYSCTLS,
                **{f"net.ipv4.conf.c{edge}.rp_filter": "0" for edge in ends},
                "net.ipv4.tcp_congestion_control": self.link.congestion_control,
            }
            words = [f"{name}={value}" for name, value in settings.items()]
            _said("ip", "netns", "exec", host, "sysctl", "-qw", *words)
            _said("ip", "netns", "exec", host, "sh", "-c", _in_order(ends))

    def _links_of(self, node: int) -> list[str]:
        """The devices of a host, its address, and its neighbours."""
        lines = [
            "link set lo up",
            f"link add {DEVICE} type veth peer name {DEVICE}p",
            f"link set {DEVICE} up",
            f"link set {DEVICE}p up",
            f"addr add {_address(node)}/32 dev {DEVICE}",
        ]
        for edge, cable in enumerate(self.graph.edges):
            if node in cable:
                end = cable.index(node)
                other = _address(cable[1 - end])
                lines.append(f"link set c{edge} up")
                lines.append(
                    f"neigh replace {other} lladdr {_mac(edge, 1 - end)} dev c{edge} nud permanent"
                )
        return lines

    def _next_hops(self) -> dict[int, dict[tuple[int, int], str]]:
        """For each node, where it sends what goes from one host to another."""
        found = routes(self.graph.nodes, self.graph.edges, tie_rule="lowest-id")
        next_hops: dict[int, dict[tuple[int, int], str]] = defaultdict(dict)
        for pair in itertools.permutations(range(self.graph.nodes), 2):
            for edge, forward in found.path(*pair):
                here, there = self.graph.edges[edge][:: 1 if forward else -1]
                next_hops[here][pair] = f"via {_address(there)} dev c{edge} onlink"
        return next_hops

    def _run(self, command: list[str], environment: Mapping[str, str], seconds: float) -> str:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._kill()
            process.communicate()
            raise RunFailed(f"no end after {seconds:.0f} s: {' '.join(command)}") from None
        if process.returncode:
            raise RunFailed(f"{' '.join(command)}\n{out}{errors}")
        return out

    def _kill(self) -> None:
        """End what still runs in the namespaces of this cluster."""
        for host in self.hosts:
            done = subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True)
            for process in done.stdout.split():
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    def _down(self) -> None:
        self._kill()
        time.sleep(0.1)  # the killed have to be gone, or namespaces outlive their names
        for host in self.hosts:
            subprocess.run(["ip", "netns", "del", host], capture_output=True)


def _address(node: int) -> str:
    return f"10.77.{node // 250}.{node % 250 + 1}"


def _mac(edge: int, end: int) -> str:
    return f"02:00:00:{edge // 256:02x}:{edge % 256:02x}:{end:02x}"


def _in_order(ends: Sequence[int]) -> str:
    """Lets one core do all that comes out of a cable, for two would let frames overtake others."""
    cores = os.cpu_count() or 1
    return "".join(
        f"echo {1 << edge % cores:x} > /sys/class/net/c{edge}/queues/rx-0/rps_cpus\n"
        for edge in ends
    )


def _rules_of(node: int, next_hops: Mapping[tuple[int, int], str]) -> list[str]:
    """The routes of a node: of its own messages, and in tables of those of each other source."""
    lines = []
    for source in sorted({source for source, _ in next_hops} - {node}):
        lines.append(f"rule add from {_address(source)} lookup {_FIRST_TABLE + source}")
    for (source, target), hop in sorted(next_hops.items()):
        own = source == node
        last = f"src {_address(node)}" if own else f"table {_FIRST_TABLE + source}"
        lines.append(f"route add {_address(target)}/32 {hop} {last}")
    return lines


def _batch(tool: str, lines: Sequence[str], host: str | None = None) -> None:
    """Run commands of `ip` or `tc`, in a namespace."""
    where = [] if host is None else ["-n", host]
    _said(tool, *where, "-batch", "-", text="\n".join(lines) + "\n")


def _said(*command: str, text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RunFailed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
