"""One evaluation: ours beside `smpirun` live and `smpirun -replay`, and its fixed overhead.

    .venv/bin/python -m benchmarks.evaluate [PROGRAM.CLASS ...] [--output FILE.json]

For each program (64 ranks, one random network of degree 6, pairwise alltoall, else SMPI's default
algorithms, all of which stock replay can run) the same configuration is evaluated by

- ours: a request to `hamtune-simulator`, which has the trace in memory;
- live: the program as a user has it under `smpirun`, computing for real and timed by SMPI;
- declared: the same under `smpirun`, its computation declared, not executed, as in the capture;
- replay: `smpirun -replay` of the stock time-independent trace of the live run.

Figures are CPU seconds of the whole process tree. Declared and ours give the same simulated time.
The exit status tells whether the bars are met: times faster than live and than replay.
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
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import parse_machine
from searchspace.platform import Resolved, resolve
from workers.capture import APPLICATIONS, capture_builtin
from workers.simulator_client import Simulator, simulator_version

RANKS = 64
PROGRAMS = ("mg.A", "cg.A", "ft.A")
BARS = {"mg": (5, 2), "cg": (5, 2), "ft": (3, None)}  # of live and of replay, at least
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


def main() -> int:
    """Measure, print a table and the JSON; the status tells whether all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM.CLASS")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    report: dict[str, Any] = {"simulator": simulator_version(), "programs": {}}
    met = True
    print(
        f"{'':6}{'ours':>9}{'live':>9}{'declared':>11}{'replay':>9}"
        "   live/ours  declared/ours  replay/ours"
    )
    for name in arguments.programs:
        program, class_ = name.split(".")
        row = measure(program, class_)
        report["programs"][name] = row
        print(
            f"{name:6}{row['ours']:9.2f}{row['live']:9.2f}{row['declared']:11.2f}"
            f"{row['replay']:9.2f}{row['live_over_ours']:12.2f}"
            f"{row['declared_over_ours']:15.2f}{row['replay_over_ours']:13.2f}",
            flush=True,
        )
        live_bar, replay_bar = BARS.get(program, (0, None))
        met &= row["live_over_ours"] >= live_bar
        met &= replay_bar is None or row["replay_over_ours"] >= replay_bar
    report["fixed_overhead_ms"] = 1000 * fixed_overhead()
    print(f"fixed overhead {report['fixed_overhead_ms']:.2f} ms CPU an evaluation (bar: 10)")
    met &= report["fixed_overhead_ms"] < 10
    print("all bars met" if met else "NOT all bars met")
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
