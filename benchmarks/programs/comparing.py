"""What becomes of a program: captured, replayed, and held against plain `smpirun`."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from searchspace.collectives import called_collectives
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.platform import Resolved, resolve
from workers.capture import capture
from workers.capture_limits import Limits
from workers.capture_sandbox import CaptureFailed
from workers.simulator_client import Simulator

__all__ = ["EXACT", "Outcome", "compare", "replayed", "runs_plainly", "three_configurations"]

EXACT = 1e-9
"""Relative difference of simulated times up to which two are called equal."""

_SHOWN = 1e-15  # what smpirun's last digit of a time says, s
# The time of an event in simulated seconds, to 15 digits after the point.
_TIMING = ("--cfg=smpi/display-timing:yes", "--log=root.fmt:%.15r@%m%n")
_SIMULATED = re.compile(r"^([0-9.]+)@Simulated time: ", re.MULTILINE)
# SMPI lets 0.1 ms pass in a poll, and more in the next one, where a trace has none.
_SHORT_POLLS = (
    "--cfg=smpi/test:1e-8",
    "--cfg=smpi/iprobe:1e-8",
    "--cfg=smpi/grow-injected-times:no",
)
_CONFIGURATIONS: tuple[dict[str, object], ...] = (
    {"topology": "random", "topology_seed": 1, "mpi": "default"},
    {"topology": "torus-2d", "mpi": "mvapich2"},
    {"topology": "mesh-2d", "mpi": "ompi"},
)


@dataclass(frozen=True)
class Outcome:
    """What became of a program.

    Attributes:
        state: `exact` (as plain smpirun on all configurations), `works` (captured and replayed;
            smpirun cannot run it, or takes another time), `refused` (by name), `failed`, or
            `absent` (of a suite: nothing that plain smpirun runs).
        reason: Why it is not exact.
        difference: The largest relative one to smpirun; None where there is nothing to compare.
    """

    state: str
    reason: str = ""
    difference: float | None = None


def compare(
    command: Sequence[str],
    plain: Sequence[str],
    ranks: int,
    directory: Path,
    *,
    inputs: Sequence[Path] = (),
    limits: Limits | None = None,
) -> Outcome:
    """Capture a program, replay it on three configurations, and run it plainly on the same.

    Args:
        command: The program with the recorder in it, and its arguments.
        plain: The same without the recorder, for smpirun.
        ranks: How many.
        directory: For the files that this takes.
        inputs: Files of it that the program reads.
        limits: Of the capture, and of each plain run.
    """
    limits = limits or Limits(wall_seconds=60, idle_seconds=10, stall_seconds=30)
    trace = directory / "captured.ht"
    trace.unlink(missing_ok=True)
    try:
        capture(
            command,
            ranks,
            trace,
            declared_flops=True,
            inputs=inputs,
            limits=limits,
            sandbox=False,
        )
        resolutions = three_configurations(trace, ranks)
    except InvalidInput as error:
        # Refused by the recorder; or there is a trace, which the simulator does not take.
        return Outcome("failed" if trace.exists() else "refused", error.message)
    except CaptureFailed as error:
        return Outcome("failed", error.message)
    return _held_against(plain, resolutions, replayed(trace, ranks), directory, limits)


def _held_against(
    plain: Sequence[str],
    resolutions: Sequence[Resolved],
    times: Sequence[tuple[float | None, str]],
    directory: Path,
    limits: Limits,
) -> Outcome:
    """What comes of simulated times beside those of plain smpirun."""
    worst: float | None = None
    shorter = 0.0
    for resolved, (seconds, reason) in zip(resolutions, times, strict=True):
        expected = _plain_seconds(plain, resolved, directory, limits.wall_seconds)
        if seconds is None and expected is None:
            continue  # some of SMPI's collectives crash, in both alike
        if seconds is None:
            return Outcome("failed", reason)
        if expected is None:
            return Outcome("works", "plain smpirun does not run it")
        off = _off(seconds, expected)
        worst = max(worst or 0.0, off)
        if off > EXACT:
            expected = _plain_seconds(plain, resolved, directory, limits.wall_seconds, _SHORT_POLLS)
            shorter = max(shorter, math.inf if expected is None else _off(seconds, expected))
    if worst is None:
        return Outcome("works", "plain smpirun does not run it")
    if worst <= EXACT:
        return Outcome("exact", difference=worst)
    told = f"{worst:.1e} from plain smpirun"
    if math.isfinite(shorter):
        told += f", {shorter:.1e} with polls of 10 ns"
    return Outcome("works", told, worst)


def _off(seconds: float, expected: float) -> float:
    return max(0.0, abs(seconds - expected) - _SHOWN) / (expected or 1.0)


def runs_plainly(command: Sequence[str], ranks: int, directory: Path, seconds: float) -> bool:
    """Whether plain smpirun runs a program to its end, on any platform at all."""
    names = [f"host-{number}" for number in range(ranks)]
    (directory / "hosts").write_text("\n".join(names))
    (directory / "plain.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        f'<platform version="4.1"><cluster id="c" prefix="host-" suffix="" radical="0-{ranks - 1}" '
        'speed="1Gf" bw="1GBps" lat="1us"/></platform>'
    )
    start = ["smpirun", "-np", str(ranks), "-platform", "plain.xml", "-hostfile", "hosts"]
    start += ["--cfg=smpi/simulate-computation:no"]
    try:
        done = subprocess.run(
            [*start, *command], cwd=directory, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def three_configurations(trace: Path, ranks: int) -> list[Resolved]:
    """A random network, a torus and a mesh, each with collectives as another library chooses."""
    side = 4
    machine = parse_machine(
        {
            "nodes": side * max(side, -(-ranks // side)),
            "degree": 4,
            "host_speed": "1Gf",
            "link_bandwidth": "10Gbps",
            "link_latency": "1us",
            "network": "fluid",
        }
    )
    called = called_collectives(trace_summary(trace))
    return [
        resolve(Configuration.from_json(document), machine, ranks, collectives=called)
        for document in _CONFIGURATIONS
    ]


def replayed(trace: Path, ranks: int) -> list[tuple[float | None, str]]:
    """Simulated seconds of a trace on the three configurations, or None and why there are none."""
    with Simulator([trace]) as simulator:
        answers = [
            simulator.evaluate(resolved.simulator_request())
            for resolved in three_configurations(trace, ranks)
        ]
    return [
        (answer["simulated_time"], "")
        if answer["status"] == "completed"
        else (None, str(answer["reason"]))
        for answer in answers
    ]


def _plain_seconds(
    plain: Sequence[str],
    resolved: Resolved,
    directory: Path,
    seconds: float,
    more: Sequence[str] = (),
) -> float | None:
    """Simulated seconds of the program under plain smpirun; None where that does not run it."""
    (directory / "platform.xml").write_text(platform_xml(resolved))
    (directory / "hostfile").write_text(hostfile(resolved))
    options = {"smpi/simulate-computation": "no", **resolved.options}
    start = ["smpirun", "-np", str(len(resolved.rank_hosts)), *_TIMING]
    start += ["-platform", "platform.xml", "-hostfile", "hostfile"]
    start += [*(f"--cfg={key}:{value}" for key, value in options.items()), *more]
    try:
        done = subprocess.run(
            [*start, *plain],
            cwd=directory,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None
    found = _SIMULATED.findall(done.stdout + done.stderr)
    return float(found[-1]) if done.returncode == 0 and found else None
