"""Programs recorded under SMPI beside the same programs recorded under Open MPI.

    .venv/bin/python -m benchmarks.recording [--programs cg.S lu.S ...] [--ranks 8] [--repeats 9]
        [--output FILE.json]
    .venv/bin/python -m benchmarks.recording --keep
    .venv/bin/python -m benchmarks.recording table

A capture runs all ranks in one process, in turns; under Open MPI each is a process. Both should say
the same of what the program computes. Each program is recorded under both in turns, the median of
each computation over the repeats makes a trace of either kind, and both traces are simulated on the
same machines: one on which computation takes nearly all the time, and one on which messages do.

Reported are the CPU seconds between calls, all ranks together (median of the repeats, and their
range relative to it), the ratio of SMPI's to Open MPI's with the 95% interval of a bootstrap over
the repeats, the ratio of the least, what a user is told (`uncertainty` of the trace, `spread` of
its captures), and the ratios of the simulated times. The bars: simulated times within 10%, and a
difference of the computation that is not larger than what both recordings say of themselves. The
exit status is 1 if one is missed.

CPU time does not count what other processes take, but they empty the caches: the load of the
machine is part of the result. `--keep` measures all programs and writes benchmarks/recording.json
and its table in docs/benchmarks.md, `table` only the table of what was kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import add_keep, add_table, markdown, missed_unless, write_table
from searchspace.configuration import Configuration
from searchspace.formats.repeats import merge_repeats
from searchspace.formats.trace import (
    RankFile,
    TraceHeader,
    read_header,
    read_operations,
    write_trace,
)
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from workers.capture import APPLICATIONS, builtin_sources, capture
from workers.merge import merge
from workers.recorder_build import LIBRARY, build_recorder
from workers.simulator_client import Simulator, simulator_version

RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "benchmarks.md", "recordings"

PROGRAMS = ("cg.S", "cg.A", "lu.S", "mg.S", "ft.S", "is.S", "stencil3d.32.20")
"""A program of `applications/` and its arguments; none of them declares its flops here."""
RANKS, REPEATS = 8, 9
HOST_SPEED = 1e9
"""flop/s of recorders and hosts alike: simulated hosts are as fast as this machine's cores."""
MACHINES = {
    "fast": {"link_bandwidth": "40Gbps", "link_latency": "500ns"},
    "gigabit": {"link_bandwidth": "1Gbps", "link_latency": "25us"},
}
NETWORK = Configuration({"topology": "random", "topology_seed": 1})
MOST_DIFFERENCE = 0.1
LIMIT_SECONDS = 900
SIDES = ("smpi", "openmpi")
MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe")


@dataclass
class Side:
    """Recordings of one program under one MPI library."""

    traces: list[Path] = field(default_factory=list)

    def seconds(self) -> list[float]:
        """CPU seconds of the computation, of each recording."""
        return [_measured(read_header(trace)).seconds for trace in self.traces]

    def uncertainty(self) -> float:
        """What a recording says of its measurement; the median."""
        headers = map(read_header, self.traces)
        return float(statistics.median(_measured(header).uncertainty for header in headers))

    def merged(self, output: Path) -> TraceHeader:
        """Write a trace of the medians, as captures of a source application are merged."""
        headers = [read_header(trace) for trace in self.traces]
        with tempfile.TemporaryDirectory(dir=output.parent) as directory:
            captures = []
            for number, (trace, header) in enumerate(zip(self.traces, headers, strict=True)):
                files = []
                for rank in range(header.ranks):
                    path = Path(directory) / f"{number}-{rank}"
                    path.write_bytes(read_operations(trace, rank))
                    files.append(RankFile(path, 1))
                captures.append(files)
            ranks, repeats = merge_repeats(captures, Path(directory))
            return write_trace(output, headers[0].model_copy(update={"repeats": repeats}), ranks)


class Bench:
    """Builds the recorder and the programs for Open MPI, and records under either library."""

    def __init__(self, directory: Path, ranks: int) -> None:
        self._directory = directory
        self._ranks = ranks
        build_recorder("mpicc.openmpi", directory)

    def under_smpi(self, name: str, output: Path) -> None:
        """Capture a program as a user's, whose computation is measured."""
        program, *arguments = name.split(".")
        command = [*map(str, builtin_sources(program)), *arguments]
        flags = [f"-I{APPLICATIONS}"]
        capture(command, self._ranks, output, host_speed=HOST_SPEED, compiler_flags=flags)

    def under_openmpi(self, name: str, output: Path) -> None:
        """Run it with the recorder preloaded, and merge what it leaves."""
        program, *arguments = name.split(".")
        binary = self._directory / program
        if not binary.exists():
            sources = map(str, builtin_sources(program))
            compiler = ["mpicc.openmpi", "-O2", "-w", f"-I{APPLICATIONS}"]
            subprocess.run([*compiler, *sources, "-o", str(binary), "-lm"], check=True)
        with tempfile.TemporaryDirectory(dir=self._directory) as recording:
            settings = {
                "LD_PRELOAD": str(self._directory / LIBRARY),
                "HAMTUNE_RECORD_DIRECTORY": recording,
                "HAMTUNE_RECORD_HOST_SPEED": repr(HOST_SPEED),
            }
            command = [*MPIRUN, "-np", str(self._ranks), "env"]
            command += [f"{key}={value}" for key, value in settings.items()]
            done = subprocess.run(
                [*command, str(binary), *arguments],
                capture_output=True,
                text=True,
                timeout=LIMIT_SECONDS,
                # Open MPI's session directories of several users of one machine meet in /tmp.
                env=os.environ | {"TMPDIR": str(self._directory)},
            )
            if done.returncode:
                raise SystemExit(f"{name} failed under Open MPI:\n{done.stdout}{done.stderr}")
            merge(Path(recording), output)


def compare(bench: Bench, name: str, repeats: int, folder: Path) -> dict[str, Any]:
    """Record one program under both, and simulate both recordings."""
    smpi, openmpi = Side(), Side()
    sides = (smpi, bench.under_smpi, "smpi"), (openmpi, bench.under_openmpi, "openmpi")
    for turn in range(repeats):
        for side, record, label in sides if turn % 2 else sides[::-1]:
            trace = folder / f"{name}-{label}-{turn}.ht"
            record(name, trace)
            side.traces.append(trace)
    row: dict[str, Any] = {"program": name, "load": os.getloadavg()[0], "simulated": {}}
    traces = []
    for side, _, label in sides:
        traces.append(folder / f"{name}-{label}.ht")
        header = side.merged(traces[-1])
        seconds = side.seconds()
        row[label] = {
            "cpu_seconds": seconds,
            "median": statistics.median(seconds),
            "range": (max(seconds) - min(seconds)) / statistics.median(seconds),
            "uncertainty": side.uncertainty(),
            "spread": header.repeats.spread if header.repeats else 0.0,
            "stretches": _measured(header).stretches,
            "empty_stretch": _measured(header).empty_stretch,
        }
    row["ratio"], row["interval"] = ratio(smpi.seconds(), openmpi.seconds())
    row["ratio_of_least"] = min(smpi.seconds()) / min(openmpi.seconds())
    for machine in MACHINES:
        times = [simulated(trace, machine) for trace in traces]
        row["simulated"][machine] = {"smpi": times[0], "openmpi": times[1]}
    return row


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Ratio of the medians, and its 95% interval over resampled repeats."""
    draw = random.Random(1)

    def resampled(sample: Sequence[float]) -> float:
        return statistics.median(draw.choices(sample, k=len(sample)))

    drawn = sorted(resampled(ours) / resampled(theirs) for _ in range(2000))
    return statistics.median(ours) / statistics.median(theirs), (drawn[50], drawn[-50])


def simulated(trace: Path, machine: str) -> float:
    """Seconds that a trace takes on a random regular network, of degree 3 at most."""
    ranks = read_header(trace).ranks
    document = {
        "nodes": ranks,
        "degree": min(3, ranks - 1),
        "host_speed": HOST_SPEED,
        **MACHINES[machine],
    }
    request = resolve(NETWORK, parse_machine(document), ranks).simulator_request()
    with Simulator([trace]) as simulator:
        answer = simulator.evaluate(request)
    if answer["status"] != "completed":
        raise SystemExit(f"{trace.name}: {answer['status']}: {answer['reason']}")
    return float(answer["simulated_time"])


def _measured(header: TraceHeader) -> Any:
    assert header.measured is not None
    return header.measured


def show(bars: Bars, row: dict[str, Any]) -> None:
    """Print what was found of a program, and judge it."""
    smpi, openmpi = row["smpi"], row["openmpi"]
    low, high = row["interval"]
    print(
        f"{row['program']}: {smpi['stretches']} stretches; CPU ms under Open MPI "
        f"{1e3 * openmpi['median']:.2f} (range {openmpi['range']:.1%}), under SMPI "
        f"{1e3 * smpi['median']:.2f} (range {smpi['range']:.1%}): ratio {row['ratio']:.3f} "
        f"({low:.3f} to {high:.3f}), of the least {row['ratio_of_least']:.3f}; "
        f"load {row['load']:.1f}"
    )
    bars.at_most("computation differs, of what both say", abs(row["ratio"] - 1), told(row))
    for machine, times in row["simulated"].items():
        difference = abs(times["smpi"] / times["openmpi"] - 1)
        bars.at_most(f"simulated times differ, {machine}", difference, MOST_DIFFERENCE)


def told(row: dict[str, Any]) -> float:
    """By how much both recordings of a program say together that they may be wrong."""
    return sum(float(row[side]["uncertainty"] + row[side]["range"] / 2) for side in SIDES)


def recording_table() -> str:
    """The table of the documentation, as the results have it."""
    kept = json.loads(RESULTS.read_text())
    loads = [row["load"] for row in kept["programs"]]
    heads = [
        f"{kept['date']}, Open MPI {kept['openmpi']}, {kept['ranks']} ranks, "
        f"load {min(loads):.1f} to {max(loads):.1f}",
        "stretches",
        "Open MPI, CPU ms (range)",
        "SMPI, CPU ms (range)",
        "SMPI / Open MPI (95%)",
        "differs by, of what both say",
        *(f"`{name}`, SMPI / Open MPI" for name in MACHINES),
    ]
    return markdown(heads, map(_cells, kept["programs"]))


def _cells(row: dict[str, Any]) -> list[str]:
    smpi, openmpi = (row[side] for side in SIDES)
    low, high = row["interval"]
    difference, most = abs(row["ratio"] - 1), told(row)
    cells = [row["program"], f"{smpi['stretches']:,}"]
    cells += [f"{1e3 * side['median']:,.1f} ({side['range']:.0%})" for side in (openmpi, smpi)]
    cells.append(f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})")
    cells.append(f"{difference:.0%} of {most:.0%}{missed_unless(difference <= most)}")
    for name in MACHINES:
        times = row["simulated"][name]
        ratio = times["smpi"] / times["openmpi"]
        cells.append(f"{ratio:.3f}{missed_unless(abs(ratio - 1) <= MOST_DIFFERENCE)}")
    return cells


def versions() -> dict[str, str]:
    """What was compared, when and where."""
    mpirun = subprocess.run([MPIRUN[0], "--version"], capture_output=True, text=True, check=True)
    return {
        **measured_now(),
        "openmpi": mpirun.stdout.splitlines()[0].split()[-1],
        "simulator": simulator_version(),
    }


def main() -> int:
    """Compare all programs and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", nargs="+", default=PROGRAMS)
    parser.add_argument("--ranks", type=int, default=RANKS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--output", type=Path)
    add_keep(parser, RESULTS)
    add_table(parser)
    arguments = parser.parse_args()
    if arguments.table:
        write_table(PAGE, TABLE, recording_table())
        return 0
    if arguments.keep and arguments.programs != PROGRAMS:
        parser.error("--keep records all programs; name none")
    bars, rows = Bars(), []
    with tempfile.TemporaryDirectory(prefix="hamtune-recording-") as directory:
        bench = Bench(Path(directory), arguments.ranks)
        for name in arguments.programs:
            rows.append(compare(bench, name, arguments.repeats, Path(directory)))
            show(bars, rows[-1])
    result = {**versions(), "ranks": arguments.ranks, "programs": rows}
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.keep:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        write_table(PAGE, TABLE, recording_table())
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())
