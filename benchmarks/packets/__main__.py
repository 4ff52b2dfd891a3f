"""What the packets model costs, beside its bars. How true it is tells `hamtune study trust`.

    .venv/bin/python -m benchmarks.packets [cost programs forms] [--output FILE.json]
    .venv/bin/python -m benchmarks.packets table

- cost: CPU seconds and memory of one evaluation, from 64 to 16,384 ranks
- programs: eight built-in programs of two classes, beside the fluid model
- forms: the closed forms that the tests hold to twelve digits
- table: measures nothing; writes those of docs/benchmarks.md anew, of `results.json`

One core is used. The exit status tells whether all bars are met.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.packets.cost import show_costs
from benchmarks.packets.programs import show_programs
from benchmarks.packets.table import write_packets_tables
from benchmarks.provenance import measured_now
from workers.simulator_client import simulator_version

PARTS = ("cost", "programs", "forms")
FORMS = "tests/workers/simulator/test_packets.py"


def main() -> int:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--output", type=Path, help="where the figures of cost and programs go")
    arguments = parser.parse_args()
    if arguments.parts == ["table"]:
        write_packets_tables()
        return 0
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = arguments.parts or PARTS
    if arguments.output and {"cost", "programs"} - set(parts) and arguments.output.exists():
        parser.error(f"{arguments.output} has both cost and programs: name another file")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    bars = Bars()
    figures: dict[str, Any] = {
        **measured_now(),
        "simulator": simulator_version(),
    }
    if "cost" in parts:
        figures["cost"] = list(show_costs(bars))
    if "programs" in parts:
        figures["programs"] = list(show_programs(bars))
    missed = bars.missed
    if "forms" in parts:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "1", FORMS]
        missed += subprocess.run(command, check=False).returncode != 0
    if arguments.output:
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
