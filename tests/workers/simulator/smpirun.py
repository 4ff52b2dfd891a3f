"""Runs of stock SimGrid that the simulator is held against."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.parts import HostPart
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


def energy(
    program: Path, arguments: list[str], resolved: Resolved, parts: HostPart, link_watts: float
) -> tuple[float, float, float]:
    """Simulated seconds of the program, and the joules of hosts and of cables by SimGrid's plugins.

    Args:
        program: One that declares its flops.
        arguments: Of the program.
        resolved: Where it runs.
        parts: What hosts draw.
        link_watts: What a cable draws, both of whose directions share its bandwidth here.
    """
    xml = platform_xml(resolved)
    tree = ElementTree.fromstring(xml)
    for host in tree.iter("host"):
        idle = parts.watts
        states = f"{idle}:{idle}:{idle + int(host.get('core', '1')) * parts.core_watts}"
        ElementTree.SubElement(host, "prop", id="wattage_per_state", value=states)
    for link in tree.iter("link"):
        if link.get("id") != "loopback":
            # The two directions of a link that has two would not get what is said of it.
            link.set("sharing_policy", "SHARED")
            watts = f"{link_watts}:{link_watts}"
            ElementTree.SubElement(link, "prop", id="wattage_range", value=watts)
    for part in tree.iter("link_ctn"):
        part.attrib.pop("direction", None)
    plugins = ["--cfg=plugin:host_energy", "--cfg=plugin:link_energy"]
    command = [*TIMING, *plugins, str(program), *arguments]
    prologue = xml[: xml.index("<platform")]  # without it SimGrid reads no platform
    platform = prologue + ElementTree.tostring(tree, "unicode")
    done = _smpirun(resolved, command, program.parent, platform)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    (time,) = SIMULATED.findall(said)
    (hosts,) = re.findall(r"Total energy consumption: ([0-9.]+) Joules", said)
    (cables,) = re.findall(r"Total energy over all links: ([0-9.]+)", said)
    return float(time), float(hosts), float(cables)


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
    resolved: Resolved, command: list[str], directory: Path, platform: str | None = None
) -> subprocess.CompletedProcess[str]:
    (directory / "platform.xml").write_text(platform or platform_xml(resolved))
    (directory / "hostfile").write_text(hostfile(resolved))
    options: Mapping[str, str] = {"smpi/simulate-computation": "no", **resolved.options}
    start = ["smpirun", "-np", str(len(resolved.rank_hosts))]
    start += ["-platform", "platform.xml", "-hostfile", "hostfile"]
    start += [f"--cfg={key}:{value}" for key, value in options.items()]
    return subprocess.run([*start, *command], cwd=directory, capture_output=True, text=True)
