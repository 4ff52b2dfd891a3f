"""How many lines of the C++ kernels and of the simulator the tests run.

    .venv/bin/python -m deploy.coverage [--output FILE.json] [--bar PERCENT] [TEST ...]

Builds all C++ with clang's counters in build/coverage, runs the tests in C++ and those of TEST
against it (tests/searchspace and tests/workers), and prints a table by file, the least covered
first. The exit status is 0 if they pass and the total is not below the bar (90). An hour of one
core; needs `./setup.sh --test` and the Debian packages clang and llvm.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deploy import instrumented

_TESTS = ("tests/searchspace", "tests/workers")
_DESELECTED = ("tests/workers/test_engine.py::test_a_library_that_lacks_what_it_asks_for",)
"""It changes names in the program, of which clang keeps others than GCC."""
_COUNTED = ("searchspace/kernels/", "workers/simulator/", "workers/system_calls/")
_PROGRAMS = (
    "build/tests/kernel-tests",
    "build/tests/simulator-tests",
    "build/workers/simulator/hamtune-simulator",
    "build/workers/simulator/hamtune-simulator-plain",
    "build/workers/system_calls/hamtune-program-filter",
)


def main() -> int:
    """Build, run, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", nargs="*", metavar="TEST", default=_TESTS)
    parser.add_argument("--output", type=Path, help="where the figures go")
    parser.add_argument("--bar", type=float, default=90.0, help="percent of all lines")
    arguments = parser.parse_args()
    instrumented.need({"clang++": "clang", "llvm-cov": "llvm", "llvm-profdata": "llvm"})
    copy = instrumented.copy_sources("coverage")
    pass_all = run_tests(copy, arguments.tests)
    files = lines_of(copy)
    total = summed(files.values())
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "compiler": first_line(["clang++", "--version"]),
        "tests": list(arguments.tests),
        "tests_pass": pass_all,
        "total": total,
        "files": files,
    }
    print(table(found))
    if arguments.output:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if pass_all and total["percent"] >= arguments.bar else 1


def run_tests(copy: Path, tests: Sequence[str]) -> bool:
    """Build the copy and run all tests; their counters lie in its folder `counters`."""
    counters = copy / "counters"
    for old in counters.glob("*"):
        old.unlink()
    # %c: counted in a mapped file, which those share that are forked, and keep who are killed.
    environment = {
        **instrumented.environment(),
        "LLVM_PROFILE_FILE": str(counters / "%c%m.profraw"),
    }
    compiler = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
    instrumented.build(copy, [*compiler, "-DHAMTUNE_COVERAGE=ON"], environment)
    native = ["ctest", "--test-dir", "build", "--output-on-failure", "--no-tests=error"]
    python = [".venv/bin/python", "-m", "pytest", "-q", "-n", "2", *tests]
    python += [f"--deselect={test}" for test in _DESELECTED]
    outcomes = [instrumented.holds(copy, each, environment) for each in (native, python)]
    return all(outcomes)


def lines_of(copy: Path) -> dict[str, dict[str, float]]:
    """Of each file with code its lines, those that ran, and their share in percent."""
    counters = sorted(str(each) for each in (copy / "counters").glob("*.profraw"))
    merged = copy / "counters/all.profdata"
    merge = ["llvm-profdata", "merge", "-sparse", *counters, "-o", str(merged)]
    subprocess.run(merge, cwd=copy, check=True)
    module = next((copy / "searchspace/kernels").glob("_native*.so"))
    objects = [word for program in _PROGRAMS for word in ("-object", str(copy / program))]
    export = [
        *("llvm-cov", "export", "-summary-only", f"-instr-profile={merged}"),
        *(str(module), *objects),
    ]
    done = subprocess.run(export, cwd=copy, check=True, stdout=subprocess.PIPE)
    found: dict[str, dict[str, float]] = {}
    for file in json.loads(done.stdout)["data"][0]["files"]:
        path = Path(file["filename"])
        name = str(path.relative_to(copy)) if path.is_relative_to(copy) else ""
        if name.startswith(_COUNTED):
            lines = file["summary"]["lines"]
            found[name] = counted(lines["count"], lines["covered"])
    return dict(sorted(found.items()))


def counted(lines: float, covered: float) -> dict[str, float]:
    """Figures of a file."""
    percent = round(100 * covered / lines, 1) if lines else 100.0
    return {"lines": lines, "covered": covered, "percent": percent}


def summed(files: Any) -> dict[str, float]:
    """The same of all."""
    of_all = list(files)
    return counted(sum(each["lines"] for each in of_all), sum(each["covered"] for each in of_all))


def table(found: dict[str, Any]) -> str:
    """Lines, lines that ran, percent and name; the least covered first."""
    rows = sorted(found["files"].items(), key=lambda row: (row[1]["percent"], row[0]))
    return "\n".join(
        f"{each['lines']:7.0f} {each['covered']:7.0f} {each['percent']:6.1f} %  {name}"
        for name, each in [*rows, ("in total", found["total"])]
    )


def first_line(command: list[str]) -> str:
    """The first line that a program prints."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
