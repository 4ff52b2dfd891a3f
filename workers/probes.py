"""Probing: what each algorithm does with a program's calls of its collective, by simulating these.

The calls of one collective alone are simulated under every algorithm that a job may choose, on one
network. Algorithms that leave the same loads on all cables and end every rank at the same time, in
two placements of the ranks, are the same at these sizes; one that stops the program would do so in
every trial.

What a collective does may hang on the algorithms of others: an all-reduce may call the broadcast
that was chosen, and making a communicator calls several collectives. So the calls are simulated
again beside algorithms of the others that are the same by themselves. Where that makes a
difference, these are told apart beside this algorithm.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchspace.collectives import COLLECTIVES, DEFAULT, Groups
from searchspace.collectives.by_size import PARAMETER, parsed, range_name, ranges_of
from searchspace.configuration import Configuration, Value, canonical_json, sha256_of
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
_DEAR = "alltoall"
_LEAST_MESSAGES = 100  # that a probe counts for, whatever it sends
_WALL_SECONDS = 60.0  # for what never gets on
_TRIES = 3
_TURNS = 2
"""How often at least a collective is probed beside other algorithms of the others."""
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
    with tempfile.TemporaryDirectory(prefix="hamtune-probe-") as directory:
        probings = _by_themselves(bench, Path(directory), chosen)
        twins = {probing.name: probing.twins() for probing in probings}
        for probing in probings:
            probing.beside_others(twins, _PROBES * bench.messages // len(probings))
    return Probes({probing.range: probing.found for probing in probings if probing.found})


def _by_themselves(bench: Bench, directory: Path, chosen: Sequence[str]) -> list[_Probing]:
    """The collectives whose calls can be played, each probed while the others are at defaults."""
    probings = []
    left = _PROBES * bench.messages
    ranges = ranges_of(parameter.name for parameter in bench.space.parameters)
    # All-to-alls last, which may take all that is left: two configurations are known to be the same
    # only where all of their collectives were probed.
    turns = sorted(
        bench.called,
        key=lambda name: (name.startswith(_DEAR), PARAMETER + name not in chosen, name),
    )
    for collective in turns:
        begins = ranges.get(collective, (0,))
        for since, until in itertools.zip_longest(begins, begins[1:], fillvalue=math.inf):
            if collective not in COLLECTIVES or left <= 0:
                continue
            traces = directory / range_name(collective, int(since))
            probing = _Probing(bench, collective, (int(since), until), traces)
            if probing.by_itself():
                probings.append(probing)
            left -= probing.messages
    return probings


class _Beside(NamedTuple):
    """What an algorithm does beside others.

    Attributes:
        mark: Equal for algorithms that do the same.
        groups: `Probe.beside`.
    """

    mark: str
    groups: dict[str, dict[str, int]]


class _Probing:
    """Probes of the calls of one collective, or of those of a range of sizes.

    Args:
        bench: What they are made with.
        collective: Whose calls.
        sizes: Only calls of so many bytes and more, and fewer than the second.
        directory: Of their traces; it is made.

    Attributes:
        range: What `Probes` calls them.
        name: The parameter whose values are probed.
        messages: That were sent so far.
        found: By algorithm and MPI implementation; nothing where the simulator gave up.
    """

    def __init__(
        self, bench: Bench, collective: str, sizes: tuple[int, float], directory: Path
    ) -> None:
        self.range = range_name(collective, sizes[0])
        self.name = PARAMETER + collective
        self.messages = 0
        self.found: dict[tuple[str, str], Probe] = {}
        self._bench = bench
        self._sizes = sizes
        self._directory = directory
        self._algorithms = tuple(map(str, bench.values(self.name)))
        self._mpis = tuple(map(str, bench.values(_MPI)))
        self._others = {
            parameter.name: tuple(parameter.every())
            for parameter in bench.space.parameters
            if (found := parsed(parameter.name)) is not None and found[0] != collective
        }
        # Any placement of the ranks but the one that mappers begin with.
        self._shuffled = np.random.default_rng(0).permutation(bench.ranks)
        self._paths: list[Path] = []
        self._whole = False
        self._marks: dict[tuple[str, str], str | None] = {}

    def by_itself(self) -> bool:
        """Probes every algorithm while other collectives have theirs by default.

        Returns:
            Whether there is anything to probe, and the simulator did not give up.
        """
        self._directory.mkdir()
        traces = self._bench.traces
        self._paths = [self._directory / f"probe-{index}.ht" for index in range(len(traces))]
        called = [
            write_probe_trace(
                trace,
                self.name.removeprefix(PARAMETER),
                path,
                most_flops=self._bench.flops,
                sizes=self._sizes,
            )
            for trace, path in zip(traces, self._paths, strict=True)
        ]
        if "unread" in called or set(called) == {"none"}:
            return False
        self._whole = "some" not in called
        with suppress(SimulatorError), Simulator(self._paths, gives_way=True) as simulator:
            for one in itertools.product(self._algorithms, self._mpis):
                answer = self._answer(simulator, *one)
                self._marks[one] = self._both_marks(simulator, *one, answer)
                self.found[one] = _probe_of(answer)
            return True
        self.found = {}
        return False

    def twins(self) -> list[tuple[str, str]]:
        """Pairs of algorithms that are the same by themselves, each of which stands for a group."""
        firsts: dict[str, str] = {}
        pairs = []
        for algorithm in self._algorithms:
            mark = self._marks[algorithm, self._mpis[0]]
            if mark is not None and firsts.setdefault(mark, algorithm) != algorithm:
                pairs.append((firsts[mark], algorithm))
        return pairs

    def beside_others(self, twins: Mapping[str, Sequence[tuple[str, str]]], messages: int) -> None:
        """Finds which algorithms are the same whatever the others are, and numbers them.

        Args:
            twins: By parameter, pairs of algorithms of the others that are the same by themselves.
            messages: How many this may send.
        """
        if not self._whole:
            return
        each = max(_LEAST_MESSAGES, self.messages // (2 * len(self.found)))
        turns = max(_TURNS, messages // (2 * each * len(self.found)))
        numbers: dict[Any, int] = {}
        by_mark: dict[tuple[str, str | None], _Beside | None] = {}
        try:
            with Simulator(self._paths, gives_way=True) as simulator:
                for one, probe in self.found.items():
                    key = (one[0], self._marks[one])
                    if key not in by_mark:
                        by_mark[key] = self._beside(simulator, *one, self._pairs(twins, turns))
                    beside = by_mark[key]
                    if beside is not None:
                        number = numbers.setdefault(beside.mark, len(numbers))
                        self.found[one] = replace(probe, alike=number, beside=beside.groups)
        except SimulatorError:
            self.found = {}

    def _pairs(
        self, twins: Mapping[str, Sequence[tuple[str, str]]], turns: int
    ) -> list[tuple[dict[str, str], dict[str, str]]]:
        """What the others are in turns: one algorithm each, and its twin where it has one."""
        draw = np.random.default_rng(0)
        drawn = {}
        for name, values in self._others.items():
            pairs = list(twins.get(name, ())) or [(str(value), str(value)) for value in values[1:]]
            drawn[name] = [pairs[i] for i in draw.permutation(len(pairs))]
        most = max((len(pairs) for name, pairs in drawn.items() if twins.get(name)), default=0)
        return [
            (
                {name: pairs[turn % len(pairs)][0] for name, pairs in drawn.items() if pairs},
                {name: pairs[turn % len(pairs)][1] for name, pairs in drawn.items() if pairs},
            )
            for turn in range(min(turns, max(_TURNS, most)) if drawn else 0)
        ]

    def _beside(
        self,
        simulator: Simulator,
        algorithm: str,
        mpi: str,
        pairs: Sequence[tuple[dict[str, str], dict[str, str]]],
    ) -> _Beside | None:
        """What tells an algorithm from others; None where what it hangs on is not known."""
        marks = [self._marks[algorithm, mpi]]
        if marks == [None]:
            return None
        told: dict[str, str] = {}

        def mark_beside(others: Mapping[str, Value]) -> str:
            key = canonical_json(dict(others))
            if key not in told:
                told[key] = _mark(self._answer(simulator, algorithm, mpi, others=others))
            return told[key]

        groups: dict[str, dict[str, int]] = {}
        for ones, others in pairs:
            marks.append(mark_beside(ones))
            if marks[-1] == mark_beside(others):
                continue
            differing = [name for name in ones if ones[name] != others[name]]
            for name in differing:
                if name not in groups:
                    groups[name] = self._grouped(name, mark_beside)
            if all(groups[name][ones[name]] == groups[name][others[name]] for name in differing):
                return None  # it hangs on several at once
        return _Beside(sha256_of([*marks, canonical_json(groups)]), groups)

    def _grouped(
        self, name: str, mark_beside: Callable[[Mapping[str, Value]], str]
    ) -> dict[str, int]:
        """The algorithms of another collective, by number; equal where they make no difference."""
        numbers: dict[str, int] = {}
        return {
            str(value): numbers.setdefault(mark_beside({name: value}), len(numbers))
            for value in self._others[name]
        }

    def _both_marks(
        self, simulator: Simulator, algorithm: str, mpi: str, answer: Mapping[str, Any]
    ) -> str | None:
        if answer["status"] != "completed":
            return None
        moved = self._answer(simulator, algorithm, mpi, shuffled=self._shuffled)
        return sha256_of([_mark(answer), _mark(moved)])

    def _answer(
        self,
        simulator: Simulator,
        algorithm: str,
        mpi: str,
        *,
        shuffled: Any = None,
        others: Mapping[str, Value] | None = None,
    ) -> dict[str, Any]:
        start = {
            name: value
            for name, value in self._bench.space.default().items()
            if not name.startswith(PARAMETER)
        }
        chosen = {**start, **(others or {}), _MPI: mpi, self.name: algorithm}
        if self.name not in {p.name for p in self._bench.space.parameters}:
            del chosen[self.name]
        try:
            resolved = self._bench.resolve(Configuration(chosen))
        except Infeasible as error:
            return {"status": "infeasible", "reason": {"message": str(error)}}
        if shuffled is not None:
            hosts = tuple(resolved.rank_hosts[rank] for rank in shuffled)
            resolved = replace(resolved, rank_hosts=hosts)
        answer = self._simulated(simulator, self._bench.request(resolved))
        completed = answer["status"] == "completed"
        sent = answer["messages"] if completed else self._bench.messages
        self.messages += max(sent, _LEAST_MESSAGES)
        return answer

    def _simulated(self, simulator: Simulator, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the simulator answers; what ends it from outside says nothing of the algorithm."""
        for left in range(_TRIES - 1, -1, -1):
            try:
                answer = simulator.evaluate(
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


def _probe_of(answer: Mapping[str, Any]) -> Probe:
    if answer["status"] == "completed":
        return Probe(float(answer["simulated_time"]), None)
    # What met a limit may do better in a trial, which has more.
    stops = answer["status"] == "failed" and answer["reason"]["kind"] in _STOPS
    return Probe(None, None, answer["reason"]["message"] if stops else None)
