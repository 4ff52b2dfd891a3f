"""The recorder under real MPI libraries: what it costs, what memory it takes, what it records.

    .venv/bin/python -m benchmarks.recorder [programs|calls|share|matrix ...] [--output FILE.json]
        [--keep]
    .venv/bin/python -m benchmarks.recorder table

- programs: built-in programs with the recorder preloaded and without, in turns; CPU and wall
  seconds of the whole run, medians, a bootstrap interval of the relative difference, and the
  difference of the least. Ranks spin while they wait: on a machine that others use, their CPU time
  says more about the others than about the recorder.
- calls: the CPU time that the recorder adds to a call, from a program that does nothing but calls
  with itself, and the peak memory after a thousand and after ten million of them.
- share: of the CPU time of the same programs, what the recorder's own code takes, whatever ranks
  wait for: samples of the running program (`perf record`, which must be there), those whose
  innermost frame outside of the C library and the kernel is the recorder's. The bar, 2%, is for the
  upper end of the 95% interval of its ratio to what the program's own code takes, which never
  spins.
- matrix: the calls, messages and bytes of every program, library and number of ranks, compared with
  those of the capture under SMPI.

`--keep` writes the parts that are measured to benchmarks/recorder.json, each with its day, and the
tables of docs/benchmarks.md, `table` only the tables of what was kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import add_keep, markdown, missed_unless, write_tables
from searchspace.errors import HamtuneError
from searchspace.formats.operations import decode
from searchspace.formats.trace import read_header, read_operations
from searchspace.kernels import trace_summary, traffic_matrix
from workers.capture import APPLICATIONS, builtin_sources, capture_builtin
from workers.merge import merge
from workers.recorder_build import LIBRARY, build_recorder

RESULTS = Path(__file__).with_suffix(".json")
PAGE = "benchmarks.md"
CALLS_TABLE, SHARE_TABLE, MATRIX_TABLE = "recorded calls", "the recorder's share", "recorded alike"

STARTERS = {
    "openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
    "mpich": ("mpirun.mpich",),
}
PROGRAMS = (("mg", "A"), ("is", "A"), ("cg", "A"))
PAIRS = 9
SAMPLES_A_SECOND = 4999
SYSTEM = ("libc.", "ld-linux", "[vdso]", "[kernel", "[vvar]", "libpthread", "[unknown]")
"""Whose code runs for whoever called it."""
MOST_OVERHEAD = 0.02
PARTS = ("programs", "calls", "share", "matrix")
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
KINDS = ("allreduce", "sendrecv", "requests")
MICRO_CALLS, FEW_CALLS, MANY_CALLS = 600_000, 1_000, 10_000_000
MATRIX = (
    *(("cg", "S", ranks) for ranks in (4, 8, 16)),
    *(("ft", "S", ranks) for ranks in (4, 8, 16)),
    *(("is", "S", ranks) for ranks in (4, 8, 16)),
    *(("mg", "S", ranks) for ranks in (4, 8, 16)),
    *(("ep", "S", ranks) for ranks in (4, 16)),
    *(("lu", "S", ranks) for ranks in (4, 8, 16)),
    *(("bt", "S", ranks) for ranks in (4, 9, 16)),
    *(("sp", "S", ranks) for ranks in (4, 9, 16)),
    *(("mm", "100", ranks) for ranks in (4, 9, 16)),
)
LIMIT_SECONDS = 900


class Bench:
    """Builds recorder and programs for the libraries, and runs them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.library = cache(self._library)
        self.program = cache(self._program)

    def _library(self, mpi: str) -> Path:
        build_recorder(f"mpicc.{mpi}", self.directory / mpi)
        return self.directory / mpi / LIBRARY

    def _program(self, mpi: str, name: str) -> Path:
        target = self.directory / f"{name}.{mpi}"
        if name == "calls":
            sources: Sequence[Path] = [Path(__file__).with_name("recorder_calls.c")]
        else:
            sources = builtin_sources(name)
        command = [f"mpicc.{mpi}", "-O2", "-w", f"-I{APPLICATIONS}", *map(str, sources)]
        subprocess.run([*command, "-o", str(target), "-lm"], check=True)
        return target

    def run(
        self,
        mpi: str,
        ranks: int,
        name: str,
        *arguments: str,
        recording: Path | None = None,
        samples: Path | None = None,
    ) -> tuple[str, float, float]:
        """Run a program; gives what it printed, CPU seconds and wall seconds."""
        command = [*STARTERS[mpi], "-np", str(ranks)]
        if samples is not None:
            event = ["-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-g"]
            command = ["perf", "record", "-q", *event, "-o", str(samples), "--", *command]
        if recording is not None:
            shutil.rmtree(recording, ignore_errors=True)
            recording.mkdir()
            command += ["env", f"LD_PRELOAD={self.library(mpi)}", "HAMTUNE_RECORD_HOST_SPEED=2e9"]
            command += [f"HAMTUNE_RECORD_DIRECTORY={recording}"]
        command += [str(self.program(mpi, name)), *arguments]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            # Open MPI's session directories of several users of one machine meet in /tmp.
            env=os.environ | {"TMPDIR": str(self.directory)},
        )
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout, cpu, wall


def interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Relative difference of the medians, and its 95% interval over resampled pairs."""

    def difference(sample: Sequence[tuple[float, float]]) -> float:
        without, recorded = (statistics.median(side) for side in zip(*sample, strict=True))
        return float(recorded / without - 1)

    draw = random.Random(1)
    drawn = sorted(difference(draw.choices(pairs, k=len(pairs))) for _ in range(2000))
    return difference(pairs), drawn[50], drawn[-50]


def programs(bench: Bench, pairs: int) -> list[dict[str, Any]]:
    """Programs with and without the recorder, in turns."""
    rows = []
    print("program             CPU s  recorded  difference (95%)     of least    wall  calls/rank")
    for mpi in STARTERS:
        for name, size in PROGRAMS:
            recording = bench.directory / "recording"
            figures: list[tuple[tuple[float, float], tuple[float, float]]] = []
            for turn in range(pairs):
                order = (None, recording) if turn % 2 else (recording, None)
                got = {side: bench.run(mpi, 2, name, size, recording=side)[1:] for side in order}
                figures.append((got[None], got[recording]))
            trace = bench.directory / "t.ht"
            merge(recording, trace)
            calls = sum(trace_summary(trace)["calls"].values()) // 2
            cpu = [(without[0], recorded[0]) for without, recorded in figures]
            wall = [(without[1], recorded[1]) for without, recorded in figures]
            row: dict[str, Any] = {
                "mpi": mpi,
                "program": f"{name}.{size}",
                "cpu_seconds": statistics.median(a for a, _ in cpu),
                "recorded_cpu_seconds": statistics.median(b for _, b in cpu),
                "cpu_difference": interval(cpu),
                "wall_difference": interval(wall),
                "least_difference": min(b for _, b in cpu) / min(a for a, _ in cpu) - 1,
                "pairs": {"cpu": cpu, "wall": wall},
                "calls_per_rank": calls,
            }
            rows.append(row)
            difference, low, high = row["cpu_difference"]
            print(
                f"{mpi:8} {row['program']:8} {row['cpu_seconds']:8.2f} "
                f"{row['recorded_cpu_seconds']:9.2f} {difference:+8.2%} "
                f"({low:+.2%} to {high:+.2%}) "
                f"{row['least_difference']:+8.2%} {row['wall_difference'][0]:+8.2%} {calls:10}",
                flush=True,
            )
    return rows


def calls(bench: Bench, repetitions: int) -> list[dict[str, Any]]:
    """What the recorder adds to a call, and memory after few and after many calls."""
    rows = []
    print("calls                ns without  ns recorded  added ns   MiB after 1e3, 1e7 calls")
    recording = bench.directory / "recording"
    for mpi in STARTERS:
        for kind in KINDS:
            sides: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(repetitions):
                for recorded in sides:
                    place = recording if recorded else None
                    out = bench.run(mpi, 1, "calls", kind, str(MICRO_CALLS), recording=place)[0]
                    sides[recorded].append(float(out.split()[0]))
            peaks = [
                int(bench.run(mpi, 1, "calls", kind, str(many), recording=recording)[0].split()[1])
                for many in (FEW_CALLS, MANY_CALLS)
            ]
            without, recorded_ns = (statistics.median(sides[side]) for side in (False, True))
            row = {"mpi": mpi, "kind": kind, "ns": without, "recorded_ns": recorded_ns}
            rows.append({**row, "peak_kib": peaks})
            print(
                f"{mpi:8} {kind:10} {without:11.0f} {recorded_ns:12.0f} "
                f"{recorded_ns - without:9.0f}   {peaks[0] / 1024:.1f}, {peaks[1] / 1024:.1f}",
                flush=True,
            )
    return rows


def whose(frames: Sequence[str], program: str) -> str:
    """Whose code a sample shows, from the objects of its frames, innermost first."""
    for frame in frames:
        if not frame.startswith(SYSTEM):
            return {LIBRARY: "recorder", program: "program"}.get(frame, "MPI")
    return "MPI"


def sampled(samples: Path, program: str) -> Counter[str]:
    """Samples of the ranks, by whose code ran."""
    of_ranks = ["--comms", program[:15]]  # as long as the kernel keeps it
    command = ["perf", "script", "-i", str(samples), *of_ranks, "-F", "comm,ip,sym,dso"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Counter(
        whose([Path(line.rsplit("(", 1)[1].rstrip(")")).name for line in lines[1:]], program)
        for lines in (sample.splitlines() for sample in text.split("\n\n") if sample.strip())
    )


def share(bench: Bench, runs: int) -> list[dict[str, Any]]:
    """What the recorder's own code takes of whole programs."""
    if shutil.which("perf") is None:
        raise SystemExit("there is no perf here, which samples the programs")
    rows = []
    print("share              samples: recorder  program      MPI   of program (95%)       of all")
    for mpi in STARTERS:
        for name, size in PROGRAMS:
            counted: Counter[str] = Counter()
            for _ in range(runs):
                samples = bench.directory / "samples"
                recording = bench.directory / "recording"
                bench.run(mpi, 2, name, size, recording=recording, samples=samples)
                counted += sampled(samples, bench.program(mpi, name).name)
            own, of_program, all_samples = counted["recorder"], counted["program"], counted.total()
            low, high = (limit / of_program for limit in counted_interval(own))
            row: dict[str, Any] = {
                "mpi": mpi,
                "program": f"{name}.{size}",
                "samples": dict(counted),
                "of_program": own / of_program,
                "interval": (low, high),
                "of_all": own / all_samples,
            }
            rows.append(row)
            print(
                f"{mpi:8} {row['program']:8} {own:17} {of_program:8} {counted['MPI']:8} "
                f"{own / of_program:8.2%} ({low:.2%} to {high:.2%}) {own / all_samples:9.2%}  "
                f"{'MET' if high < MOST_OVERHEAD else 'MISSED'}",
                flush=True,
            )
    return rows


def counted_interval(count: int) -> tuple[float, float]:
    """The 95% interval of the mean of a Poisson variable that came out so (Garwood 1936)."""
    low = float(chi2.ppf(0.025, 2 * count)) / 2 if count else 0.0
    return low, float(chi2.ppf(0.975, 2 * (count + 1))) / 2


def operations(trace: Path) -> list[list[tuple[str, tuple[tuple[str, Any], ...]]]]:
    """All operations but computations, rank by rank."""
    return [
        [
            (op.name, tuple(op.fields.items()))
            for op in decode(read_operations(trace, rank))
            if op.name != "compute"
        ]
        for rank in range(read_header(trace).ranks)
    ]


def matrix(bench: Bench) -> list[dict[str, Any]]:
    """Whether real runs record what captures do."""
    rows = []
    simulated, real = bench.directory / "simulated.ht", bench.directory / "real.ht"
    for name, size, ranks in MATRIX:
        order = {"order": int(size)} if name == "mm" else {}
        capture_builtin(name, None if name == "mm" else size, ranks, order, simulated)
        expected = operations(simulated)
        for mpi in STARTERS:
            recording = bench.directory / "recording"
            try:
                bench.run(mpi, ranks, name, size, recording=recording)
                merge(recording, real)
                same_bytes = np.array_equal(traffic_matrix(real), traffic_matrix(simulated))
                equal = same_bytes and operations(real) == expected
                verdict = "equal" if equal else "DIFFERENT"
            except (HamtuneError, SystemExit, subprocess.TimeoutExpired) as error:
                verdict = f"FAILED: {error}"
            row = {"mpi": mpi, "program": f"{name}.{size}", "ranks": ranks, "verdict": verdict}
            rows.append(row)
            print(f"{mpi:8} {row['program']:7} {ranks:3} ranks: {verdict}", flush=True)
    return rows


def recorder_tables() -> dict[str, str]:
    """The tables of the documentation by name, of the parts that were kept."""
    kept = json.loads(RESULTS.read_text())
    tables = {
        "calls": (CALLS_TABLE, _calls_table),
        "share": (SHARE_TABLE, _share_table),
        "matrix": (MATRIX_TABLE, _matrix_table),
    }
    return {name: made(kept[part]) for part, (name, made) in tables.items() if part in kept}


def _calls_table(part: dict[str, Any]) -> str:
    heads = [f"{part['date']}, {part['processor']}", "ns a call", "recorded", "added"]
    heads += [f"peak MiB after {many:,} calls" for many in (FEW_CALLS, MANY_CALLS)]
    rows = []
    for row in part["rows"]:
        figures = (row["ns"], row["recorded_ns"], row["recorded_ns"] - row["ns"])
        cells = [f"{ns:.0f}" for ns in figures] + [f"{kib / 1024:.1f}" for kib in row["peak_kib"]]
        rows.append([f"{TITLES[row['mpi']]}, {row['kind']}", *cells])
    return markdown(heads, rows)


def _share_table(part: dict[str, Any]) -> str:
    heads = [f"{part['date']}, {part['processor']}, load {part['load']:.1f}", "share (95%)"]
    rows = []
    for row in part["rows"]:
        low, high = row["interval"]
        share = f"{row['of_program']:.2%} ({low:.2%} to {high:.2%})"
        share += missed_unless(high < MOST_OVERHEAD)
        rows.append([f"{TITLES[row['mpi']]}, {row['program']}", share])
    return markdown(heads, rows)


def _matrix_table(part: dict[str, Any]) -> str:
    rows = []
    for mpi, title in TITLES.items():
        own = [row for row in part["rows"] if row["mpi"] == mpi]
        equal = sum(row["verdict"] == "equal" for row in own)
        programs = sorted({row["program"] for row in own})
        ranks = [row["ranks"] for row in own]
        told = f"{equal} of {len(own)}{missed_unless(equal == len(own))}"
        rows.append([title, ", ".join(programs), f"{min(ranks)} to {max(ranks)}", told])
    return markdown([part["date"], "programs", "ranks", "recorded as captured"], rows)


def main() -> None:
    """Run what is asked for (all, if nothing is) and write its figures."""
    arguments = _options()
    if arguments.parts == ["table"]:
        write_tables(PAGE, recorder_tables())
        return
    parts = arguments.parts or PARTS
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hamtune-recorder-bench-") as directory:
        bench = Bench(Path(directory))
        figures: dict[str, Any] = {}
        if "calls" in parts:
            figures["calls"] = calls(bench, min(arguments.pairs, 5))
        if "share" in parts:
            figures["share"] = share(bench, min(arguments.pairs, 3))
        if "matrix" in parts:
            figures["matrix"] = matrix(bench)
        if "programs" in parts:
            figures["programs"] = programs(bench, arguments.pairs)
    if arguments.output:
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n")
    if arguments.keep:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        for part, rows in figures.items():
            kept[part] = {**measured_now(), "load": load, "rows": rows}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        write_tables(PAGE, recorder_tables())
    unequal = any(row["verdict"] != "equal" for row in figures.get("matrix", []))
    if unequal or any(row["interval"][1] >= MOST_OVERHEAD for row in figures.get("share", [])):
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS) + ", or `table` alone")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--output", type=Path)
    add_keep(parser, RESULTS)
    arguments = parser.parse_args()
    if arguments.parts != ["table"] and set(arguments.parts) - set(PARTS):
        parser.error(f"the parts are {', '.join(PARTS)}")
    return arguments


if __name__ == "__main__":
    main()
