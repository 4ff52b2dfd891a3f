"""Evaluations in the tree of another system beside those here: what a user there pays.

    .venv/bin/python -m benchmarks.systems TREE [--repeats 15] [--output FILE.json]

TREE is one that `deploy/portable.sh` made. As root. Both systems evaluate eight programs in turns,
with both network models; the least CPU seconds of each count. The bar: 10% more, and the same
digits. The exit status tells whether it is met.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import platform
import subprocess
import sys
from pathlib import Path

from benchmarks.packets.bars import Bars
from benchmarks.turns import in_tree, in_turns
from workers.simulator_client import engine_in_use

MOST_SLOWER = 0.1
REPEATS = 15
ROOT = Path(__file__).resolve().parent.parent
THERE = "/root/hamtune"  # in its tree
CASES = (
    ("bt", "S", "9"),
    ("cg", "S", "16"),
    ("ep", "S", "16"),
    ("ft", "S", "16"),
    ("is", "S", "32"),
    ("lu", "S", "16"),
    ("mg", "S", "64"),
    ("sp", "S", "9"),
)


def main() -> int:
    """Measure all programs in both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    inside = ["chroot", str(arguments.tree), "env", "-i", "-C", THERE, "HOME=/root"]
    inside += ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]
    python = [*inside, "PYTHONPATH=.", ".venv/bin/python"]
    commands = [in_tree(sys.executable, ROOT), [*python, "-P", "benchmarks/evaluating.py"]]
    bars, rows = Bars(), []
    for case, model in itertools.product(CASES, ("fluid", "packets")):
        row = in_turns(case, model, commands, arguments.repeats)
        here, there = (min(seconds) for seconds in row["cpu_seconds"])
        name = f"{' '.join(case)}, {model}: "
        bars.at_most(name + "slower by", there / here - 1, MOST_SLOWER)
        bars.at_most(name + "other times", len(set(row["simulated_time"])) - 1, 0)
        rows.append(row)
    if arguments.output:
        asked = "import platform; from workers.simulator_client import engine_in_use as e; "
        asked += "print(platform.freedesktop_os_release()['PRETTY_NAME'], e(), sep='; ')"
        said = subprocess.run([*python, "-c", asked], capture_output=True, text=True, check=True)
        here_too = f"{platform.freedesktop_os_release()['PRETTY_NAME']}; {engine_in_use()}"
        document = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "systems": [here_too, said.stdout.strip()],
            "cases": rows,
        }
        arguments.output.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())
