"""What the filters of system calls cost: evaluations and captures with them and without.

    .venv/bin/python -m benchmarks.system_calls [--repeats 15] [--output FILE.json]
    .venv/bin/python -m benchmarks.system_calls --keep
    .venv/bin/python -m benchmarks.system_calls table

- evaluation: `hamtune-simulator` is started on the trace of MG.A on 64 ranks, and answers for one
  network. Without the filter, a library loaded before libseccomp only says that it loads it.
- capture: CG.S is built and run on 8 ranks in the sandbox for programs of users. Without the
  filter, a `bwrap` that is found first passes all else on to the real one.
- calls: the same of a program that does nothing but a million system calls, the worst case.

Figures are CPU seconds of all processes (median and least of the repeats, taken by turns), and the
ratio of the medians. What comes of it, simulated times and recorded calls, is the same with and
without, or the command ends with 1. `--keep` writes benchmarks/system_calls.json and its table in
docs/benchmarks.md, `table` only the table of what was kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.evaluate import CONFIGURATION, MACHINE, RANKS, cpu_seconds
from benchmarks.recording import versions as versions_of_recordings
from benchmarks.tables_in_docs import add_keep, add_table, markdown, write_table
from searchspace.formats.source_archive import pack
from searchspace.kernels import trace_summary
from searchspace.platform import resolve
from workers.capture import APPLICATIONS, capture_builtin
from workers.capture_run import Measure
from workers.capture_source import SourceProgram, capture_source
from workers.simulator_client import Simulator

RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "benchmarks.md", "filters of system calls"

CALLS = 1_000_000
CAPTURE_RANKS = 8
TITLES = {
    "evaluation": f"evaluation of MG.A, {RANKS} ranks",
    "capture": f"capture of CG.S, {CAPTURE_RANKS} ranks, with its build",
    "calls": f"{CALLS:,} system calls, with the build",
}
NO_FILTER = "int seccomp_load(void *filter) { (void)filter; return 0; }\n"
PASS_ON = """#!/bin/bash
kept=()
while [ $# -gt 0 ]; do
  if [ "$1" = --seccomp ]; then shift 2; else kept+=("$1"); shift; fi
done
exec {bwrap} "${{kept[@]}}"
"""
LEAVE_ALONE = '#!/bin/bash\nexec {bwrap} "$@"\n'
MANY_CALLS = f"""
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {{
  MPI_Init(&argc, &argv);
  for (int i = 0; i < {CALLS}; i++) syscall(SYS_getppid);
  MPI_Finalize();
  return 0;
}}
"""


@contextmanager
def environment(**changes: str) -> Iterator[None]:
    """Variables of this process, for as long as the block runs."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Bench:
    """Does things with the filters and without.

    Args:
        directory: For its files.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.trace = directory / "mg.ht"
        capture_builtin("mg", "A", RANKS, {}, self.trace)
        self.request = resolve(CONFIGURATION, MACHINE, RANKS).simulator_request()
        self.library = directory / "no-filter.so"
        source = directory / "no-filter.c"
        source.write_text(NO_FILTER)
        command = ["cc", "-shared", "-fPIC", "-o", str(self.library), str(source)]
        subprocess.run(command, check=True)
        bwrap = shutil.which("bwrap")
        for name, script in (("with", LEAVE_ALONE), ("without", PASS_ON)):
            (directory / name).mkdir()
            program = directory / name / "bwrap"
            program.write_text(script.format(bwrap=bwrap))
            program.chmod(0o755)
        calls = directory / "calls"
        calls.mkdir()
        (calls / "calls.c").write_text(MANY_CALLS)
        pack(calls, directory / "calls.tar.gz")
        pack(APPLICATIONS, directory / "applications.tar.gz")

    def evaluation(self, *, filtered: bool) -> float:
        """Simulated seconds of one evaluation by a simulator of its own."""
        changes = {} if filtered else {"LD_PRELOAD": str(self.library)}
        with environment(**changes), Simulator([self.trace]) as simulator:
            return float(simulator.evaluate(self.request)["simulated_time"])

    def capture(self, *, filtered: bool) -> int:
        """How many calls of MPI a capture of CG has recorded."""
        build = "mpicc -O2 -I. cg/*.c common/*.c -lm -o program"
        return self._captured("applications", build, "program S", CAPTURE_RANKS, filtered)

    def calls(self, *, filtered: bool) -> int:
        """The same of the program that does nothing but call the system."""
        return self._captured("calls", "mpicc -O1 -o program calls.c", "program", 1, filtered)

    def _captured(self, archive: str, build: str, run: str, ranks: int, filtered: bool) -> int:
        first = self.directory / ("with" if filtered else "without")
        program = SourceProgram(build, run, ranks, Measure(False, None, 1))
        output = self.directory / "captured.ht"
        with environment(PATH=f"{first}:{os.environ['PATH']}"):
            capture_source(self.directory / f"{archive}.tar.gz", program, output)
        calls: dict[str, int] = trace_summary(output)["calls"]
        return sum(calls.values())


def compare(work: Callable[..., Any], repeats: int) -> dict[str, Any]:
    """CPU seconds of something with and without, by turns."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    came_of: set[Any] = set()
    for _ in range(repeats):
        for filtered in (True, False):
            result, taken = cpu_seconds(partial(work, filtered=filtered))
            came_of.add(result)
            seconds[filtered].append(taken)
    medians = {filtered: statistics.median(taken) for filtered, taken in seconds.items()}
    return {
        "with": medians[True],
        "without": medians[False],
        "least_with": min(seconds[True]),
        "least_without": min(seconds[False]),
        "ratio": medians[True] / medians[False],
        "same": len(came_of) == 1,
    }


def system_calls_table() -> str:
    """The table of the documentation, as the results have it."""
    kept = json.loads(RESULTS.read_text())
    heads = [
        f"{kept['date']}, {kept['processor']}, {kept['repeats']} repeats, load {kept['load']:.1f}",
        "CPU ms with, median",
        "without",
        "ratio",
        "CPU ms with, least",
        "without",
        "added by the least",
    ]
    rows = []
    for name, title in TITLES.items():
        row = kept[name]
        figures = (row["with"], row["without"], row["least_with"], row["least_without"])
        cells = [f"{1e3 * seconds:,.1f}" for seconds in figures]
        cells.insert(2, f"{row['ratio']:.2f}")
        rows.append([title, *cells, f"{1e3 * (row['least_with'] - row['least_without']):.1f}"])
    return markdown(heads, rows)


def main() -> int:
    """Measure all three and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--output", type=Path)
    add_keep(parser, RESULTS)
    add_table(parser)
    arguments = parser.parse_args()
    if arguments.table:
        write_table(PAGE, TABLE, system_calls_table())
        return 0
    rows = {}
    with tempfile.TemporaryDirectory(prefix="hamtune-system-calls-") as directory:
        bench = Bench(Path(directory))
        for name in TITLES:
            rows[name] = compare(getattr(bench, name), arguments.repeats)
            print(name, " ".join(f"{key} {value:.4g}" for key, value in rows[name].items()))
    result = {
        **versions_of_recordings(),
        "kernel": os.uname().release,
        "load": os.getloadavg()[0],
        "repeats": arguments.repeats,
        **rows,
    }
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.keep:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        write_table(PAGE, TABLE, system_calls_table())
    return 0 if all(row["same"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
