"""Brings up what a holder holds: `python -m testbed.builder DIRECTORY HOME NODE...`.

HOME and NODEs are descriptors of network namespaces. What was asked for is in the directory; what
came of it is written there.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from searchspace.errors import HamtuneError
from searchspace.machine import parse_machine
from testbed.capacity import PROBING_RATE, measure_capacity, scale_for
from testbed.files import AGENT, DESCRIPTION, ERROR, WISHES, waiting_library
from testbed.namespaces import Namespaces, wire
from testbed.plan import plan
from testbed.shaping import BUCKET_BYTES, QUEUE_SECONDS, has_netem, shape

__all__ = ["AUTO", "main", "write_atomically"]

AUTO = "auto"
HERE = Path(__file__).parent
_LIBRARIES = ("openmpi", "mpich")
_EXECUTABLE = 0o755


def main(directory: Path, namespaces: Namespaces) -> int:
    """Wire up, shape, and describe a cluster."""
    try:
        wishes = json.loads((directory / WISHES).read_text())
        write_atomically(directory / DESCRIPTION, build(directory, wishes, namespaces))
    except (HamtuneError, OSError) as error:
        (directory / ERROR).write_text(f"{error}\n")
        return 1
    return 0


def build(directory: Path, wishes: dict[str, Any], namespaces: Namespaces) -> dict[str, Any]:
    """Build what is wished for.

    Returns:
        What is up, as JSON.
    """
    machine = parse_machine(wishes["machine"])
    whole = plan(machine)
    scratch = directory / "mounted"
    scratch.mkdir()
    congestion_control = wishes["congestion_control"]
    missed = wire(whole, namespaces, congestion_control, scratch)
    scratch.rmdir()
    with namespaces.node(0):
        latencies = has_netem()
    capacity = None
    scale = wishes["scale"]
    if scale == AUTO:
        fastest = max(cable.rate for cable in whole.cables)
        shape(plan(machine, fastest / PROBING_RATE), namespaces, latencies=False)
        capacity = measure_capacity(whole, namespaces)
        scale = scale_for(whole, capacity)
    made = plan(machine, scale)
    shape(made, namespaces, latencies=latencies)
    _make_agent(directory)
    return {
        "name": wishes["name"],
        "machine": machine.canonical(),
        "scaled_machine": made.scaled_machine.canonical(),
        "scale": scale,
        "capacity": capacity and vars(capacity),
        "hosts": list(machine.host_names),
        "switches": made.network.switches,
        "cables": [list(cable.ends) for cable in made.cables],
        "rates": [cable.rate for cable in made.cables],
        "bucket_bytes": BUCKET_BYTES,
        "queue_seconds": QUEUE_SECONDS,
        "congestion_control": congestion_control,
        "netem": latencies,
        "notes": [*made.notes, *missed, *_notes(latencies), *_make_waiting(directory)],
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "since": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def write_atomically(path: Path, document: Any) -> None:
    """Write JSON to a file that is there as a whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1))
    partial.replace(path)


def _notes(latencies: bool) -> list[str]:
    if latencies:
        return []
    return [
        "the kernel has no netem, so cables have the latency of this host's network stack in the "
        "place of the machine's"
    ]


def _make_agent(directory: Path) -> None:
    agent = directory / AGENT
    python, script = (
        str(path).replace("'", "'\\''") for path in (sys.executable, HERE / "agent.py")
    )
    agent.write_text(f"#!/bin/sh\nexec '{python}' -I -S '{script}' \"$@\"\n")
    agent.chmod(_EXECUTABLE)


def _make_waiting(directory: Path) -> list[str]:
    """Build the libraries that let ranks that wait sleep; what is missed without it."""
    for library in _LIBRARIES:
        source = HERE / f"waiting_{library}.c"
        command = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", str(source)]
        command += ["-o", str(directory / waiting_library(library)), "-ldl"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            return [
                "there is no C compiler (cc), so ranks that wait poll, and measure the scheduler"
            ]
        if done.returncode:
            raise HamtuneError(f"{source.name} does not compile:\n{done.stderr}")
    return []


if __name__ == "__main__":
    home, *nodes = map(int, sys.argv[2:])
    sys.exit(main(Path(sys.argv[1]), Namespaces(nodes, home)))
