"""What this host can do for an emulated cluster, in plain sentences."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from testbed.clusters import DEFAULT_CONGESTION_CONTROL

__all__ = ["Finding", "examine"]

_TCP = Path("/proc/sys/net/ipv4")
_FILLS_BOTH = ("reno", "bbr")
_MPI = {
    "openmpi": ("mpirun.openmpi", "Open MPI", "openmpi-bin"),
    "mpich": ("mpiexec.mpich", "MPICH", "mpich"),
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: `failed` forbids testbeds, `missing` only takes something."""

    name: str
    status: Literal["ok", "missing", "failed"]
    text: str


def examine() -> list[Finding]:
    """Look at the kernel, the MPI libraries and the tools of this host."""
    kernel = _kernel()
    return [
        _namespaces(kernel),
        _bucket(kernel),
        _latency(kernel),
        _order(kernel),
        _congestion_control(),
        *(_mpi(library) for library in _MPI),
        _compiler(),
        Finding("cores", "ok", f"{len(os.sched_getaffinity(0))} cores play all hosts"),
    ]


def _kernel() -> Mapping[str, str]:
    """What a process in new namespaces finds that it can do; with `refused` where it gets none."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [sys.executable, "-m", "testbed.probe", scratch],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
    found = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["nothing said why"]
        return {**found, "refused": lines[-1]}
    return found


def _namespaces(kernel: Mapping[str, str]) -> Finding:
    if "refused" in kernel:
        return Finding(
            "namespaces",
            "failed",
            f"the kernel ({platform.release()}) refuses namespaces: {kernel['refused']}; run as "
            "root, or allow user namespaces (sysctl user.max_user_namespaces, "
            "kernel.apparmor_restrict_unprivileged_userns)",
        )
    how = "in a user namespace" if kernel["user"] == "yes" else "as root"
    return Finding("namespaces", "ok", f"network, name and process namespaces can be made, {how}")


def _finding(
    name: str, fine: str, otherwise: str, bad: Literal["missing", "failed"]
) -> Callable[[Mapping[str, str]], Finding]:
    def tell(kernel: Mapping[str, str]) -> Finding:
        if kernel.get(name) == "yes":
            return Finding(name, "ok", fine)
        return Finding(name, bad, otherwise if "refused" not in kernel else "could not be tried")

    return tell


_bucket = _finding(
    "tbf",
    "cables can have a rate (tbf)",
    "the kernel has no tbf, without which cables have no rate (module sch_tbf)",
    "failed",
)
_latency = _finding(
    "netem",
    "cables can have a latency (netem)",
    "the kernel has no netem: cables have the latency of this host's network stack in the place of "
    "the machine's (module sch_netem)",
    "missing",
)
_order = _finding(
    "rps",
    "frames of a cable can be kept in order (rps)",
    "frames of a cable cannot be kept in order (rps), so TCP may take some for lost",
    "missing",
)


def _congestion_control() -> Finding:
    available = (_TCP / "tcp_available_congestion_control").read_text().split()
    usable = [name for name in _FILLS_BOTH if name in available]
    text = f"TCP has {', '.join(available)}; {DEFAULT_CONGESTION_CONTROL} is taken unless told"
    if not usable:
        return Finding("tcp", "missing", f"{text}, and none of these fills both directions")
    return Finding("tcp", "ok", text)


def _mpi(library: str) -> Finding:
    command, title, package = _MPI[library]
    if shutil.which(command) is None:
        return Finding(library, "missing", f"{title} is not installed (Debian: {package})")
    said = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"\d+\.\d+(\.\d+)?", said)
    return Finding(library, "ok", f"{title} {version[0] if version else ''} ({command})")


def _compiler() -> Finding:
    if shutil.which("cc") is None:
        return Finding(
            "cc", "missing", "there is no C compiler (cc), so ranks that wait poll (Debian: gcc)"
        )
    return Finding("cc", "ok", "ranks that wait can be let sleep (cc)")
