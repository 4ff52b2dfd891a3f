"""Programs for a real MPI library: compiled with its own compiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from measuring.clusters import Library
from searchspace.builtins import BuiltinRun
from searchspace.errors import HamtuneError, InvalidInput
from workers.capture import APPLICATIONS, builtin_sources

__all__ = [
    "PROGRAMS",
    "BuildFailed",
    "build_builtin",
    "build_preload",
    "build_program",
    "compiler_of",
]

PROGRAMS = Path(__file__).parent / "programs"
"""The sources of our own programs."""

_SECONDS = 300
_SHOWN_LINES = 8


class BuildFailed(HamtuneError):
    """A program does not compile, with the end of what the compiler said."""


def compiler_of(library: Library) -> str:
    """The command that compiles C for a library: Debian's name of it, where several are installed.

    Raises:
        InvalidInput: There is none.
    """
    for name in (f"mpicc.{library}", "mpicc"):
        if shutil.which(name):
            return name
    raise InvalidInput(f"there is no mpicc of {library} here: install its development package")


def build_program(name: str, library: Library, output: Path) -> Path:
    """Build `programs/NAME.c`.

    Raises:
        BuildFailed: It does not compile.
        InvalidInput: There is no compiler.
    """
    return _compile(library, [PROGRAMS / f"{name}.c"], output, ["-std=c11"])


def build_preload(name: str, library: Library, output: Path) -> Path:
    """Build `programs/NAME.c` as a library to preload."""
    return _compile(library, [PROGRAMS / f"{name}.c"], output, ["-std=c11", "-shared", "-fPIC"])


def build_builtin(run: BuiltinRun, library: Library, directory: Path) -> list[str]:
    """Build a built-in program.

    Returns:
        The command that runs it.
    """
    flags = ["-w", f"-I{APPLICATIONS}"]
    built = _compile(library, builtin_sources(run.program), directory / run.program, flags)
    return [str(built), *map(str, run.parameters.values())]


def _compile(library: Library, sources: Sequence[Path], output: Path, flags: Sequence[str]) -> Path:
    command = [compiler_of(library), "-O2", *flags, *map(str, sources)]
    command += ["-o", str(output), "-lm", "-ldl"]
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise BuildFailed(f"{command[0]} does not end after {_SECONDS} s") from None
    if done.returncode:
        said = "\n".join(done.stderr.splitlines()[-_SHOWN_LINES:])
        raise BuildFailed(f"{' '.join(command)} failed:\n{said}")
    return output
