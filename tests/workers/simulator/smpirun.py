"""Runs of stock SimGrid that the simulator is held against."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.platform import Resolved
from workers.capture import APPLICATIONS, builtin_sources

# The time of an event in simulated seconds, to 15 digits after the point.
TIMING = ("--cfg=smpi/display-timing:yes", "--log=root.fmt:%.15r@%m%n")
SIMULATED = re.compile(r"^([0-9.]+)@Simulated time: ", re.MULTILINE)


def compile_builtin(name: str, directory: Path) -> Path:
    """A built-in program that declares its flops, without our recorder."""
    program = directory / name
    flags = ["-O2", "-DHAMTUNE_DECLARE_FLOPS", f"-I{APPLICATIONS}"]
    command = ["smpicc", *flags, *map(str, builtin_sources(name)), "-lm", "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program


def live(program: Path, arguments: list[str], resolved: Resolved) -> float | None:
    """Simulated seconds of the program itself; None when SMPI gives up."""
    return _timed(resolved, [str(program), *arguments], program.parent)


def record_stock_trace(program: Path, arguments: list[str], resolved: Resolved) -> Path:
    """The stock time-independent trace of a run."""
    trace = program.parent / "stock.trace"
    # Stock traces keep six digits of an amount unless told otherwise.
    options = ["-trace-ti", "-trace-file", str(trace), "--cfg=tracing/precision:17"]
    # Some algorithms poll, which the tracing takes for computation; SMPI's own choices do not.
    plain = replace(resolved, options={"network/model": "SMPI"})
    done = _smpirun(plain, [*options, str(program), *arguments], program.parent)
    assert done.returncode == 0, done.stderr
    return trace


def replay_stock_trace(trace: Path, resolved: Resolved) -> float | None:
    """Simulated seconds of SimGrid's own replay; None when it gives up."""
    # Or the replay leaves out the computations of the trace. It measures none of its own.
    options = {**resolved.options, "smpi/simulate-computation": "yes"}
    return _timed(replace(resolved, options=options), ["-replay", str(trace)], trace.parent)


def _timed(resolved: Resolved, command: list[str], directory: Path) -> float | None:
    done = _smpirun(resolved, [*TIMING, *command], directory)
    if done.returncode != 0:
        return None
    (time,) = SIMULATED.findall(done.stdout + done.stderr)
    return float(time)


def _smpirun(
    resolved: Resolved, command: list[str], directory: Path
) -> subprocess.CompletedProcess[str]:
    (directory / "platform.xml").write_text(platform_xml(resolved))
    (directory / "hostfile").write_text(hostfile(resolved))
    options: Mapping[str, str] = {"smpi/simulate-computation": "no", **resolved.options}
    start = ["smpirun", "-np", str(len(resolved.rank_hosts))]
    start += ["-platform", "platform.xml", "-hostfile", "hostfile"]
    start += [f"--cfg={key}:{value}" for key, value in options.items()]
    return subprocess.run([*start, *command], cwd=directory, capture_output=True, text=True)
