"""MPI's test suite as MPICH wrote it, in the form in which SimGrid's source package has it."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.programs.comparing import Outcome, compare, runs_plainly
from benchmarks.programs.packages import source_package
from workers.capture_build import RECORDER, WRAPPERS
from workers.capture_limits import Limits

__all__ = ["SUITES", "SuiteTest", "outcome_of", "tests_of"]

SUITES = ("pt2pt", "coll", "comm", "group", "datatype", "topo")
_SUITE = "teshsuite/smpi/mpich3-test"
_HELPERS = ("mtest.c", "mtest_datatype.c", "mtest_datatype_gen.c", "dtypes.c")
_NO_SLEEP = Path(__file__).with_name("no_sleep.c")
_PLAIN = "smpicc"
_COMPILERS = (WRAPPERS / "hamtune-mpicc", _PLAIN)
_LIMITS = Limits(wall_seconds=120, idle_seconds=20, stall_seconds=60)


@dataclass(frozen=True)
class SuiteTest:
    """A program of a test suite.

    Attributes:
        source: Its only file; the helpers of the suite come on top.
        ranks: On how many it runs.
        arguments: With which.
    """

    source: Path
    ranks: int
    arguments: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Suite, program and arguments."""
        return " ".join([f"{self.source.parent.name}/{self.source.stem}", *self.arguments])


def tests_of(suite: str) -> Iterator[SuiteTest]:
    """The programs that SimGrid runs of a suite, by its list."""
    folder = source_package("simgrid") / _SUITE / suite
    for line in (folder / "testlist").read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        source = folder / f"{words[0]}.c"
        if source.is_file() and len(words) > 1 and words[1].isdigit():
            given = (word.removeprefix("arg=") for word in words[2:] if word.startswith("arg="))
            yield SuiteTest(source, int(words[1]), tuple(given))


def outcome_of(test: SuiteTest, place: Path) -> Outcome:
    """What becomes of a test; `absent` where plain smpirun has no program to run either."""
    built = [_built(test.source, str(compiler)) for compiler in _COMPILERS]
    if isinstance(built[1], str):
        return Outcome("absent", built[1])
    if isinstance(built[0], str):
        return Outcome("failed", built[0])
    recorded, plain = ([str(program), *test.arguments] for program in built)
    outcome = compare(recorded, plain, test.ranks, place, limits=_LIMITS)
    is_doubtful = outcome.state in ("failed", "refused") or outcome.reason.startswith("plain")
    if is_doubtful and not runs_plainly(plain, test.ranks, place, _LIMITS.wall_seconds):
        return Outcome("absent", "plain smpirun does not run it")
    return outcome


@cache
def _built(source: Path, compiler: str) -> Path | str:
    """The program of a source, or why there is none; several tests may share it."""
    root = source.parents[1]
    sources = [source, *(root / "util" / name for name in _HELPERS)]
    if compiler == _PLAIN:  # what captures know of sleeps and random numbers
        sources += [_NO_SLEEP, RECORDER / "libhamtune_random.a"]
    program = _programs() / f"{source.parent.name}-{source.stem}-{Path(compiler).name}"
    flags = ["-w", "-O1", f"-I{root / 'include'}", "-DHAVE_CONFIG_H=1", "-o", program]
    built = subprocess.run(
        [str(word) for word in (compiler, *sources, *flags, "-lm")],
        capture_output=True,
        text=True,
        errors="replace",
    )
    return built.stderr.strip().splitlines()[-1] if built.returncode else program


@cache
def _programs() -> Path:
    directory = tempfile.TemporaryDirectory(prefix="hamtune-programs-")
    atexit.register(directory.cleanup)
    return Path(directory.name)
