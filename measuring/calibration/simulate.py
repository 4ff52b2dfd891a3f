"""Experiments on a simulated cluster: what a machine's numbers say that they take."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring.calibration.experiments import TRACE_SPEED, Experiment, rank_trace
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import Machine
from searchspace.platform import resolve
from workers.simulator_client import Simulator

__all__ = ["SimulatedCluster"]


@dataclass(frozen=True)
class _Played:
    """A trace, and the simulator that plays it."""

    simulator: Simulator
    trace: int


@dataclass(frozen=True)
class _Timed:
    """An experiment: its whole, and what comes before its clock starts."""

    name: str
    clock: int
    whole: _Played
    before: _Played | None


class SimulatedCluster:
    """Plays experiments on machines that differ in their numbers alone.

    Args:
        machine: Any of these machines: their hosts and network.
        experiments: What will be played.
        often: Whether they will be played many times. A simulator has ranks ready for the trace
            that it played last, so each experiment has one of its own then, which costs a while at
            first.

    Example:
        >>> with SimulatedCluster(machine, experiments) as cluster:  # doctest: +SKIP
        ...     cluster.seconds(machine)
    """

    def __init__(
        self, machine: Machine, experiments: Sequence[Experiment], *, often: bool = False
    ) -> None:
        self._ranks = machine.cores
        with ExitStack() as stack:
            directory = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="hamtune-calibration-"))
            )
            parts = {}
            for experiment in experiments:
                parts[experiment] = experiment
                if experiment.untimed is not None:
                    parts[experiment.untimed] = experiment.untimed
            traces = [self._write(part, directory / f"{at}.ht") for at, part in enumerate(parts)]
            if often:
                played = [_Played(stack.enter_context(Simulator([each])), 0) for each in traces]
            else:
                simulator = stack.enter_context(Simulator(traces))
                played = [_Played(simulator, at) for at in range(len(traces))]
            of = dict(zip(parts, played, strict=True))
            self._timed = [
                _Timed(
                    each.name,
                    each.clock,
                    of[each],
                    None if each.untimed is None else of[each.untimed],
                )
                for each in experiments
            ]
            self._stack = stack.pop_all()

    def __enter__(self) -> SimulatedCluster:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def seconds(self, machine: Machine) -> list[float]:
        """What each experiment takes by the clock of its rank.

        Raises:
            HamtuneError: The simulator did not complete one.
        """
        resolved = resolve(Configuration({"topology": "given"}), machine, self._ranks)
        request = resolved.simulator_request()
        request["platform"]["host_speed"] = TRACE_SPEED
        found = []
        for timed in self._timed:
            seconds = _finished(timed, timed.whole, request)
            if timed.before is not None:
                seconds -= _finished(timed, timed.before, request)
            found.append(seconds)
        return found

    def _write(self, experiment: Experiment, path: Path) -> Path:
        blocks = [rank_trace(experiment.calls.get(rank, ())) for rank in range(self._ranks)]
        write_trace(path, TraceHeader(ranks=self._ranks, program="calibration"), blocks)
        return path


def _finished(timed: _Timed, played: _Played, request: dict[str, Any]) -> float:
    """When the clock's rank has made its calls, seconds."""
    request["applications"][0]["trace"] = played.trace
    answer = played.simulator.evaluate(request)
    if answer["status"] != "completed":
        raise HamtuneError(f"'{timed.name}' cannot be simulated: {answer['reason']}")
    return float(answer["rank_finish_times"][0][timed.clock])
