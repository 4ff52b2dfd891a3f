"""Where studies simulate: captured programs, machines, networks and what a run takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from searchspace import builtins
from searchspace.builtins import BuiltinRun
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.graph import Graph
from searchspace.kernels import trace_summary, traffic_matrix
from searchspace.machine import NetworkDescription, parse_machine
from searchspace.platform import resolve
from workers.capture import capture_builtin
from workers.simulator_client import Simulator

__all__ = ["DENG", "HU", "Laboratory", "Program", "StudyFailed"]

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
    """

    def __init__(self, run: BuiltinRun, directory: Path) -> None:
        self.run = run
        self._trace = directory / f"{run.key.replace(':', '-')}.ht"
        if not self._trace.exists():
            directory.mkdir(parents=True, exist_ok=True)
            parameters = dict(run.parameters)
            class_ = parameters.pop("class", None)
            capture_builtin(
                run.program,
                None if class_ is None else str(class_),
                run.ranks,
                parameters,
                self._trace,
            )
        self._simulator = Simulator([self._trace])

    @cached_property
    def calls(self) -> Mapping[str, Groups]:
        """The collectives it calls, and on which communicators."""
        return called_collectives(trace_summary(self._trace))

    @cached_property
    def partners(self) -> Graph:
        """Its ranks, joined where they exchange point-to-point messages."""
        sent = traffic_matrix(self._trace)
        pairs = zip(*(sent + sent.T).nonzero(), strict=True)
        return Graph.from_edges(len(sent), [(int(u), int(v)) for u, v in pairs if u < v])

    def time(
        self,
        network: Graph,
        machine: Mapping[str, Any],
        *,
        configuration: Mapping[str, Any] | None = None,
        hosts: Sequence[int] | None = None,
    ) -> float:
        """Simulates the program: its makespan in seconds.

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
        resolved = resolve(chosen, on, self.run.ranks, collectives=self.calls)
        if hosts is not None:
            resolved = dataclasses.replace(resolved, rank_hosts=tuple(hosts))
        answer = self._simulator.evaluate(resolved.simulator_request())
        if answer["status"] != "completed":
            raise StudyFailed(f"{self.run.key} did not complete: {answer['reason']['message']}")
        return float(answer["simulated_time"])

    def close(self) -> None:
        """Ends the simulator."""
        self._simulator.close()


class Laboratory:
    """What a study works with.

    Args:
        directory: Where traces are kept between studies.
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
        self._programs: dict[str, Program] = {}

    def program(self, name: str, ranks: int, **parameters: str | int) -> Program:
        """A built-in program, captured at its first use.

        Raises:
            InvalidInput: No such program, parameters or ranks.
        """
        run = builtins.validate(name, parameters, ranks)
        if run.key not in self._programs:
            self.say(f"capturing {run.key}")
            self._programs[run.key] = Program(run, self.directory / "traces")
        return self._programs[run.key]

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
