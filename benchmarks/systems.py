"""Evaluations in the tree of another system beside those here: what a user there pays.

    .venv/bin/python -m benchmarks.systems TREE [--repeats 15] [--output FILE.json]
    .venv/bin/python -m benchmarks.systems table

TREE is one that `python -m deploy.portable` made. As root. Both systems evaluate eight programs in
turns, with both network models; the least CPU seconds of each count. The bar: 10% more, and the
same digits. Before them the examination of the engine here: at most 0.2 seconds of the clock, the
least of five. The exit status tells whether it is met. `table` measures nothing: it writes that of
docs/packaging.md anew, of `systems.json` and what `deploy.portable`,
`deploy.image` and `deploy.clone` found.
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
from collections.abc import Iterator
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
MOST_ENVIRONMENT, MOST_IMAGE = 700, 900  # MB
MOST_DEMO = 240  # s, from nothing
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
    """What was found and measured, in Markdown; a step that was not taken has no row."""
    rows = [*_portable(), *_costs(), *_image(), *_clone()]
    lines = ["| What | Found | Bar | Day |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


_Row = tuple[str, str, str, str]


def _portable() -> Iterator[_Row]:
    found = _found("portable.json")
    there = found.get("system", "")
    if demo := found.get("demo"):
        day, compiler = demo["date"], demo["compiler"]
        yield f"`make demo` on {there}, {compiler}", _digits(demo), "the same digits", day
        yield "seconds from nothing there, with SimGrid", str(demo["seconds_from_nothing"]), "", day
        environment = _beside(demo["environment_mb"], MOST_ENVIRONMENT, 0)
        yield "MB of a user's environment there", environment, f"{MOST_ENVIRONMENT}", day
    if wheel := found.get("wheel"):
        what = f"the wheel there, {wheel['python']}: the demo's job"
        yield what, _digits(wheel), "the same digits", wheel["date"]
    if pythons := found.get("pythons"):
        for tried in pythons["tried"]:
            what = f"the wheel here, {tried['python']}: the demo's job"
            yield what, _digits(tried), "the same digits", pythons["date"]
    if tests := found.get("tests"):
        yield "tests there", tests["outcome"], "", tests["date"]
    if compilers := found.get("compilers"):
        for name, outcome in compilers["outcomes"].items():
            told = "no warning, exact" if outcome == "builds" else outcome
            yield f"compiled by {name}", told, "", compilers["date"]


def _costs() -> Iterator[_Row]:
    costs = json.loads(COSTS.read_text())
    day = costs["date"]
    examination = _beside(min(costs["examination_seconds"]), MOST_EXAMINING, 2)
    yield "seconds of the engine's examination", examination, f"{MOST_EXAMINING}", day
    for model in ("fluid", "packets"):
        ratios = [
            min(case["cpu_seconds"][1]) / min(case["cpu_seconds"][0])
            for case in costs["cases"]
            if case["model"] == model
        ]
        what = f"CPU seconds of {len(ratios)} programs there over here, {model}: least to most"
        most = _beside(max(ratios), 1 + MOST_SLOWER, 3)
        yield what, f"{min(ratios):.3f} to {most}", f"{1 + MOST_SLOWER}", day


def _image() -> Iterator[_Row]:
    if image := _found("image.json"):
        day = image["date"]
        yield "the image: the demo's job", _digits(image), "the same digits", day
        yield "captured in it", ", ".join(image["captured"]), "C, C++ and Fortran", day
        size = _beside(image["megabytes"], MOST_IMAGE, 0)
        yield "MB of the image", size, f"{MOST_IMAGE}", day


def _clone() -> Iterator[_Row]:
    found = _found("clone.json")
    if demo := found.get("demo"):
        seconds = _beside(demo["seconds_from_nothing"], MOST_DEMO, 0)
        what = f"`make demo` in a fresh clone here, load {demo['load_before']} before: seconds"
        yield what, seconds, f"{MOST_DEMO}", demo["date"]
    if tests := found.get("test"):
        median = f"{tests['load_median']:.1f}"
        held = "" if tests["holds"] else " (missed)"
        what = f"`make test` in a fresh clone here at a median load of {median}"
        yield what, tests["outcome"] + held, "passes at 12", tests["date"]


def _found(name: str) -> dict[str, Any]:
    path = FOUND / name
    return json.loads(path.read_text()) if path.exists() else {}


def _digits(found: dict[str, Any]) -> str:
    outcome = "the same digits" if found["same_digits"] else "other digits (missed)"
    return f"{found['trials']} trials, {outcome}"


def _beside(value: float, bar: float, digits: int) -> str:
    return f"{value:.{digits}f}" + ("" if value <= bar else " (missed)")


if __name__ == "__main__":
    sys.exit(main())
