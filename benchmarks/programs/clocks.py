"""What strangers' programs read from the clock in a capture, against runs under Open MPI.

    .venv/bin/python -m benchmarks.programs.clocks [NAME...] [--repeats 3]

Each program times itself, on two ranks. In a capture its clock has the computation that was
measured and the communication that was simulated; under Open MPI it has what passed. Both are run
in turns, and medians are compared. The bar: within 20%. What is measured is kept in `clocks.json`;
the exit status is 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.packets.bars import Bars
from benchmarks.programs.codes import CLOCKED, Run, build

RESULTS = Path(__file__).with_name("clocks.json")
REPEATS = 3
MOST = 0.2
_SECONDS = 600
_MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "core")


def told_seconds(output: str, pattern: str) -> float:
    """The seconds that a program says it took.

    Raises:
        ValueError: It says nothing of the kind.
    """
    found = re.findall(pattern, output, re.MULTILINE)
    if not found:
        raise ValueError(f"{pattern!r} is not in what the program printed: {output[-500:]!r}")
    return sum(map(float, found))


def measured(run: Run, pattern: str, repeats: int, place: Path) -> dict[str, list[float]]:
    """What the program says it took, in seconds, captured and under Open MPI.

    Raises:
        ValueError: It cannot be built, or does not say.
    """
    commands = {}
    for kind in ("recorded", "openmpi"):
        root = build(run, kind, place / kind)
        if isinstance(root, str):
            raise ValueError(root)
        commands[kind] = [str(root / run.program), *run.arguments]
    for name, source in run.inputs.items():
        shutil.copy(place / "openmpi" / source, place / name)
    given = [word for name in run.inputs for word in ("--input", name)]
    hamtune = (sys.executable, "-m", "cli", "capture", "--no-sandbox", *given, "-o", "t.ht")
    start = {
        "recorded": [*hamtune, "--ranks", str(run.ranks), "--", *commands["recorded"]],
        "openmpi": [*_MPIRUN, "-np", str(run.ranks), *commands["openmpi"]],
    }
    times: dict[str, list[float]] = {kind: [] for kind in start}
    for _ in range(repeats):
        for kind, command in start.items():
            times[kind].append(told_seconds(_output(command, place), pattern))
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
    arguments = parser.parse_args()
    bars = Bars()
    rows = json.loads(RESULTS.read_text())["programs"] if RESULTS.exists() else []
    for run, pattern in CLOCKED:
        if arguments.names and Path(run.program).name not in arguments.names:
            continue
        with tempfile.TemporaryDirectory(prefix="hamtune-clocks-") as place:
            times = measured(run, pattern, arguments.repeats, Path(place))
        captured, real = (statistics.median(times[kind]) for kind in ("recorded", "openmpi"))
        rows = [row for row in rows if row["name"] != run.name]
        rows.append(
            {
                "name": run.name,
                "ranks": run.ranks,
                "captured": times["recorded"],
                "openmpi": times["openmpi"],
            }
        )
        today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        RESULTS.write_text(json.dumps({"measured": today, "programs": rows}, indent=1) + "\n")
        bars.at_most(
            f"{run.name}: {captured:.4g} s, really {real:.4g} s", abs(captured / real - 1), MOST
        )
    sys.exit(1 if bars.missed else 0)


if __name__ == "__main__":
    main()
