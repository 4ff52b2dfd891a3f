"""Traces that studies replay: captured programs, synthetic workloads, and several at once."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from searchspace.builtins import BuiltinRun
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.graph import Graph
from searchspace.kernels import hop_distances, trace_summary, traffic_matrix
from searchspace.machine import NetworkDescription, parse_machine
from searchspace.platform import chosen_algorithms, resolve
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic
from searchspace.truncation import truncate
from studies.known_times import KnownTimes
from workers.capture import Limits, builtin_sha256, capture_builtin
from workers.simulator_client import Simulator

__all__ = ["Case", "Program", "Recording", "StudyFailed", "Workload"]

_ADDRESS_SPACE = 1 << 40  # payloads of all ranks share a few pages, but each has its addresses


class StudyFailed(HamtuneError):
    """A simulation that a study needs did not complete."""


class Case(NamedTuple):
    """What a trace is replayed on.

    Attributes:
        network: The machine's network.
        machine: The rest of its description.
        configuration: Ordering, MPI implementation, collective algorithms; defaults otherwise.
        hosts: The host of each rank; rank n on host n when it is not given.
    """

    network: Graph
    machine: Mapping[str, Any]
    configuration: Mapping[str, Any] | None = None
    hosts: Sequence[int] | None = None


class Recording:
    """A trace and the simulators that replay it, up to one for each core.

    Args:
        trace: The file.
        known: Times simulated before.
    """

    def __init__(self, trace: Path, known: KnownTimes) -> None:
        self.trace = trace
        self._known = known
        self._traffic = TracesTraffic([trace])
        self._simulators: list[Simulator] = []
        self._idle: deque[Simulator] = deque()

    @cached_property
    def sha256(self) -> str:
        """The identity of the trace."""
        return hashlib.sha256(self.trace.read_bytes()).hexdigest()

    @cached_property
    def _summary(self) -> Mapping[str, Any]:
        return trace_summary(self.trace)

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return int(self._summary["ranks"])

    @cached_property
    def calls(self) -> Mapping[str, Groups]:
        """The collectives it calls, and on which communicators."""
        return called_collectives(self._summary)

    @cached_property
    def traffic(self) -> Traffic:
        """What its ranks exchange, collectives too: as what their usual algorithms send."""
        return self._traffic()

    def rounds(self, configuration: Mapping[str, Any] | None = None) -> Rounds:
        """When its ranks exchange it, under the algorithms of a configuration."""
        return self._traffic.rounds(chosen_algorithms(Configuration.from_json(configuration or {})))

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
        return self.times([Case(network, machine, configuration, hosts)])[0]

    def times(self, cases: Iterable[Case]) -> list[float]:
        """Simulates several cases as `time` does one, as many at once as there are cores.

        Times are kept as soon as they are known, whatever comes of the other cases.

        Raises:
            StudyFailed: A run did not complete.
        """
        requests = [self.request(*case) for case in cases]
        keys = [self._known.key(self.sha256, request) for request in requests]
        unknown = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if self._known.get(key) is None
        }
        self._simulate(unknown)
        times = [self._known.get(key) for key in keys]
        return [seconds for seconds in times if seconds is not None]

    def _simulate(self, requests: Mapping[str, Mapping[str, Any]]) -> None:
        """Simulates requests by their keys."""
        if len(requests) < 2:
            for key, request in requests.items():
                self._known.add(key, self._makespan(request))
            return
        try:
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                running = {pool.submit(self._makespan, one): key for key, one in requests.items()}
                self._keep(running, pool)
        except BaseException:
            self._simulators.clear()
            self._idle.clear()
            raise

    def _keep(self, running: Mapping[Future[float], str], pool: ThreadPoolExecutor) -> None:
        """Adds times to those that are known, each when its run is done."""
        try:
            for done in as_completed(running):
                self._known.add(running[done], done.result())
        except BaseException:  # neither a failure nor an interrupt waits for long runs
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()
            raise

    def _makespan(self, request: Mapping[str, Any]) -> float:
        with self._simulator() as simulator:
            answer = simulator.evaluate(request)
        if answer["status"] != "completed":
            reason = answer["reason"]["message"]
            raise StudyFailed(f"{self.trace.stem} did not complete: {reason}")
        return float(answer["simulated_time"])

    @contextmanager
    def _simulator(self) -> Iterator[Simulator]:
        """One that nobody else uses meanwhile."""
        try:
            simulator = self._idle.pop()
        except IndexError:
            simulator = Simulator([self.trace])
            self._simulators.append(simulator)
        try:
            yield simulator
        finally:
            self._idle.append(simulator)

    def time_within(
        self,
        network: Graph,
        machine: Mapping[str, Any],
        hosts: Sequence[int],
        cutoff: float | None,
        *,
        configuration: Mapping[str, Any] | None = None,
    ) -> float | None:
        """The same as `time`, unless it is more than `cutoff` seconds: then None.

        A run that does not complete for another reason is None, too.
        """
        request = self.request(network, machine, configuration, hosts)
        key = self._known.key(self.sha256, request)
        seconds = self._known.get(key)
        if seconds is None:
            bounded = key if cutoff is None else f"{key}:{cutoff!r}"
            seconds = self._known.get(bounded)
            if seconds is None:
                with self._simulator() as simulator:
                    answer = simulator.evaluate(request, cutoff=cutoff)
                done = answer["status"] == "completed"
                seconds = float(answer["simulated_time"]) if done else math.inf
                if done or answer["status"] == "censored":  # another end need not come again
                    self._known.add(key if done else bounded, seconds)
        return None if math.isinf(seconds) or seconds > (cutoff or math.inf) else seconds

    def request(
        self,
        network: Graph,
        machine: Mapping[str, Any],
        configuration: Mapping[str, Any] | None = None,
        hosts: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """What the simulator is asked; the arguments are those of `time`."""
        description = {"nodes": network.hosts, **machine}
        on = parse_machine({**description, "topology": NetworkDescription.of(network)})
        chosen = Configuration.from_json({"topology": "given", **(configuration or {})})
        resolved = resolve(
            chosen,
            on,
            self.ranks,
            collectives=self.calls,
            traffic=self._traffic,
        )
        if hosts is not None:
            resolved = dataclasses.replace(resolved, rank_hosts=tuple(map(int, hosts)))
        return resolved.simulator_request()

    def close(self) -> None:
        """Ends the simulators."""
        for simulator in self._simulators:
            simulator.close()


class Program(Recording):
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
        made_from = builtin_sha256(run.program)[:12]
        trace = directory / f"{run.key.replace(':', '-')}-{made_from}.ht"
        if not trace.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _capture(run, trace)
        if short:
            whole, trace = trace, trace.with_suffix(".short.ht")
            truncate(whole, trace)
        super().__init__(trace, known)

    @property
    def ranks(self) -> int:
        """How many ranks run it."""
        return self.run.ranks

    @cached_property
    def partners(self) -> Graph:
        """Its ranks, joined where they exchange point-to-point messages."""
        pairs = zip(*self._exchanged.nonzero(), strict=True)
        return Graph.from_edges(self.run.ranks, [(int(u), int(v)) for u, v in pairs if u < v])

    @cached_property
    def _exchanged(self) -> NDArray[np.float64]:
        """Bytes that two ranks exchange point to point."""
        sent = traffic_matrix(self.trace).astype(np.float64)
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


class Workload:
    """Several applications that run at once on one machine.

    Args:
        applications: Their traces; one may occur several times.
        known: Times simulated before.
    """

    def __init__(self, applications: Sequence[Recording], known: KnownTimes) -> None:
        self.applications = tuple(applications)
        self._known = known
        self._simulator = Simulator([each.trace for each in applications])

    def finish_times(
        self, network: Graph, machine: Mapping[str, Any], hosts: Sequence[int]
    ) -> tuple[float, ...]:
        """When each application ends, seconds.

        Args:
            network: The machine's network.
            machine: The rest of its description.
            hosts: The host of each rank, application by application.

        Raises:
            StudyFailed: The run did not complete.
        """
        found = self.finish_times_within(network, machine, hosts, None)
        if found is None:
            raise StudyFailed("a workload did not complete")
        return found

    def finish_times_within(
        self,
        network: Graph,
        machine: Mapping[str, Any],
        hosts: Sequence[int],
        cutoff: float | None,
    ) -> tuple[float, ...] | None:
        """The same, unless the last ends after `cutoff` seconds or the run fails: then None."""
        request = self.applications[0].request(network, machine)
        placed, start = [], 0
        for index, each in enumerate(self.applications):
            end = start + each.ranks
            placed.append({"trace": index, "hosts": list(map(int, hosts[start:end])), "start": 0.0})
            start = end
        request["applications"] = placed
        key = self._known.key(",".join(each.sha256 for each in self.applications), request)
        keys = [f"{key}:{index}" for index in range(len(self.applications))]
        known = [seconds for name in keys if (seconds := self._known.get(name)) is not None]
        bounded = f"{key}:{cutoff!r}"
        if len(known) < len(keys) and self._known.get(bounded) is None:
            answer = self._simulator.evaluate(request, cutoff=cutoff)
            if answer["status"] == "completed":
                known = [max(map(float, ranks)) for ranks in answer["rank_finish_times"]]
                for name, seconds in zip(keys, known, strict=True):
                    self._known.add(name, seconds)
            elif answer["status"] == "censored":
                self._known.add(bounded, math.inf)
            else:
                return None
        late = len(known) < len(keys) or (cutoff is not None and max(known) > cutoff)
        return None if late else tuple(known)

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
