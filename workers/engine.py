"""Which engine evaluates: ours, where all holds that it takes for granted, or SimGrid's own.

Our engine takes the place of functions of one release of SimGrid and shares objects with it. What
the loaded library does not grant would go wrong in silence, so it is asked before the first
evaluation: `hamtune-simulator --assumptions` holds version, symbols and layouts against it,
and twenty small evaluations must come out as with SimGrid alone, to the last digit. What was found
is remembered for as long as neither the library nor the program changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from searchspace.errors import HamtuneError
from searchspace.formats.patterns import pattern_trace

__all__ = [
    "BUILT",
    "PLAIN",
    "RELEASE",
    "Engine",
    "SimulatorError",
    "engine",
    "examine",
    "versions_of",
]

_ROOT = Path(__file__).resolve().parent.parent
BUILT = _ROOT / "build/workers/simulator/hamtune-simulator"
PLAIN = BUILT.with_name("hamtune-simulator-plain")
"""The same without our engine."""

RELEASE = "3.32"
"""Of SimGrid, which our engine is made for."""

_SECONDS = 60.0
_RANKS = 4
_SIZES = (1, 70_000)  # bytes: below and above where SMPI begins to wait for the receiver
_PATTERNS = ("all-to-all", "linear")
_OPTIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"smpi/async-small-thresh": "0", "network/crosstraffic": "0"},
    {"smpi/send-is-detached-thresh": "10"},
    {"network/TCP-gamma": "20000"},
    {"smpi/coll-selector": "mvapich2"},
)
_SAME = ("status", "simulated_time", "application_times", "rank_finish_times", "link_loads")


class SimulatorError(HamtuneError):
    """The simulator cannot be started, or ended without an answer."""


class _Lack(Exception):
    """Why a program does not say what it was asked."""


@dataclass(frozen=True)
class Engine:
    """What evaluates.

    Attributes:
        program: The simulator to start.
        versions: What it says of itself: `simulator`, `simgrid`, `library`, `program`, `engine`.
        why_off: Why our engine is left out; None where it runs.
    """

    program: Path
    versions: Mapping[str, str]
    why_off: str | None = None

    def __str__(self) -> str:
        simgrid = self.versions["simgrid"]
        if self.why_off is None:
            return f"express {self.versions['engine']} on SimGrid {simgrid}"
        return f"simgrid {simgrid} (express off: {self.why_off})"


@cache
def engine() -> Engine:
    """The engine of this machine; examined at the first call.

    Raises:
        SimulatorError: No simulator starts.
    """
    return examine(BUILT, PLAIN)


def examine(program: Path, plain: Path) -> Engine:
    """Choose between a simulator with our engine and one without.

    Raises:
        SimulatorError: Neither starts.
    """
    try:
        versions = versions_of(program)
        why_off = _remembered(program, plain, versions)
    except _Lack as lack:
        why_off = str(lack) if program.exists() else f"not built; it needs SimGrid {RELEASE}"
    if why_off is None:
        return Engine(program, versions)
    try:
        return Engine(plain, versions_of(plain), why_off)
    except _Lack as lack:
        raise SimulatorError(
            f"the simulator does not start ({lack}); run ./setup.sh to build it"
        ) from None


def versions_of(program: Path) -> dict[str, str]:
    """What a simulator says of itself."""
    said: dict[str, str] = _said(program, "--version")
    return said


def _said(program: Path, question: str) -> Any:
    try:
        done = subprocess.run(
            [program, question], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        raise _Lack(f"{program.name}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise _Lack(f"{program.name} {question} does not answer") from None
    if done.returncode != 0:
        raise _Lack(_ending(done))
    return json.loads(done.stdout)


def _ending(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    if done.returncode > 0 and lines:
        return lines[-1].split(": ", 1)[-1]
    kind = "signal" if done.returncode < 0 else "status"
    return f"it ended by {kind} {abs(done.returncode)}"


def _remembered(program: Path, plain: Path, versions: Mapping[str, str]) -> str | None:
    """Why our engine cannot run, from the last time that this was asked if nothing has changed."""
    loading = {name: os.environ.get(name) for name in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    identity = json.dumps([dict(versions), str(program), loading], sort_keys=True)
    key = hashlib.sha256(identity.encode()).hexdigest()
    try:
        cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hamtune"
    except RuntimeError:  # there is no home directory: it is asked each time
        return _examined(program, plain)
    place = cached / f"engine-{key}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known: str | None = json.loads(place.read_text())["why_off"]
        return known
    why_off = _examined(program, plain)  # a lack of answers may pass, and is not remembered
    with contextlib.suppress(OSError):  # then it is asked again
        cached.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=cached, delete=False) as file:
            json.dump({"why_off": why_off}, file)
        Path(file.name).replace(place)
    return why_off


def _examined(program: Path, plain: Path) -> str | None:
    broken: list[str] = _said(program, "--assumptions")["broken"]
    if broken:
        others = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        return broken[0] + others
    return _difference(program, plain)


def _difference(program: Path, plain: Path) -> str | None:
    """What our engine computes otherwise than SimGrid alone."""
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for pattern in _PATTERNS:
            for size in _SIZES:
                trace = Path(folder) / f"{pattern}-{size}.ht"
                fields = {"ranks": _RANKS, "size": size, "count": 2, "rate": 1e4}
                pattern_trace({"pattern": pattern, **fields}, trace)
                traces.append(trace)
        requests = list(_requests(len(traces)))
        ours = _answers(program, traces, requests)
        theirs = _answers(plain, traces, requests)
    differing = sum(one != other for one, other in zip(ours, theirs, strict=True))
    if differing:
        return f"{differing} of {len(requests)} small evaluations come out otherwise than SimGrid's"
    return None


def _requests(traces: int) -> Iterator[dict[str, Any]]:
    """Ranks in a ring of three hosts, two of them on one."""
    platform = {
        "hosts": 3,
        "cores": 2,
        "host_speed": 1e9,
        "edges": [[0, 1], [1, 2], [0, 2]],
        "link_bandwidth": 1.25e8,
        "link_latency": 1e-6,
        "switch_latency": 1e-7,
        "switch_bandwidth": None,
        "loopback_bandwidth": 1e10,
        "loopback_latency": 1e-7,
        "tie_rule": "lowest-id",
    }
    for trace in range(traces):
        for options in _OPTIONS:
            yield {
                "id": "1",
                "platform": platform,
                "applications": [{"trace": trace, "hosts": [0, 1, 2, 0]}],
                "options": dict(options),
            }


def _answers(
    program: Path, traces: list[Path], requests: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    command = [str(program), "--server"]
    for trace in traces:
        command += ["--trace", str(trace)]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    try:
        done = subprocess.run(
            command, input=lines, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        raise _Lack(f"{program.name}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise _Lack(f"{program.name} does not end {len(requests)} small evaluations") from None
    if done.returncode != 0:
        raise _Lack(_ending(done))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(requests):
        raise _Lack(f"{program.name} leaves small evaluations without an answer")
    return [{name: answer.get(name) for name in _SAME} for answer in answers]
