"""Evaluations of small cases beside those of an earlier revision: none may have become slower.

    .venv/bin/python -m benchmarks.before REVISION [--repeats 25] [--built DIR] [--output FILE.json]

The revision is built in a tree of its own. Both evaluate the same programs in turns, with both
network models; the least CPU seconds of each count. The bar: 3% more. The exit status tells whether
it is met.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.turns import in_tree, in_turns
from workers.simulator_client import simulator_version

MOST_SLOWER = 0.03
REPEATS = 25
ROOT = Path(__file__).resolve().parent.parent
CASES = (
    ("cg", "S", "16"),
    ("is", "S", "32"),
    ("mg", "S", "64"),
    ("ft", "S", "16"),
    ("lu", "S", "16"),
    ("stencil3d", "-", "64", "points=64", "iterations=20"),
)


def main() -> int:
    """Build the earlier simulator, and measure both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--built", type=Path, help="where the revision is built, or was")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    bars, rows = Bars(), []
    with tempfile.TemporaryDirectory(prefix="hamtune-before-") as scratch:
        tree = (arguments.built or Path(scratch) / "tree").resolve()
        trees = (built(arguments.revision, tree), ROOT)
        commands = [in_tree(sys.executable, each) for each in trees]
        for case, model in itertools.product(CASES, ("fluid", "packets")):
            row = in_turns(case, model, commands, arguments.repeats)
            before, now = (min(seconds) for seconds in row["cpu_seconds"])
            name = f"{' '.join(case)}, {model}: slower by"
            bars.at_most(name, now / before - 1, MOST_SLOWER)
            rows.append(row)
    if arguments.output:
        document = {
            **measured_now(),
            "simulator": simulator_version(),
            "before": arguments.revision,
            "cases": rows,
        }
        arguments.output.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if bars.missed else 0


def built(revision: str, tree: Path) -> Path:
    """A tree of a revision, built where it is not yet."""
    if not (tree / "build").exists():
        tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
        python = f"-DPython_EXECUTABLE={sys.executable}"
        configure = ["cmake", "-S", str(tree), "-B", str(tree / "build"), python]
        for command in (configure, ["cmake", "--build", str(tree / "build"), "-j2"]):
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return tree


if __name__ == "__main__":
    sys.exit(main())
