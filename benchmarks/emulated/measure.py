"""Measures a set and writes it down: every repetition, and under what it was taken."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.emulated.cases import (
    HOSTS,
    NETWORKS,
    PROGRAM_ALGORITHMS,
    PROGRAM_NETWORKS,
    PROGRAMS,
    SETS,
    Case,
    settings_of,
)
from benchmarks.emulated.cluster import Cluster, Link, RunFailed
from searchspace.builtins import BuiltinRun
from searchspace.formats.trace import read_header
from searchspace.kernels import trace_summary
from workers.capture import APPLICATIONS, builtin_sources
from workers.merge import merge
from workers.recorder_build import LIBRARY, build_recorder

__all__ = ["COMPILER", "PROGRAM_SET", "measure"]

PROGRAM_SET = "programs"
COMPILER = "mpicc.openmpi"
HERE = Path(__file__).parent
ROUNDS = 2
WARM_UPS, REPETITIONS = 1, 4
SMALL = 4096
"""Up to this size repetitions take milliseconds, and there are more of them."""
SMALL_WARM_UPS, SMALL_REPETITIONS = 5, 25
PROGRAM_RUNS, FLOOR_RUNS = 5, 3
FASTER = 100
"""Cables that fast say what the cores alone need for a program."""
ATTEMPTS = 5
"""How often a run is taken anew in which the kernel sent a segment again."""
LIMIT_SECONDS = 300.0
_RECORDED_SPEED = 1e9  # flop/s that the recorder turns seconds into
_BOUNCED = (1, 1024, 16_384, 65_536, 131_072, 262_144)
_HOPS = (1, 2, 4, 8)


class Bench:
    """The programs that are run, built for this machine, and how they are run.

    Args:
        directory: Where they are built.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra"]
        self.collective = self._build("collective", [HERE / "collective.c"], flags)
        shared = [*flags, "-shared", "-fPIC"]
        self.waiting = self._build("waiting.so", [HERE / "waiting.c"], shared)
        self.elapsed = self._build("elapsed.so", [HERE / "elapsed.c"], shared)
        self.whole = self._build("whole.so", [HERE / "whole.c"], shared)

    def program(self, run: BuiltinRun) -> list[str]:
        """Build a built-in program; gives the command that runs it."""
        flags = ["-O2", "-w", f"-I{APPLICATIONS}"]
        built = self._build(run.program, builtin_sources(run.program), flags)
        return [str(built), *map(str, run.parameters.values())]

    def run(
        self,
        cluster: Cluster,
        algorithms: Mapping[str, str],
        command: Sequence[str],
        *,
        preloaded: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
        attempts: int = ATTEMPTS,
    ) -> tuple[str, dict[str, Any]]:
        """Run a program until no segment was sent again meanwhile, or `attempts` times.

        Returns:
            What it printed, and under what: the load of the machine before, attempts, what the
            kernel counted in the last one, bytes on cables.

        Raises:
            RunFailed: It failed, or there was none of several attempts without segments sent again.
        """
        # Ranks ask their sockets by epoll, which `waiting.c` can then wait for as well.
        settings = {**settings_of(algorithms), "opal_event_include": "epoll"}
        libraries = ":".join(map(str, (self.waiting, *preloaded)))
        environment = {"LD_PRELOAD": libraries, **(variables or {})}
        arguments = [word for item in settings.items() for word in ("--mca", *item)]
        for name, value in environment.items():
            arguments += ["-x", f"{name}={value}"]
        for attempt in range(1, attempts + 1):
            load, before = round(os.getloadavg()[0], 2), cluster.counts()
            said = cluster.mpirun(
                [*arguments, *command],
                environment={"TMPDIR": str(self.directory)},
                seconds=LIMIT_SECONDS,
            )
            counted = cluster.counts().since(before)
            if not any(counted.sent_again.values()) or attempts == 1:
                under = {"load": load, "attempts": attempt, "cable_bytes": counted.cable_bytes}
                return said, under
        raise RunFailed(f"segments were sent again in each of {attempts} runs: {counted}")

    def _build(self, name: str, sources: Sequence[Path], flags: Sequence[str]) -> Path:
        built = self.directory / name
        command = [COMPILER, *flags, *map(str, sources), "-o", str(built), "-lm", "-ldl"]
        subprocess.run(command, check=True)
        return built


def measure(name: str, link: Link, output: Path) -> None:
    """Measure a set on an emulated cluster and write it to a file, network by network."""
    found: dict[str, Any] = {"set": name, "origin": _origin(), "link": vars(link)}
    found["networks"] = {}
    with tempfile.TemporaryDirectory(prefix="hamtune-emulated-") as directory:
        bench = Bench(Path(directory))
        for part in _programs(bench, link) if name == PROGRAM_SET else _set(bench, name, link):
            for key, value in part.items():
                found.setdefault(key, []).extend(value)
            used = {row["network"] for row in found.get("cases", []) + found.get("programs", [])}
            found["networks"] = {network: _described(network) for network in sorted(used)}
            output.write_text(_text(found))


def _text(found: Mapping[str, Any]) -> str:
    """JSON with a line for each row of what was measured."""
    parts = []
    for key, value in found.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            parts.append(f' "{key}": [\n{rows}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _origin() -> dict[str, Any]:
    """By what and on what, and when."""
    mpi = subprocess.run(["ompi_info", "--parsable"], capture_output=True, text=True).stdout
    versions = [line for line in mpi.splitlines() if line.startswith("ompi:version:full:")]
    ip = subprocess.run(["ip", "-Version"], capture_output=True, text=True).stdout
    return {
        "measured_by": "python -m benchmarks.emulated measure",
        "date": datetime.date.today().isoformat(),
        "mpi": "Open MPI " + versions[0].rpartition(":")[2],
        "kernel": platform.release(),
        "iproute2": ip.strip().rpartition("iproute2-")[2].rstrip(","),
        "cores": os.cpu_count(),
    }


def _described(name: str) -> dict[str, Any]:
    network = NETWORKS[name]
    return {
        "family": network.family,
        "degree": network.degree,
        "seed": network.seed,
        "edges": [list(edge) for edge in network.graph().edges],
    }


def _warm(bench: Bench, cluster: Cluster) -> None:
    """Let the kernel learn the ways: its first messages in a new cluster are slow."""
    command = [str(bench.collective), "alltoall", "1", "1", "1"]
    bench.run(cluster, {"alltoall": "ring"}, command)


def _set(bench: Bench, name: str, link: Link) -> Iterator[dict[str, list[dict[str, Any]]]]:
    cases = SETS[name]
    for network, here in itertools.groupby(cases, lambda case: case.network):
        with Cluster(NETWORKS[network].graph(), link) as cluster:
            _warm(bench, cluster)
            if network == "ring":
                yield {"pingpong": list(_pingpong(bench, cluster))}
            runs: dict[Case, list[dict[str, Any]]] = {case: [] for case in here}
            for case in list(runs) * ROUNDS:
                runs[case].append(_repeat(bench, cluster, case))
            yield {"cases": [_row(case, of_case) for case, of_case in runs.items()]}


def _repeat(bench: Bench, cluster: Cluster, case: Case) -> dict[str, Any]:
    small = case.bytes <= SMALL
    warm_ups = SMALL_WARM_UPS if small else WARM_UPS
    repetitions = SMALL_REPETITIONS if small else REPETITIONS
    command = [str(bench.collective), case.collective, str(case.bytes)]
    command += [str(warm_ups), str(repetitions)]
    said, under = bench.run(cluster, {case.collective: case.algorithm}, command)
    return {**under, **_repetitions(said)}


def _repetitions(said: str) -> dict[str, Any]:
    rows = [[float(word) for word in line.split()] for line in said.splitlines()]
    return {"seconds": [row[0] for row in rows], "latest_start": max(row[1] for row in rows)}


def _row(case: Case, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    seconds = [each for run in runs for each in run["seconds"]]
    row = {**vars(case), "seconds": statistics.median(seconds), "runs": runs}
    loads = ", ".join(f"{run['load']:.1f}" for run in runs)
    spread = (max(seconds) - min(seconds)) / row["seconds"]
    print(
        f"{case.network:10} {case.collective:10} {case.bytes:8} {case.algorithm:20} "
        f"{row['seconds']:9.5f} s  spread {spread:4.0%}  load {loads}",
        flush=True,
    )
    return row


def _pingpong(bench: Bench, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """One message alone, over one cable in several sizes, and a byte over several cables."""
    for hops, size in (*((1, size) for size in _BOUNCED), *((hops, 1) for hops in _HOPS[1:])):
        command = [str(bench.collective), "pingpong", str(size), "1", "10", str(hops)]
        said, under = bench.run(cluster, {}, command)
        seconds = _repetitions(said)["seconds"]
        median = statistics.median(seconds)
        print(f"pingpong {hops} hops {size:7} bytes {median * 1e6:9.1f} us", flush=True)
        yield {
            "hops": hops,
            "bytes": size,
            "seconds": median,
            "runs": [{**under, "seconds": seconds}],
        }


def _programs(bench: Bench, link: Link) -> Iterator[dict[str, list[dict[str, Any]]]]:
    recorder = bench.directory / "recorder"
    build_recorder(COMPILER, recorder)
    faster = replace(link, rate=FASTER * link.rate, bucket_bytes=FASTER * link.bucket_bytes)
    for network in PROGRAM_NETWORKS:
        graph = NETWORKS[network].graph()
        with Cluster(graph, link) as cluster, Cluster(graph, faster) as fast:
            _warm(bench, cluster)
            _warm(bench, fast)
            for name, program in PROGRAMS.items():
                row = _program(bench, cluster, program, PROGRAM_RUNS)
                row["floor"] = _program(bench, fast, program, FLOOR_RUNS)["seconds"]
                libraries = [recorder / LIBRARY]
                row["elapsed"] = _computation(bench, cluster, program, [bench.elapsed, *libraries])
                row["cpu"] = _computation(bench, cluster, program, libraries)
                print(
                    f"{network:10} {name:10} {row['seconds']:9.5f} s, {row['floor']:.5f} s with "
                    f"fast cables, computing {row['elapsed']:.5f} s",
                    flush=True,
                )
                yield {"programs": [{"network": network, "program": name, **row}]}


def _program(bench: Bench, cluster: Cluster, program: BuiltinRun, count: int) -> dict[str, Any]:
    """The time of the whole program, run by run."""
    command = bench.program(program)
    runs = []
    for _ in range(count):
        said, under = bench.run(cluster, PROGRAM_ALGORITHMS, command, preloaded=[bench.whole])
        whole = [line.split()[1] for line in said.splitlines() if line.startswith("whole ")]
        runs.append({**under, "seconds": [float(whole[0])]})
    seconds = [run["seconds"][0] for run in runs]
    return {"seconds": statistics.median(seconds), "runs": runs}


def _computation(
    bench: Bench, cluster: Cluster, program: BuiltinRun, libraries: Sequence[Path]
) -> float:
    """Seconds that all ranks together compute between their calls, as the recorder sees it."""
    with tempfile.TemporaryDirectory(dir=bench.directory) as directory:
        recording, trace = Path(directory) / "recording", Path(directory) / "run.ht"
        recording.mkdir()
        variables = {
            "HAMTUNE_RECORD_DIRECTORY": str(recording),
            "HAMTUNE_RECORD_HOST_SPEED": str(_RECORDED_SPEED),
        }
        command = bench.program(program)
        bench.run(cluster, PROGRAM_ALGORITHMS, command, preloaded=libraries, variables=variables)
        merge(recording, trace)
        assert read_header(trace).ranks == HOSTS
        return trace_summary(trace)["flops"] / _RECORDED_SPEED
