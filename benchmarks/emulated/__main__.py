"""Real Open MPI on an emulated cluster beside the simulator.

    .venv/bin/python -m benchmarks.emulated measure -o FILE.json [--set first|second|programs]
        [--rate 20] [--congestion-control reno]
    .venv/bin/python -m benchmarks.emulated compare [FILE.json ...] [--network fluid|packets]

`measure` needs root, Open MPI and iproute2; it makes network namespaces of its own and takes them
down again. `compare` needs neither: without a file it takes the measurements kept here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path

from benchmarks.emulated.cases import SETS
from benchmarks.emulated.cluster import Link
from benchmarks.emulated.compare import DATA, compare
from benchmarks.emulated.measure import COMPILER, PROGRAM_SET, measure
from searchspace.protocol import DEFAULT_PROTOCOL


def main() -> int:
    """Measure or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="run Open MPI and write down how long it took")
    measuring.add_argument("-o", "--output", type=Path, required=True)
    measuring.add_argument("--set", choices=(*SETS, PROGRAM_SET), default="first")
    measuring.add_argument("--congestion-control", default=Link().congestion_control)
    measuring.add_argument("--rate", type=float, default=20.0, help="Mbit/s of a cable")
    comparing = commands.add_parser("compare", help="simulate what was measured")
    comparing.add_argument("files", nargs="*", type=Path)
    comparing.add_argument("--network", choices=("fluid", "packets"), default="packets")
    comparing.add_argument("--protocol", default=DEFAULT_PROTOCOL, help="a name, or JSON")
    comparing.add_argument("--latency", type=float, help="seconds of a cable; else as measured")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        files = arguments.files or sorted(DATA.glob("*.json"))
        missed = compare(files, arguments.network, arguments.protocol, arguments.latency)
        return 1 if missed else 0
    missing = [tool for tool in (COMPILER, "mpirun.openmpi", "ip", "tc") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing:
        parser.error(f"measuring needs root, Open MPI and iproute2 (missing: {missing or 'root'})")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before the end"))
    link = Link(int(arguments.rate * 1e6), congestion_control=arguments.congestion_control)
    measure(arguments.set, link, arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
