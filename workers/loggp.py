"""A back end without a simulator: the messages of a trace by LogGP, with no contention.

Alexandrov, Ionescu, Schauser and Scheiman 1995. Ranks go through rounds (`searchspace.rounds`)
together: in each, a rank sends what it has to send, one message after the other, for its gap a byte
(G, of the cable) and its overhead (o, which is 0 here); the last message arrives a latency (L, of
its route) after it has left. Between rounds nobody computes: what the rank that computes most takes
comes before all of them. Which rank waits for which is not looked at, so an answer that has to wait
for a question may count as sent together with it. The time is for the scale of things, and costs
milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from searchspace.collectives import COLLECTIVES
from searchspace.errors import InvalidInput
from searchspace.formats.operations import decode
from searchspace.formats.trace import read_header, read_operations
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.kernels import Routes, routes
from searchspace.rounds import Rounds
from workers.back_end import Progress
from workers.engine import SimulatorError

__all__ = ["LogGP"]

_VERSION = "loggp-1"
"""Another one whenever a request comes to another answer."""
_Seconds = NDArray[np.float64]


class LogGP:
    """Evaluates by LogGP; see `BackEnd`.

    Args:
        traces: Trace files; requests name them by their position.
        gives_way: Of no meaning here: nothing is started.
    """

    def __init__(self, traces: Sequence[Path], *, gives_way: bool = False) -> None:
        self._traces = list(traces)
        self._closed = False

    @staticmethod
    def version() -> str:
        """That of what is computed here, and of the model's name."""
        return _VERSION

    @staticmethod
    def engine() -> str:
        """The model."""
        return "LogGP"

    @property
    def progress(self) -> Progress:
        """Nothing: an evaluation takes milliseconds."""
        return Progress(0.0, 0, 0, 0)

    def close(self) -> None:
        """Evaluate no more."""
        self._closed = True

    def evaluate(
        self,
        request: Mapping[str, Any],
        *,
        cutoff: float | None = None,
        memory_bytes: int | None = None,
        wall_seconds: float | None = None,
        messages: int | None = None,
    ) -> dict[str, Any]:
        """Run one evaluation: see `BackEnd.evaluate`; memory and wall time are not limited."""
        if self._closed:
            raise SimulatorError("the back end was closed")
        began = time.monotonic(), time.thread_time()
        try:
            answer = self._answer(request, messages)
        except InvalidInput as error:
            answer = _failed("invalid", str(error))
        except KeyError as error:
            answer = _failed("invalid", f"the request has no {error.args[0]}")
        if cutoff is not None and (answer["simulated_time"] or 0.0) > cutoff:
            answer = {**_failed("", ""), "status": "censored", "simulated_time": cutoff}
            answer["reason"] = None
        spent = {
            "wall_seconds": time.monotonic() - began[0],
            "cpu_seconds": time.thread_time() - began[1],
            "peak_rss_bytes": 0,
        }
        return {**answer, **spent}

    def _answer(self, request: Mapping[str, Any], most: int | None) -> dict[str, Any]:
        asked = request["applications"]
        traces = [self._traces[one["trace"]] for one in asked]
        hosts = np.array([host for one in asked for host in one["hosts"]])
        ranks = sum(read_header(trace).ranks for trace in traces)
        if len(hosts) != ranks:
            raise InvalidInput(f"{len(hosts)} hosts for {ranks} ranks", field="applications")
        rounds = TracesTraffic(traces).rounds(_algorithms(request["options"]))
        sent = int(rounds.count[rounds.number].sum())
        if most is not None and sent > most:
            return _failed("messages", f"more than {most} messages were sent")
        network = _Network(request["platform"])
        seconds = _computed(traces, network.host_speed) + network.time_of(rounds, hosts)
        return {
            "status": "completed",
            "simulated_time": seconds,
            "rank_finish_times": [[seconds] * len(one["hosts"]) for one in asked],
            "application_times": [seconds] * len(traces),
            "link_loads": network.loads_of(rounds, hosts),
            "messages": sent,
            "estimate": None,
            "reason": None,
        }


class _Network:
    """The network of a request."""

    def __init__(self, platform: Mapping[str, Any]) -> None:
        self.host_speed = float(platform["host_speed"])
        self._platform = platform
        self._edges = [(edge[0], edge[1]) for edge in platform["edges"]]
        self._ways: dict[tuple[int, int], list[tuple[int, bool]]] = {}

    def _routes(self) -> Routes:
        hosts, switches = self._platform["hosts"], self._platform.get("switches", 0)
        return routes(
            hosts + switches,
            self._edges,
            hosts=hosts if switches else None,
            tie_rule=self._platform["tie_rule"],
        )

    def _way(self, source: int, target: int) -> list[tuple[int, bool]]:
        """The cables from one host to another, and whether each is crossed from its first end."""
        if not self._ways:
            self._table = self._routes()
        if (source, target) not in self._ways:
            found = [] if source == target else list(self._table.path(source, target))
            self._ways[source, target] = found
        return self._ways[source, target]

    def time_of(self, rounds: Rounds, hosts: NDArray[np.int64]) -> float:
        """Seconds of all rounds, one after the other."""
        pairs = list(zip(hosts[rounds.sender], hosts[rounds.receiver], strict=True))
        latency = np.array([self._latency(int(u), int(v)) for u, v in pairs])
        gap = np.array([self._gap(int(u), int(v)) for u, v in pairs])
        if not len(pairs):
            return 0.0
        key = rounds.number.astype(np.int64) * rounds.ranks + rounds.sender
        leaving = np.bincount(key, rounds.size * gap, minlength=len(rounds.count) * rounds.ranks)
        busiest: _Seconds = leaving.reshape(len(rounds.count), rounds.ranks).max(axis=1)
        farthest = np.zeros(len(rounds.count))
        np.maximum.at(farthest, rounds.number, latency)
        return float((rounds.count * (busiest + farthest)).sum())

    def loads_of(self, rounds: Rounds, hosts: NDArray[np.int64]) -> list[list[float]]:
        """Bytes over each cable, from its first end to the second, and back."""
        loads = [[0.0, 0.0] for _ in self._edges]
        bytes_sent = rounds.size * rounds.count[rounds.number]
        ends = zip(hosts[rounds.sender], hosts[rounds.receiver], bytes_sent, strict=True)
        for source, target, size in ends:
            for cable, forward in self._way(int(source), int(target)):
                loads[cable][0 if forward else 1] += float(size)
        return loads

    def _latency(self, source: int, target: int) -> float:
        if source == target:
            return float(self._platform["loopback_latency"])
        hop = self._platform["link_latency"] + self._platform["switch_latency"]
        return float(len(self._way(source, target)) * hop)

    def _gap(self, source: int, target: int) -> float:
        inside = "loopback_bandwidth" if source == target else "link_bandwidth"
        return 1.0 / float(self._platform[inside])


def _computed(traces: Sequence[Path], speed: float) -> float:
    """Seconds that the rank computes that computes most."""
    flops = [
        sum(
            cast("float", operation.fields["flops"])
            for operation in decode(read_operations(trace, rank))
            if operation.name == "compute"
        )
        for trace in traces
        for rank in range(read_header(trace).ranks)
    ]
    return max(flops, default=0) / speed


def _algorithms(options: Mapping[str, str]) -> dict[str, str]:
    """The algorithms of collectives that SMPI's options name; tables by size are left out."""
    named = {name.removeprefix("smpi/"): value for name, value in options.items()}
    return {
        name: value
        for name, value in named.items()
        if name in COLLECTIVES and value in COLLECTIVES[name].algorithms
    }


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {
        "status": "failed",
        "simulated_time": None,
        "rank_finish_times": [],
        "application_times": [],
        "link_loads": [],
        "messages": None,
        "estimate": None,
        "reason": {"kind": kind, "message": message},
    }
