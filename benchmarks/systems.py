"""Evaluations in the tree of another system beside those here: what a user there pays.

    .venv/bin/python -m benchmarks.systems TREE [--repeats 15] [--output FILE.json]
    .venv/bin/python -m benchmarks.systems table

TREE is one that `python -m deploy.portable` made. As root. Both systems evaluate eight programs in
turns, with both network models; the least CPU seconds of each count. The bar: 10% more, and the
same digits. Before them the examination of the engine here: at most 0.2 seconds of the clock, the
least of five. The exit status tells whether it is met. `table` measures nothing: it writes that of
docs/packaging.md anew, of `systems.json` and what `deploy.portable` and `deploy.image` found.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.packets.bars import Bars
from benchmarks.tables_in_docs import write_table
from benchmarks.turns import in_tree, in_turns
from workers.engine import BUILT, PLAIN, examine
from workers.simulator_client import engine_in_use

MOST_SLOWER = 0.1
MOST_EXAMINING = 0.2  # s
REPEATS = 15
LEAST_SECONDS = 0.1  # CPU: an evaluation of EP takes a ten thousandth
ROOT = Path(__file__).resolve().parent.parent
THERE = "/root/hamtune"  # in its tree
PAGE, TABLE = "packaging.md", "tried"
COSTS = Path(__file__).with_name("systems.json")
FOUND = ROOT / "deploy/results"
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
    if str(arguments.tree) == "table":
        write_table(PAGE, TABLE, systems_table())
        return 0
    python = [str(ROOT / "deploy/enter.sh"), str(arguments.tree), "env", "-C", THERE]
    python += [f"PATH={THERE}/.simgrid/bin:/usr/bin:/bin", "PYTHONPATH=.", ".venv/bin/python"]
    commands = [in_tree(sys.executable, ROOT), [*python, "-P", "benchmarks/evaluating.py"]]
    bars, rows = Bars(), []
    seconds = [_examination() for _ in range(5)]
    bars.at_most("examination of the engine: seconds", min(seconds), MOST_EXAMINING)
    for case, model in itertools.product(CASES, ("fluid", "packets")):
        row = in_turns(case, model, commands, arguments.repeats, LEAST_SECONDS)
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
            "examination_seconds": seconds,
            "cases": rows,
        }
        arguments.output.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if bars.missed else 0


def _examination() -> float:
    with tempfile.TemporaryDirectory() as empty, patch.dict(os.environ, XDG_CACHE_HOME=empty):
        began = time.monotonic()
        examine(BUILT, PLAIN)
        return time.monotonic() - began


def systems_table() -> str:
    """What was found and measured, in Markdown."""
    portable = json.loads((FOUND / "portable.json").read_text())
    image = json.loads((FOUND / "image.json").read_text())
    costs = json.loads(COSTS.read_text())
    demo, wheel = portable["demo"], portable["wheel"]
    there, day = portable["system"], portable["date"]
    ratios = {
        model: [
            min(case["cpu_seconds"][1]) / min(case["cpu_seconds"][0])
            for case in costs["cases"]
            if case["model"] == model
        ]
        for model in ("fluid", "packets")
    }
    rows = [
        (f"`make demo` on {there}, {demo['compiler']}", _digits(demo), "the same", day),
        ("seconds from nothing there, with SimGrid", demo["seconds_from_nothing"], "", day),
        ("MB of a user's environment there", _beside(demo["environment_mb"], 700), 700, day),
        (f"the wheel there, {wheel['python']}: the demo's job", _digits(wheel), "the same", day),
        *((f"built by {name}", _built(found), "", day) for name, found in _compilers(portable)),
        ("tests there", portable["tests"]["outcome"].strip("= "), "", day),
        (
            "seconds of the engine's examination here",
            _beside(round(min(costs["examination_seconds"]), 2), MOST_EXAMINING),
            MOST_EXAMINING,
            costs["date"],
        ),
        *(
            (
                f"cost of {len(of_one)} programs there over here, {model}: least, most",
                f"{min(of_one):.2f}, {_beside(round(max(of_one), 2), 1 + MOST_SLOWER)}",
                1 + MOST_SLOWER,
                costs["date"],
            )
            for model, of_one in ratios.items()
        ),
        ("the image: the demo's job", _digits(image), "the same", image["date"]),
        ("MB of the image", _beside(image["megabytes"], 900), 900, image["date"]),
    ]
    lines = ["| What | Found | Bar | Day |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _digits(found: dict[str, Any]) -> str:
    return "the same digits" if found["same_digits"] else "other digits (missed)"


def _beside(value: float, bar: float) -> str:
    return f"{value}" if value <= bar else f"{value} (missed)"


def _compilers(portable: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, found) for name, found in portable["compilers"].items() if name != "holds"]


def _built(found: str) -> str:
    return "without a warning, exact" if found == "builds" else f"{found} (missed)"


if __name__ == "__main__":
    sys.exit(main())
