"""Turns source files into a program with the recorder in it, for SMPI."""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from searchspace.errors import InvalidInput
from workers.capture_failures import explain_build_failure
from workers.capture_sandbox import CaptureFailed, Sandbox

__all__ = [
    "RECORDER",
    "WRAPPERS",
    "build",
    "fortran_library",
    "is_recording",
    "is_script",
    "split_command",
]

_ROOT = Path(__file__).resolve().parent.parent
RECORDER = _ROOT / "build/workers/recorder"
"""Where CMake leaves the recorder."""
WRAPPERS = _ROOT / "workers/recorder/wrappers"

_COMPILERS = {
    ".c": "hamtune-mpicc",
    ".cc": "hamtune-mpicxx",
    ".cpp": "hamtune-mpicxx",
    ".cxx": "hamtune-mpicxx",
    ".C": "hamtune-mpicxx",
    ".f90": "hamtune-mpif90",
    ".F90": "hamtune-mpif90",
    ".f": "hamtune-mpif77",
    ".F": "hamtune-mpif77",
}
_FORTRAN = ("hamtune-mpif77", "hamtune-mpif90")
# The linker's language is the last of these that a source is written in.
_LINK_ORDER = ("hamtune-mpicc", "hamtune-mpicxx", "hamtune-mpif77", "hamtune-mpif90")
# Only a program with the recorder in it holds the name of the recorder's variable.
_MARK = b"HAMTUNE_RECORD_DIRECTORY"
# As a program names the shared library of gfortran that it is linked to.
_FORTRAN_LIBRARY = re.compile(rb"\0(libgfortran\.so\.\d{1,3})\0")


def split_command(command: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Split a command into leading source files and the arguments after them.

    A command whose first word is no source file is a program: no sources, all words.
    """
    sources = 0
    while sources < len(command) and Path(command[sources]).suffix in _COMPILERS:
        sources += 1
    return [Path(word) for word in command[:sources]], list(command[sources:])


def is_recording(program: Path) -> bool:
    """Whether a program has the recorder in it."""
    if program.stat().st_size == 0:
        return False
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(_MARK) >= 0


def fortran_library(program: Path) -> str | None:
    """The name of the shared library of gfortran that a program is linked to."""
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = _FORTRAN_LIBRARY.search(data)
        return found[1].decode() if found else None


def is_script(program: Path) -> bool:
    """Whether a program is text that another one interprets."""
    if program.suffix == ".py":
        return True
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def build(sandbox: Sandbox, sources: Sequence[Path], flags: Sequence[str], name: str) -> Path:
    """Compile and link sources in the sandbox's workspace.

    Args:
        sandbox: Must be able to read the sources' directories, the wrappers and the recorder.
        sources: In the order of compilation (Fortran modules first).
        flags: For every compilation and for the link.
        name: Of the program.

    Returns:
        The program.

    Raises:
        InvalidInput: A source cannot be read.
        CaptureFailed: A compiler failed.
    """
    objects = []
    compilers = []
    for number, source in enumerate(sources):
        if not source.is_file():
            raise InvalidInput(f"there is no source file {source}", field="command")
        compiler = _COMPILERS[source.suffix]
        compilers.append(compiler)
        target = f"{number}-{source.stem}.o"
        path, switches = source.resolve(), [*flags, f"-I{source.resolve().parent}"]
        if compiler in _FORTRAN:
            # SMPI's Fortran compiler writes beside the source.
            path = Path(shutil.copy(source, sandbox.workspace))
            switches += ["-w"]
        compilation = [str(WRAPPERS / compiler), "-c", "-O2", *switches, str(path)]
        if sandbox.run([*compilation, "-o", target], log="build"):
            reason = explain_build_failure(sandbox.full_log("build"))
            raise CaptureFailed(reason or f"{source.name} does not compile", sandbox.log("build"))
        objects.append(target)
    linker = max(compilers, key=_LINK_ORDER.index)
    libraries = ["-lstdc++"] if "hamtune-mpicxx" in compilers else []
    program = sandbox.workspace / name
    link = [str(WRAPPERS / linker), *objects, "-o", str(program), *flags, *libraries, "-lm"]
    environment = {"HAMTUNE_RECORDER": str(RECORDER / "hamtune_recorder.o")}
    if sandbox.run(link, environment, log="build"):
        raise CaptureFailed(f"{name} does not link", sandbox.log("build"))
    return program
