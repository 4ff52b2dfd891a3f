"""Probing: what each algorithm does with a program's calls of its collective, by simulating these.

The calls of one collective alone are simulated under every algorithm that a job may choose, on one
network. Algorithms that leave the same loads on all cables and end every rank at the same time, in
two placements of the ranks, are the same at these sizes; one that stops the program would do so in
every trial.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from searchspace.collectives import COLLECTIVES, DEFAULT, Groups
from searchspace.collectives.by_size import PARAMETER, parsed, range_name, ranges_of
from searchspace.configuration import Configuration, Value, sha256_of
from searchspace.insight.known import Probe, Probes
from searchspace.insight.probe_trace import write_probe_trace
from searchspace.machine import NetworkModel
from searchspace.parameters import EnumParameter
from searchspace.platform import Infeasible, Resolved
from searchspace.space import SearchSpace
from workers.simulator_client import Simulator, SimulatorError

__all__ = ["APART_SECONDS", "MOST_MESSAGES", "MOST_RANKS", "Bench", "probe"]

MOST_RANKS = 64
"""With more, an algorithm that does not suit so many may take longer than the rest of a job."""

APART_SECONDS = 3e-6
"""How far apart ranks come to a call, as drawn: what they compute before it."""

MOST_MESSAGES: Mapping[NetworkModel, int] = {"packets": 200_000, "fluid": 5_000}
"""Of one probe, which take half a second or so."""

_MPI = "mpi"
_PROBES = 20
"""How many times the messages of the longest probe all probes of a job may send; what a collective
that has begun takes comes on top. Time would make a search depend on how busy its host was."""
_LEAST_MESSAGES = 100  # that a probe counts for, whatever it sends
_WALL_SECONDS = 60.0  # for what never gets on
_TRIES = 3
_STOPS = frozenset({"crash", "deadlock"})


@dataclass(frozen=True)
class Bench:
    """What probes of a job are made with.

    Attributes:
        space: What the job searches.
        called: The collectives that are called, and on which communicators.
        traces: One an application.
        ranks: Of all applications.
        resolve: Builds the network and the options of a configuration.
        request: What the simulator is asked for these.
        flops: What a rank computes in a few microseconds.
        messages: The most messages of a probe.
    """

    space: SearchSpace
    called: Mapping[str, Groups]
    traces: Sequence[Path]
    ranks: int
    resolve: Callable[[Configuration], Resolved]
    request: Callable[[Resolved], dict[str, Any]]
    flops: float
    messages: int

    def values(self, name: str) -> tuple[Value, ...]:
        """The values of a parameter; what it is by default where it is none of the space."""
        for parameter in self.space.parameters:
            if parameter.name == name and isinstance(parameter, EnumParameter):
                return parameter.values
        return (DEFAULT,)


def probe(bench: Bench) -> Probes:
    """Simulates the calls of each collective under each algorithm.

    Returns:
        What was found; nothing of collectives whose calls cannot be played by themselves, or whose
        turn did not come within the messages that this may take.
    """
    chosen = [p.name for p in bench.space.parameters if p.size > 1]
    if bench.ranks > MOST_RANKS or not any(n == _MPI or n.startswith(PARAMETER) for n in chosen):
        return Probes()
    entries = {}
    left = _PROBES * bench.messages
    ranges = ranges_of(parameter.name for parameter in bench.space.parameters)
    # Those that are chosen first: they have the most to tell.
    for collective in sorted(bench.called, key=lambda name: (PARAMETER + name not in chosen, name)):
        begins = ranges.get(collective, (0,))
        for since, until in itertools.zip_longest(begins, begins[1:], fillvalue=math.inf):
            if collective in COLLECTIVES and left > 0:
                sizes = (int(since), until)
                found, took = _probe_one(bench, collective, sizes)
                left -= took
                if found:
                    entries[range_name(collective, int(since))] = found
    return Probes(entries)


def _probe_one(
    bench: Bench, collective: str, sizes: tuple[int, float]
) -> tuple[dict[tuple[str, str], Probe], int]:
    with tempfile.TemporaryDirectory(prefix="hamtune-probe-") as directory, ExitStack() as stack:
        paths = [Path(directory) / f"probe-{index}.ht" for index in range(len(bench.traces))]
        called = [
            write_probe_trace(trace, collective, path, most_flops=bench.flops, sizes=sizes)
            for trace, path in zip(bench.traces, paths, strict=True)
        ]
        if "unread" in called or set(called) == {"none"}:
            return {}, 0
        simulator = stack.enter_context(Simulator(paths, gives_way=True))
        probing = _Probing(bench, collective, simulator, whole="some" not in called)
        try:
            return probing.run(), probing.messages
        except SimulatorError:
            return {}, probing.messages


class _Probing:
    """Probes of one collective."""

    def __init__(self, bench: Bench, collective: str, simulator: Simulator, *, whole: bool) -> None:
        self._whole = whole
        self._bench = bench
        self._name = PARAMETER + collective
        self._simulator = simulator
        self._algorithms = tuple(map(str, bench.values(self._name)))
        self._mpis = tuple(map(str, bench.values(_MPI)))
        self._others = {
            parameter.name: tuple(parameter.every())
            for parameter in bench.space.parameters
            if (found := parsed(parameter.name)) is not None and found[0] != collective
        }
        # Any placement of the ranks but the one that mappers begin with.
        self._shuffled = np.random.default_rng(0).permutation(bench.ranks)
        self._alike: dict[str, int] = {}
        self.messages = 0  # that were sent

    def run(self) -> dict[tuple[str, str], Probe]:
        found: dict[tuple[str, str], Probe] = {}
        for algorithm in self._algorithms:
            answers = {mpi: self._answer(algorithm, mpi, None) for mpi in self._mpis}
            marks = {mpi: self._marks(algorithm, mpi, answers[mpi]) for mpi in self._mpis}
            by_itself = self._whole and not self._hangs_on_others(algorithm, answers[self._mpis[0]])
            for mpi in self._mpis:
                alike = self._number(marks[mpi]) if by_itself else None
                found[algorithm, mpi] = _probe_of(answers[mpi], alike)
        return found

    def _hangs_on_others(self, algorithm: str, answer: Mapping[str, Any]) -> bool:
        """Whether it makes a difference which algorithms other collectives have."""
        for turn in range(2):
            others = {
                name: values[(len(values) // 2 + turn) % len(values)]
                for name, values in self._others.items()
            }
            if not others:
                return False
            again = self._answer(algorithm, self._mpis[0], None, others)
            if again["status"] != "infeasible" and _mark(again) != _mark(answer):
                return True
        return False

    def _marks(self, algorithm: str, mpi: str, answer: Mapping[str, Any]) -> str | None:
        if answer["status"] != "completed":
            return None
        moved = self._answer(algorithm, mpi, self._shuffled)
        return sha256_of([_mark(answer), _mark(moved)])

    def _number(self, mark: str | None) -> int | None:
        return None if mark is None else self._alike.setdefault(mark, len(self._alike))

    def _answer(
        self,
        algorithm: str,
        mpi: str,
        shuffled: Any,
        others: Mapping[str, Value] | None = None,
    ) -> dict[str, Any]:
        start = {
            name: value
            for name, value in self._bench.space.default().items()
            if not name.startswith(PARAMETER)
        }
        chosen = {**start, **(others or {}), _MPI: mpi, self._name: algorithm}
        if self._name not in {p.name for p in self._bench.space.parameters}:
            del chosen[self._name]
        try:
            resolved = self._bench.resolve(Configuration(chosen))
        except Infeasible as error:
            return {"status": "infeasible", "reason": {"message": str(error)}}
        if shuffled is not None:
            hosts = tuple(resolved.rank_hosts[rank] for rank in shuffled)
            resolved = replace(resolved, rank_hosts=hosts)
        answer = self._simulated(self._bench.request(resolved))
        completed = answer["status"] == "completed"
        sent = answer["messages"] if completed else self._bench.messages
        self.messages += max(sent, _LEAST_MESSAGES)
        return answer

    def _simulated(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the simulator answers; what ends it from outside says nothing of the algorithm."""
        for left in range(_TRIES - 1, -1, -1):
            try:
                answer = self._simulator.evaluate(
                    request, messages=self._bench.messages, wall_seconds=_WALL_SECONDS
                )
            except SimulatorError:
                if not left:
                    raise
                continue
            if not left or (answer["reason"] or {}).get("kind") != "killed":
                return answer
        raise AssertionError("unreachable")


def _mark(answer: Mapping[str, Any]) -> str:
    """What a run left behind, as far as it tells algorithms apart."""
    if answer["status"] != "completed":
        return "stopped"
    return sha256_of([answer["rank_finish_times"], answer["link_loads"]])


def _probe_of(answer: Mapping[str, Any], alike: int | None) -> Probe:
    if answer["status"] == "completed":
        return Probe(float(answer["simulated_time"]), alike)
    # What met a limit may do better in a trial, which has more.
    stops = answer["status"] == "failed" and answer["reason"]["kind"] in _STOPS
    return Probe(None, None, answer["reason"]["message"] if stops else None)
