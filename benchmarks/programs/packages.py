"""MPI's test suite as Debian source packages have it: built, captured, replayed, compared.

`make programs` (or `python -m benchmarks.programs.packages [SUITE...]`) gets the source package of
SimGrid into a cache outside of the repository, by `apt-get source` with a list of sources of its
own, builds the tests of MPICH in it, and prints what becomes of each.
"""

from __future__ import annotations

import collections
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs.comparing import Outcome, compare
from workers.capture_build import WRAPPERS
from workers.capture_limits import Limits

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hamtune-programs"
SUITES = ("pt2pt", "coll", "comm", "group", "datatype", "topo")
_SUITE = "teshsuite/smpi/mpich3-test"
_TARGET = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"
_HELPERS = ("mtest.c",)
_LIMITS = Limits(wall_seconds=60, idle_seconds=10, stall_seconds=30)


@dataclass(frozen=True)
class Test:
    """A program of a test suite: its source, and on how many ranks it runs."""

    source: Path
    ranks: int

    @property
    def name(self) -> str:
        """Suite and program."""
        return f"{self.source.parent.name}/{self.source.stem}"


def source_package(name: str) -> Path:
    """The unpacked source of a Debian package, fetched the first time."""
    place = CACHE / name
    if not place.is_dir():
        apt = CACHE / "apt"
        for folder in ("lists/partial", "cache/archives/partial", "state"):
            (apt / folder).mkdir(parents=True, exist_ok=True)
        (apt / "sources.list").write_text(_sources())
        settings = {
            "Dir::Etc::sourcelist": apt / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State": apt / "state",
            "Dir::State::lists": apt / "lists",
            "Dir::Cache": apt / "cache",
            "APT::Sandbox::User": "root",
        }
        options = [f"-o{key}={value}" for key, value in settings.items()]
        place.mkdir(parents=True)
        try:
            subprocess.run(["apt-get", *options, "-qq", "update"], check=True)
            subprocess.run(["apt-get", *options, "-qq", "source", name], cwd=place, check=True)
        except BaseException:
            shutil.rmtree(place)
            raise
    return next(path for path in sorted(place.iterdir()) if path.is_dir())


def _sources() -> str:
    """The sources of what this system has its packages from, as a list for apt."""
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", _TARGET, "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return "".join(f"{line}\n" for line in sorted(set(told.splitlines())))


def tests_of(suite: Path) -> Iterator[Test]:
    """The programs that SimGrid runs of a suite."""
    for line in (suite / "testlist").read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        source = suite / f"{words[0]}.c"
        if source.is_file() and len(words) > 1 and words[1].isdigit():
            yield Test(source, int(words[1]))


def outcome_of(test: Test, root: Path, place: Path) -> Outcome | None:
    """What becomes of a test; None where plain smpirun has no program to run either."""
    programs = []
    for number, compiler in enumerate((WRAPPERS / "hamtune-mpicc", "smpicc")):
        program = place / f"{test.source.stem}-{number}"
        sources = [test.source, *(root / "util" / name for name in _HELPERS)]
        flags = ["-w", "-O1", f"-I{root / 'include'}", "-DHAVE_CONFIG_H=1", "-o", program]
        built = subprocess.run(
            [str(word) for word in (compiler, *sources, *flags, "-lm")],
            capture_output=True,
            text=True,
        )
        if built.returncode:
            return None if number else Outcome("failed", built.stderr.strip().splitlines()[-1])
        programs.append(str(program))
    if not _runs_plainly(programs[1], test.ranks, place):
        return None
    return compare([programs[0]], [programs[1]], test.ranks, place, limits=_LIMITS)


def _runs_plainly(program: str, ranks: int, place: Path) -> bool:
    hosts = [f"host-{number}" for number in range(ranks)]
    (place / "hosts").write_text("\n".join(hosts))
    (place / "plain.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        f'<platform version="4.1"><cluster id="c" prefix="host-" suffix="" radical="0-{ranks - 1}" '
        'speed="1Gf" bw="1GBps" lat="1us"/></platform>'
    )
    start = ["smpirun", "-np", str(ranks), "-platform", "plain.xml", "-hostfile", "hosts"]
    start += ["--cfg=smpi/simulate-computation:no"]
    try:
        done = subprocess.run(
            [*start, program], cwd=place, capture_output=True, timeout=_LIMITS.wall_seconds
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    """Print what becomes of each program of the suites that are named, or of all."""
    root = source_package("simgrid") / _SUITE
    states: collections.Counter[str] = collections.Counter()
    for name in sys.argv[1:] or SUITES:
        for test in tests_of(root / name):
            with tempfile.TemporaryDirectory(prefix="hamtune-programs-") as place:
                outcome = outcome_of(test, root, Path(place))
            state = outcome.state if outcome else "not under plain smpirun"
            states[state] += 1
            print(f"{test.name:32} {state:10} {outcome.reason if outcome else ''}", flush=True)
    print(", ".join(f"{state} {count}" for state, count in states.most_common()))


if __name__ == "__main__":
    main()
