"""Calibrating a machine: measuring on its cluster, fitting, and saying where numbers come from."""

from __future__ import annotations

import datetime
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring.calibration import patterns
from measuring.calibration.calibrated import (
    Calibrated,
    residual,
    residuals_by_kind,
    whole_messages,
)
from measuring.calibration.experiments import Experiment
from measuring.calibration.fits import closed_forms, eager
from measuring.calibration.fits.hosts import common_speed
from measuring.calibration.fitting import Fitted, fit
from measuring.calibration.log import Log
from measuring.calibration.measure import Bench
from measuring.calibration.plan import FLOPS, VERSION, Part, Plan, candidates, plan
from measuring.calibration.simulate import SimulatedCluster
from measuring.clusters import Cluster, Library
from searchspace.errors import InvalidInput
from searchspace.machine import Calibration, Machine, parse_machine
from workers.simulator_client import simulator_version

__all__ = ["calibrate", "under"]

_SHARE = 0.6
"""Of the time given: for measuring; the rest is for fitting."""
Say = Callable[[str], None]


def under(cluster: Cluster, machine: Machine, library: Library, seed: int) -> dict[str, Any]:
    """Under what a calibration measures: the first line of its log."""
    return {
        "machine": machine.canonical(),
        "library": library,
        "experiments": VERSION,
        "hosts": list(cluster.hosts),
        "mpi": cluster.origin(library).get("mpi"),
        "seed": seed,
    }


def calibrate(
    cluster: Cluster,
    machine: Machine,
    library: Library,
    log: Log,
    *,
    seed: int = 1,
    minutes: float = 10.0,
    measures_more: bool = True,
    say: Say = lambda _: None,
) -> Calibrated:
    """Measure on a cluster, and fit a machine to it.

    Args:
        cluster: Hosts that run MPI programs.
        machine: What is known of them: network, cores, and rates as a vendor states them.
        library: Of MPI, that is measured with.
        log: Where each run is added; what it has is not measured again. All hosts see the directory
            that it is in: the program is built there.
        seed: Of the choice of hosts, and of the order.
        minutes: That all of it may take, about.
        measures_more: Whether rounds that the log does not have are made as long as there is time.
        say: Told how it goes.

    Returns:
        The machine with fitted numbers, and what they rest on.

    Raises:
        InvalidInput: The machine has no network, other hosts, or a single one.
        HamtuneError: The program does not run, its times do not count, hosts differ, or there is
            more noise than can be fitted.
    """
    described = _described(cluster, machine)
    begun = time.monotonic()
    seconds = minutes * 60 * _SHARE
    with tempfile.TemporaryDirectory(prefix="hamtune-calibrate-", dir=log.directory) as directory:
        possible = candidates(described, seed)
        with SimulatedCluster(described, possible) as simulated:
            guesses = dict(zip(possible, simulated.seconds(described), strict=True))
        chosen = plan(described, guesses, seed=seed, seconds=seconds)
        bench = Bench(cluster, library, log, chosen.pause, Path(directory))
        say(
            f"{len(chosen.experiments)} experiments, {chosen.rounds} rounds: about "
            f"{chosen.seconds / 60:.1f} minutes of measuring"
        )
        limit = eager.find_limit(_LateReceivers(bench, described, seed).ask)
        say(_told_limit(*limit))
        _make(chosen, bench, begun + seconds if measures_more else begun, say)
    by_name = log.seconds()
    measured = {each: by_name[each.name] for each in chosen.experiments if each.name in by_name}
    middle = {each: statistics.median(times) for each, times in measured.items()}
    computed = {each.clock: t for each, t in measured.items() if each.kind == "computation"}
    speed = common_speed(computed, FLOPS)
    protocol = _of_protocol(described, middle, limit)
    if (cores := cluster.origin(library).get("cores")) is not None:
        protocol["processors"] = cores  # those of this host, which plays all hosts
    fitted = fit(described, measured, protocol, say)
    calibration = _calibration(cluster, library, fitted, log)
    document = fitted.machine.canonical()
    document["host_speed"] = float(f"{speed:.4g}")
    document["calibration"] = calibration.model_dump(mode="json")
    return Calibrated(parse_machine(document), fitted.compared, _notes(cluster, library, log))


def _described(cluster: Cluster, machine: Machine) -> Machine:
    """The machine as the packets model has it."""
    if len(cluster.hosts) < 2:
        raise InvalidInput(
            "one host has no network to calibrate; name two or more, in a testbed or in --hosts"
        )
    if machine.given_network is None:
        raise InvalidInput(
            "the machine leaves its network open; say which one the hosts are joined by (topology)",
            field="topology",
        )
    if machine.nodes != len(cluster.hosts):
        raise InvalidInput(
            f"the machine has {machine.nodes} hosts and the cluster {len(cluster.hosts)}; "
            "describe the hosts that are measured, and no others",
            field="nodes",
        )
    document = machine.canonical()
    document["network"] = "packets"
    document["host_speeds"] = None
    document["calibration"] = None
    return parse_machine(document)


class _LateReceivers:
    """Asks how long blocking sends take whose receiver comes late."""

    def __init__(self, bench: Bench, machine: Machine, seed: int) -> None:
        near = next(each for each in candidates(machine, seed) if each.kind == "ping-pong")
        self._pair = (near.clock, next(rank for rank in near.calls if rank != near.clock))
        self._bench = bench

    def ask(self, step: int, sizes: Sequence[int]) -> Mapping[int, float]:
        late = [patterns.late_receiver(*self._pair, size, eager.LATE) for size in sizes]
        row = self._bench.run(Part(f"eager {step}", tuple((each, 1) for each in late)))
        return {each.bytes: min(row.seconds[each.name]) for each in late}


def _told_limit(low: int, high: int | None) -> str:
    if high is None:
        return f"messages of up to {low} bytes at least travel before they are asked for"
    return f"messages of up to {low} bytes travel before they are asked for (eager limit)"


def _make(chosen: Plan, bench: Bench, until: float, say: Say) -> None:
    """Make all rounds, or as many as there is time for."""
    rounds = chosen.in_rounds()
    for number, parts in enumerate(rounds):
        if number >= chosen.least_rounds and time.monotonic() > until:
            say(f"the time for measuring is over after {number} of {len(rounds)} rounds")
            return
        for at, part in enumerate(parts, 1):
            row = bench.run(part)
            busy = row.details.get("busy")
            told = f", cores busy {busy:.0%}" if busy is not None else ""
            say(f"round {number + 1} of {len(rounds)}: run {at} of {len(parts)}{told}")


def _of_protocol(
    machine: Machine, middle: Mapping[Experiment, float], limit: tuple[int, int | None]
) -> dict[str, Any]:
    """Fields of the protocol that are seen directly."""
    assert machine.protocol is not None, "of the packets model"
    low, high = limit
    eager_limit = None if high is None else low
    rate = closed_forms.bandwidth(middle, machine.protocol)
    payload = rate / closed_forms.wire_factor(machine.protocol)
    least, most = closed_forms.send_buffer(middle, payload)
    buffer = least if most is not None else max(least, machine.protocol.send_buffer or 0)
    if eager_limit is not None:
        # Libraries that let large messages wait for their receiver copy those that do not.
        buffer = max(buffer, eager_limit + machine.protocol.message_header)
    return {
        "eager_limit": eager_limit,
        "exchange_above": machine.protocol.exchange_above if eager_limit is None else eager_limit,
        "send_buffer": buffer,
    }


def _calibration(cluster: Cluster, library: Library, fitted: Fitted, log: Log) -> Calibration:
    origin = cluster.origin(library)
    software = {"mpi": str(origin.get("mpi")), "simulator": simulator_version()}
    if "kernel" in origin:
        software["kernel"] = str(origin["kernel"])
    dates = [row.date for row in log.counting()]
    whole = residual(whole_messages(fitted.compared))
    return Calibration(
        date=datetime.date.fromisoformat(max(dates)),
        software=software,
        scale=1.0 / float(origin.get("scale", 1.0)),
        points=whole.points,
        median=whole.median,
        error=whole.error,
        residuals=residuals_by_kind(fitted.compared),
        intervals={
            name: (float(f"{low:.4g}"), float(f"{high:.4g}"))
            for name, (low, high) in fitted.intervals.items()
        },
    )


def _notes(cluster: Cluster, library: Library, log: Log) -> list[str]:
    doubtful = sum(1 for row in log.rows if row.doubts)
    notes = list(cluster.origin(library).get("notes", ()))
    if first := [seconds for row in log.counting() for seconds in row.first]:
        # An exchange has the first messages of both ranks.
        each = max(0.0, statistics.fmean(first) / 2)
        notes.append(
            f"the first message of a rank to each peer takes {each * 1e3:.2f} ms more, for "
            "connections are set up then; the machine is that of connections that stand: for short "
            f"programs set protocol.peer_overhead to {each:.2g}"
        )
    if doubtful:
        notes.append(f"{doubtful} of {len(log.rows)} runs did not count and were made again")
    return notes
