"""Evaluations of small cases beside those of an earlier revision: none may have become slower.

    .venv/bin/python -m benchmarks.before REVISION [--repeats 25] [--built DIR] [--output FILE.json]

The revision is built in a tree of its own. Both evaluate the same programs in turns, with both
network models; the least CPU seconds of each count. The bar: 3% more. The exit status tells whether
it is met.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
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
        trees = [built(arguments.revision, tree), ROOT]
        for case, model in itertools.product(CASES, ("fluid", "packets")):
            row = measured(case, model, trees, arguments.repeats)
            before, now = (min(seconds) for seconds in row["cpu_seconds"])
            name = f"{' '.join(case)}, {model}: slower by"
            bars.at_most(name, now / before - 1, MOST_SLOWER)
            rows.append(row)
    if arguments.output:
        document = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
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


def measured(
    case: Sequence[str], model: str, trees: Sequence[Path], repeats: int
) -> dict[str, Any]:
    """CPU seconds of each evaluation in each tree, and what they say of the time.

    Each tree captures the program itself: the form of traces may have changed.

    Raises:
        RuntimeError: An evaluation failed.
    """
    given = [*case[:3], model, *case[3:]]
    started = [
        subprocess.Popen(
            [sys.executable, "-P", str(ROOT / "benchmarks/evaluating.py"), *given],
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for tree in trees
    ]
    answers: list[list[dict[str, Any]]] = [[] for _ in trees]
    for _ in range(repeats + 1):
        for process, of_one in zip(started, answers, strict=True):
            assert process.stdin and process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            of_one.append(json.loads(process.stdout.readline()))
            if of_one[-1]["status"] != "completed":
                raise RuntimeError(f"{' '.join(given)}: {of_one[-1]['status']}")
    for process in started:
        process.communicate()
    return {
        "case": " ".join(case),
        "model": model,
        # The first evaluation reads the trace.
        "cpu_seconds": [[answer["cpu_seconds"] for answer in of_one[1:]] for of_one in answers],
        "simulated_time": [of_one[0]["simulated_time"] for of_one in answers],
    }


if __name__ == "__main__":
    sys.exit(main())
