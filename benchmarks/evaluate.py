"""One evaluation: ours beside `smpirun` live and `smpirun -replay`, and its fixed overhead.

    .venv/bin/python -m benchmarks.evaluate [PROGRAM.CLASS ...] [--output FILE.json]
    .venv/bin/python -m benchmarks.evaluate --keep
    .venv/bin/python -m benchmarks.evaluate table

For each program (64 ranks, one random network of degree 6, pairwise alltoall, else SMPI's default
algorithms, all of which stock replay can run) the same configuration is evaluated by

- ours: a request to `hamtune-simulator`, which has the trace in memory;
- live: the program as a user has it under `smpirun`, computing for real and timed by SMPI;
- declared: the same under `smpirun`, its computation declared, not executed, as in the capture;
- replay: `smpirun -replay` of the stock time-independent trace of the live run.

Figures are CPU seconds of the whole process tree. Declared and ours give the same simulated time.
The exit status tells whether the bars are met: times faster than live and than replay. `--keep`
measures all programs and writes benchmarks/evaluate.json and its table in docs/benchmarks.md,
`table` only the table of what was kept.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machines import designed
from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import add_keep, markdown, missed_unless, write_table
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import parse_machine
from searchspace.platform import Resolved, resolve
from workers.capture import APPLICATIONS, capture_builtin
from workers.simulator_client import Simulator, simulator_version

RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "benchmarks.md", "one evaluation"

RANKS = 64
PROGRAMS = ("mg.A", "cg.A", "ft.A")
BARS: dict[str, tuple[int | None, int | None]] = {"mg": (5, 2), "cg": (5, 2), "ft": (3, None)}
"""How many times faster than live and than replay an evaluation has to be."""
OVERHEAD_BAR = 10  # ms
EMPTY_RUNS = 50
MACHINE = parse_machine(designed(64, 6, switch_bandwidth="10Pbps"))
CONFIGURATION = Configuration.from_json(
    {"topology": "random", "topology_seed": 1, "collectives": {"alltoall": "ring"}}
)


def cpu_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work returns, and the CPU seconds of the children that ended during it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Smpirun:
    """Runs programs under plain smpirun on the platform of a configuration.

    Args:
        directory: Where files are written.
        resolved: Gives platform, ranks and options.
    """

    def __init__(self, directory: Path, resolved: Resolved) -> None:
        self.directory = directory
        (directory / "platform.xml").write_text(platform_xml(resolved))
        (directory / "hostfile").write_text(hostfile(resolved))
        self.command = ["smpirun", "-np", str(RANKS), "-platform", "platform.xml"]
        self.command += ["-hostfile", "hostfile"]
        options = {**resolved.options, "smpi/display-timing": "yes"}
        self.command += [f"--cfg={name}:{value}" for name, value in options.items()]

    def compile(self, program: str, target: str, *flags: str) -> None:
        """Compile a built-in program with smpicc."""
        sources = [*(APPLICATIONS / program).glob("*.c"), *(APPLICATIONS / "common").glob("*.c")]
        command = ["smpicc", "-O2", *flags, f"-I{APPLICATIONS}", *map(str, sorted(sources))]
        subprocess.run([*command, "-lm", "-o", target], cwd=self.directory, check=True)

    def run(self, *arguments: str) -> float:
        """Run and return the simulated seconds."""
        done = subprocess.run(
            [*self.command, "--log=root.fmt:%.15r@%m%n", *arguments],
            cwd=self.directory, check=True, capture_output=True, text=True,
        )  # fmt: skip
        times = re.findall(r"^([0-9.]+)@Simulated time", done.stderr + done.stdout, re.MULTILINE)
        return float(times[-1])


def measure(program: str, class_: str) -> dict[str, Any]:
    """CPU seconds of one configuration of one program, each way."""
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        directory = Path(scratch)
        trace = directory / "trace.ht"
        capture_builtin(program, class_, RANKS, {}, trace)
        resolved = resolve(CONFIGURATION, MACHINE, RANKS)
        with Simulator([trace]) as simulator:
            ours = simulator.evaluate(resolved.simulator_request())
        smpirun = Smpirun(directory, resolved)
        smpirun.compile(program, "declared", "-DHAMTUNE_DECLARE_FLOPS")
        smpirun.compile(program, "computing")
        declared = "--cfg=smpi/simulate-computation:no"
        declared_time, declaring = cpu_seconds(lambda: smpirun.run(declared, "./declared", class_))
        # Stock replay leaves computations out unless told to simulate them.
        replaying = ["--cfg=smpi/simulate-computation:yes", "--cfg=smpi/wtime:0"]
        _, live = cpu_seconds(
            lambda: smpirun.run("--cfg=smpi/host-speed:1Gf", "./computing", class_)
        )
        smpirun.run("-trace-ti", "--cfg=tracing/filename:stock", declared, "./declared", class_)
        replayed_time, replay = cpu_seconds(lambda: smpirun.run("-replay", "stock", *replaying))
    return {
        "ours": ours["cpu_seconds"],
        "live": live,
        "declared": declaring,
        "replay": replay,
        "live_over_ours": live / ours["cpu_seconds"],
        "declared_over_ours": declaring / ours["cpu_seconds"],
        "replay_over_ours": replay / ours["cpu_seconds"],
        "peak_rss_mb": ours["peak_rss_bytes"] / 1e6,
        "simulated": ours["simulated_time"],
        "simulated_declared": declared_time,
        "simulated_replay": replayed_time,
    }


def fixed_overhead() -> float:
    """CPU seconds of an evaluation of an empty program of 2 ranks on 64 hosts (mean)."""
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        trace = Path(scratch) / "empty.ht"
        header = TraceHeader(ranks=2, program="empty", captured_by="hand")
        write_trace(trace, header, [encode("finalize")] * 2)
        request = resolve(CONFIGURATION, MACHINE, 2).simulator_request()
        with Simulator([trace]) as simulator:
            answers = [simulator.evaluate(request) for _ in range(EMPTY_RUNS)]
    return sum(float(answer["cpu_seconds"]) for answer in answers) / EMPTY_RUNS


def evaluate_table() -> str:
    """The table of the documentation, as the results have it."""
    kept = json.loads(RESULTS.read_text())
    heads = [f"{kept['date']}, {kept['processor']}; CPU s", "ours", "live", "declared"]
    heads += ["stock replay", "live / ours", "replay / ours", "simulated time beside declared"]
    rows = []
    for name, row in kept["programs"].items():
        cells = [f"{row[way]:.2f}" for way in ("ours", "live", "declared", "replay")]
        ratios = row["live_over_ours"], row["replay_over_ours"]
        for ratio, bar in zip(ratios, _bars(name), strict=True):
            held = "" if bar is None else f" (bar {bar}: {'met' if ratio >= bar else 'missed'})"
            cells.append(f"{ratio:.1f}{held}")
        rows.append([name, *cells, f"{abs(row['simulated'] / row['simulated_declared'] - 1):.0e}"])
    overhead = kept["fixed_overhead_ms"]
    held = missed_unless(overhead < OVERHEAD_BAR)
    rows.append(
        [f"an empty program of 2 ranks (bar {OVERHEAD_BAR} ms)", f"{overhead:.2f} ms{held}"]
    )
    return markdown(heads, ([*row, *[""] * (len(heads) - len(row))] for row in rows))


def _bars(name: str) -> tuple[int | None, int | None]:
    """How many times faster than live and than replay a program has to be."""
    return BARS.get(name.split(".")[0], (None, None))


def _compare(name: str) -> tuple[dict[str, Any], bool]:
    """Measure a program and print its line; what was measured, and whether its bars are met."""
    row = measure(*name.split("."))
    print(
        f"{name:6}{row['ours']:9.2f}{row['live']:9.2f}{row['declared']:11.2f}"
        f"{row['replay']:9.2f}{row['live_over_ours']:12.2f}"
        f"{row['declared_over_ours']:15.2f}{row['replay_over_ours']:13.2f}",
        flush=True,
    )
    live_bar, replay_bar = _bars(name)
    met = live_bar is None or row["live_over_ours"] >= live_bar
    return row, met and (replay_bar is None or row["replay_over_ours"] >= replay_bar)


def main() -> int:
    """Measure, print a table and the JSON; the status tells whether all bars are met."""
    arguments = _options()
    if arguments.programs == ["table"]:
        write_table(PAGE, TABLE, evaluate_table())
        return 0
    report: dict[str, Any] = {**measured_now(), "simulator": simulator_version(), "programs": {}}
    met = True
    print(
        f"{'':6}{'ours':>9}{'live':>9}{'declared':>11}{'replay':>9}"
        "   live/ours  declared/ours  replay/ours"
    )
    for name in arguments.programs or PROGRAMS:
        report["programs"][name], good = _compare(name)
        met &= good
    report["fixed_overhead_ms"] = 1000 * fixed_overhead()
    overhead = report["fixed_overhead_ms"]
    print(f"fixed overhead {overhead:.2f} ms CPU an evaluation (bar: {OVERHEAD_BAR})")
    met &= overhead < OVERHEAD_BAR
    print("all bars met" if met else "NOT all bars met")
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.keep:
        RESULTS.write_text(json.dumps(report, indent=1) + "\n")
        write_table(PAGE, TABLE, evaluate_table())
    return 0 if met else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM.CLASS", help="or `table` alone")
    parser.add_argument("--output", type=Path)
    add_keep(parser, RESULTS)
    arguments = parser.parse_args()
    if arguments.keep and arguments.programs:
        parser.error("--keep measures all programs; name none")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
