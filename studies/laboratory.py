"""Where studies simulate: captured programs, machines, networks and what a run takes."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace import builtins
from searchspace.builtins import BuiltinRun
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.formats.edge_list import read_edge_list, write_edge_list
from searchspace.formats.trace_traffic import traffic_of_traces
from searchspace.graph import Graph
from searchspace.kernels import hop_distances, trace_summary, traffic_matrix
from searchspace.machine import NetworkDescription, parse_machine
from searchspace.platform import resolve
from searchspace.topology.optimise import optimise
from searchspace.truncation import truncate
from studies.known_times import KnownTimes
from workers.capture import Limits, builtin_sources_sha256, capture_builtin
from workers.simulator_client import Simulator

__all__ = ["DENG", "HU", "Laboratory", "Program", "StudyFailed"]

_ADDRESS_SPACE = 1 << 40  # payloads of all ranks share a few pages, but each has its addresses

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


class StudyFailed(HamtuneError):
    """A simulation that a study needs did not complete."""


class Program:
    """A captured built-in program and the simulator that replays it.

    Args:
        run: Program, parameters and ranks.
        directory: Where its trace is kept; it is captured when it is not there.
        known: Times simulated before.
        short: Whether a few iterations of its loops stand for all (`searchspace.truncation`).
    """

    def __init__(
        self, run: BuiltinRun, directory: Path, known: KnownTimes, *, short: bool = False
    ) -> None:
        self.run = run
        self._known = known
        made_from = builtin_sources_sha256(run.program)[:12]
        trace = directory / f"{run.key.replace(':', '-')}-{made_from}.ht"
        if not trace.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _capture(run, trace)
        if short:
            whole, trace = trace, trace.with_suffix(".short.ht")
            truncate(whole, trace)
        self._trace = trace
        self._simulator = Simulator([trace])

    @cached_property
    def _sha256(self) -> str:
        return hashlib.sha256(self._trace.read_bytes()).hexdigest()

    @cached_property
    def calls(self) -> Mapping[str, Groups]:
        """The collectives it calls, and on which communicators."""
        return called_collectives(trace_summary(self._trace))

    @cached_property
    def partners(self) -> Graph:
        """Its ranks, joined where they exchange point-to-point messages."""
        pairs = zip(*self._exchanged.nonzero(), strict=True)
        return Graph.from_edges(self.run.ranks, [(int(u), int(v)) for u, v in pairs if u < v])

    @cached_property
    def _exchanged(self) -> NDArray[np.float64]:
        """Bytes that two ranks exchange point to point."""
        sent = traffic_matrix(self._trace).astype(np.float64)
        both_ways: NDArray[np.float64] = sent + sent.T
        return both_ways

    def hops_of_a_byte(self, network: Graph, hosts: Sequence[int] | None = None) -> float | None:
        """Mean hops of point-to-point bytes; None if there are none.

        Args:
            network: On which they travel.
            hosts: The host of each rank; rank n on host n when it is not given.
        """
        total = float(self._exchanged.sum())
        places = np.arange(self.run.ranks) if hosts is None else np.asarray(hosts)
        hops = hop_distances(network.nodes, network.edges)[np.ix_(places, places)]
        return float((self._exchanged * hops).sum()) / total if total else None

    def time(
        self,
        network: Graph,
        machine: Mapping[str, Any],
        *,
        configuration: Mapping[str, Any] | None = None,
        hosts: Sequence[int] | None = None,
    ) -> float:
        """Simulates the program, unless it was simulated so before: its makespan in seconds.

        Args:
            network: The machine's network.
            machine: The rest of its description.
            configuration: Ordering, MPI implementation, collective algorithms; defaults otherwise.
            hosts: The host of each rank; rank n on host n when it is not given.

        Raises:
            StudyFailed: The run did not complete.
        """
        description = {"nodes": network.hosts, **machine}
        on = parse_machine({**description, "topology": NetworkDescription.of(network)})
        chosen = Configuration.from_json({"topology": "given", **(configuration or {})})
        resolved = resolve(
            chosen,
            on,
            self.run.ranks,
            collectives=self.calls,
            traffic=lambda: traffic_of_traces([self._trace]),
        )
        if hosts is not None:
            resolved = dataclasses.replace(resolved, rank_hosts=tuple(hosts))
        request = resolved.simulator_request()
        key = self._known.key(self._sha256, request)
        seconds = self._known.get(key)
        if seconds is None:
            answer = self._simulator.evaluate(request)
            if answer["status"] != "completed":
                raise StudyFailed(f"{self.run.key} did not complete: {answer['reason']['message']}")
            seconds = float(answer["simulated_time"])
            self._known.add(key, seconds)
        return seconds

    def close(self) -> None:
        """Ends the simulator."""
        self._simulator.close()


def _capture(run: BuiltinRun, trace: Path) -> None:
    parameters = dict(run.parameters)
    class_ = parameters.pop("class", None)
    capture_builtin(
        run.program,
        None if class_ is None else str(class_),
        run.ranks,
        parameters,
        trace,
        limits=Limits(memory_bytes=_ADDRESS_SPACE),
    )


class Laboratory:
    """What a study works with.

    Args:
        directory: Where traces, networks and simulated times are kept between studies.
        quick: Whether smaller sizes and fewer repetitions are wanted.
        seed: Of every random choice.
        say: Told what is being done.
    """

    def __init__(
        self, directory: Path, *, quick: bool, seed: int, say: Callable[[str], None]
    ) -> None:
        self.directory = directory
        self.quick = quick
        self.seed = seed
        self.say = say
        self._programs: dict[tuple[str, bool], Program] = {}
        self._known = KnownTimes(directory / "times.jsonl")

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for program in self._programs.values():
            program.close()
