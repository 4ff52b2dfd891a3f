"""What strangers' programs read from the clock in a capture, against runs under Open MPI.

    .venv/bin/python -m benchmarks.programs.clocks [NAME...] [--repeats 3] [--built DIR]

Each program times itself, on two ranks. In a capture its clock has the computation that was
measured and the communication that was simulated; under Open MPI it has what passed. Both are run
in turns, and medians are compared. The bar: within 20%. The exit status is 1 where it is missed.

All times are kept in `clocks.json`, from which the table of docs/programs.md is written. Nothing
else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.programs.codes import CLOCKED, Run, build
from benchmarks.recording import versions
from benchmarks.tables_in_docs import write_table

RESULTS = Path(__file__).with_name("clocks.json")

REPEATS = 3
MOST = 0.2
_SECONDS = 600
_MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "core")


def told_seconds(output: str, pattern: str, unit: float) -> float:
    """The seconds that a program says it took.

    Raises:
        ValueError: It says nothing of the kind.
    """
    found = re.findall(pattern, output, re.MULTILINE)
    if not found:
        raise ValueError(f"{pattern!r} is not in what the program printed: {output[-500:]!r}")
    return unit * sum(map(float, found))


def measured(
    run: Run, told: Callable[[str], float], repeats: int, place: Path, built: Path
) -> dict[str, list[float]]:
    """What the program says it took, in seconds, captured and under Open MPI.

    Raises:
        ValueError: It cannot be built, or does not say.
    """
    commands: dict[str, list[str]] = {}
    root: Path | str = place
    for kind in ("recorded", "openmpi"):
        lines = zlib.crc32(run.build.encode())  # several programs may come of the same
        folder = built.resolve() / f"{run.package}-{lines:08x}-{kind}"
        root = folder if (folder / run.program).is_file() else build(run, kind, folder)
        if isinstance(root, str):
            raise ValueError(root)
        commands[kind] = [str(root / run.program), *run.arguments]
    for name, source in run.inputs.items():
        shutil.copy(Path(root) / source, place / name)
    given = [word for name in run.inputs for word in ("--input", name)]
    hamtune = (sys.executable, "-m", "cli", "capture", "--no-sandbox", *given, "-o", "t.ht")
    start = {
        "recorded": [*hamtune, "--ranks", str(run.ranks), "--", *commands["recorded"]],
        "openmpi": [*_MPIRUN, "-np", str(run.ranks), *commands["openmpi"]],
    }
    times: dict[str, list[float]] = {kind: [] for kind in start}
    for _ in range(repeats):
        for kind, command in start.items():
            times[kind].append(told(_output(command, place)))
    return times


def _output(command: Sequence[str], place: Path) -> str:
    done = subprocess.run(
        command,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
    )
    if done.returncode:
        raise ValueError((done.stderr.strip() or done.stdout.strip())[-500:])
    return done.stdout + done.stderr


def main() -> None:
    """Measure all programs, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="ij, struct, mpi-bench, ...")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument(
        "--built", type=Path, metavar="DIR", help="builds of an earlier run, or where to keep them"
    )
    arguments = parser.parse_args()
    bars, rows = Bars(), []
    with tempfile.TemporaryDirectory(prefix="hamtune-clocks-") as place:
        built = arguments.built or Path(place)
        for run, pattern, unit in CLOCKED:
            if arguments.names and Path(run.program).name not in arguments.names:
                continue
            told = partial(told_seconds, pattern=pattern, unit=unit)
            times = measured(run, told, arguments.repeats, Path(place), built)
            captured, real = (statistics.median(times[kind]) for kind in ("recorded", "openmpi"))
            bars.at_most(
                f"{run.name}: {captured:.4g} s, really {real:.4g} s", abs(captured / real - 1), MOST
            )
            rows.append({"name": run.name, "ranks": run.ranks, **times})
    if not arguments.names:  # a part of them makes no table
        RESULTS.write_text(json.dumps({**versions(), "programs": rows}, indent=1) + "\n")
        write_table("programs.md", "clocks", table(rows))
    sys.exit(1 if bars.missed else 0)


def table(rows: list[dict[str, Any]]) -> str:
    """The medians as a table in Markdown."""
    lines = ["| Program | Captured | Open MPI | Difference |", "|---|---|---|---|"]
    for row in rows:
        captured, real = (statistics.median(row[kind]) for kind in ("recorded", "openmpi"))
        difference = f"{captured / real - 1:+.0%}"
        lines.append(f"| {row['name']} | {captured:.4g} s | {real:.4g} s | {difference} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
