"""Where studies simulate: captured programs, machines, networks and what a run takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from searchspace import builtins
from searchspace.formats.edge_list import read_edge_list, write_edge_list
from searchspace.formats.matrix_market import write_traffic
from searchspace.formats.patterns import Pattern, matrix_trace, pattern_trace
from searchspace.graph import Graph
from searchspace.machine import NetworkModel
from searchspace.protocol import DEFAULT_PROTOCOL
from searchspace.topology.optimise import optimise
from searchspace.traffic import Traffic
from studies.known_times import KnownTimes
from studies.recordings import Program, Recording, Workload

__all__ = ["DENG", "HU", "ON_PACKETS", "Laboratory", "as_packets"]

HU: Mapping[str, Any] = {
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "switch_latency": "60ns",
    "switch_bandwidth": "10Pbps",
    "model": "smpi-default",
}
"""The machine of Hu (2023), section IV A, without its network."""

DENG: Mapping[str, Any] = {
    "host_speed": "8Gf",
    "cores_per_host": 2,
    "link_bandwidth": "1Gbps",
    "link_latency": "30us",
    "model": "smpi-default",
}
"""The machine of Deng et al. (2019), section 4.4.2, without its network."""


def as_packets(machine: Mapping[str, Any]) -> Mapping[str, Any]:
    """A machine whose messages travel as packets: SMPI's factors are of the fluid model."""
    return {key: value for key, value in machine.items() if key != "model"} | {"network": "packets"}


ON_PACKETS = (
    f"Messages are packets of the protocol `{DEFAULT_PROTOCOL}`, as on a machine that names none; "
    "the paper's own simulations, and its machine here by default, share bandwidth as a fluid."
)
"""What a reader of a study must know that was made with messages as packets."""


class Laboratory:
    """What a study works with.

    Args:
        directory: Where traces, networks and simulated times are kept between studies.
        quick: Whether smaller sizes and fewer repetitions are wanted.
        seed: Of every random choice.
        say: Told what is being done.
        network: The model of messages, where a study has both.
        measured: Files of an earlier run whose measurements are taken instead of new ones; only
            for studies that measure.
    """

    def __init__(
        self,
        directory: Path,
        *,
        quick: bool,
        seed: int,
        say: Callable[[str], None],
        network: NetworkModel = "fluid",
        measured: Path | None = None,
    ) -> None:
        self.directory = directory
        self.measured = measured
        self.quick = quick
        self.seed = seed
        self.say = say
        self.network = network
        self._programs: dict[tuple[str, bool], Program] = {}
        self._others: dict[str, Recording] = {}
        self._workloads: list[Workload] = []
        self._known = KnownTimes(directory / "times.jsonl")

    def machine(self, described: Mapping[str, Any]) -> Mapping[str, Any]:
        """A machine, as `HU`, under this laboratory's model of messages."""
        return described if self.network == "fluid" else as_packets(described)

    def program(
        self, name: str, ranks: int, *, short: bool = False, **parameters: str | int
    ) -> Program:
        """A built-in program, captured at its first use.

        Args:
            name: A key of `BUILTINS`.
            ranks: How many run it.
            short: Whether a few iterations of its loops stand for all.
            parameters: Of the program.

        Raises:
            InvalidInput: No such program, parameters or ranks, or no loop to shorten.
        """
        run = builtins.validate(name, parameters, ranks)
        if (run.key, short) not in self._programs:
            self.say(f"preparing {run.key}")
            traces = self.directory / "traces"
            self._programs[run.key, short] = Program(run, traces, self._known, short=short)
        return self._programs[run.key, short]

    def pattern(self, pattern: Pattern) -> Recording:
        """A synthetic workload, made at its first use."""
        name = f"pattern-{hashlib.sha256(pattern.key.encode()).hexdigest()[:16]}"
        return self._made(name, lambda trace: pattern_trace(pattern, trace))

    def exchange(self, traffic: Traffic, *, rounds: int = 1) -> Recording:
        """Ranks that exchange what a matrix says, all at once, made at its first use."""
        digest = hashlib.sha256(write_traffic(traffic).encode()).hexdigest()[:16]
        return self._made(
            f"exchange-{digest}-{rounds}", lambda trace: matrix_trace(traffic, trace, rounds=rounds)
        )

    def workload(self, applications: Sequence[Recording]) -> Workload:
        """Several applications that run at once."""
        workload = Workload(applications, self._known)
        self._workloads.append(workload)
        return workload

    def _made(self, name: str, make: Callable[[Path], object]) -> Recording:
        if name not in self._others:
            trace = self.directory / "traces" / f"{name}.ht"
            if not trace.exists():
                trace.parent.mkdir(parents=True, exist_ok=True)
                unfinished = trace.with_suffix(".part")
                make(unfinished)
                unfinished.replace(trace)
            self._others[name] = Recording(trace, self._known)
        return self._others[name]

    def searched(self, nodes: int, degree: int, moves: int) -> Graph:
        """A network of small mean path length, kept between studies.

        Args:
            nodes: Hosts.
            degree: Cables of each.
            moves: Of the annealing that looks for it.
        """
        name = f"{nodes}-{degree}-moves-{moves}-seed-{self.seed}.edges"
        path = self.directory / "networks" / name
        if not path.exists():
            self.say(f"searching for a network of {nodes} nodes and degree {degree}")
            graph = optimise(nodes, degree, iterations=moves, seed=self.seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write_edge_list(graph))
        return read_edge_list(path.read_text())

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(self, *raised: object) -> None:
        for recording in (*self._programs.values(), *self._others.values()):
            recording.close()
        for workload in self._workloads:
            workload.close()
