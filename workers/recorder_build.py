"""Builds the recorder that is preloaded into the programs of a real MPI library."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from searchspace.errors import HamtuneError, InvalidInput

__all__ = ["HOST_SPEED", "LIBRARY", "BuildFailed", "build_recorder", "write_sources"]

LIBRARY = "libhamtune-recorder.so"
HOST_SPEED = "hamtune-host-speed"
_SOURCES = Path(__file__).resolve().parent / "recorder"
_OF_SMPI = ("smpi*.c", "unsupported_smpi.c")
_SECONDS = 900
_SHOWN_LINES, _SHOWN_WIDTH = 8, 200


class BuildFailed(HamtuneError):
    """The compiler does not build the recorder; a line, and then the last ones that it said."""


def write_sources(directory: Path) -> None:
    """Write the recorder's sources and their makefile, which need a C compiler and MPI only.

    Args:
        directory: Made if need be.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(_SOURCES.glob("*.[ch]")):
        if not any(source.match(pattern) for pattern in _OF_SMPI):
            shutil.copy(source, directory)
    shutil.copy(_SOURCES / "real.mk", directory / "Makefile")
    generator = [sys.executable, str(_SOURCES / "generate.py")]
    tables = [str(_SOURCES / name) for name in ("calls.txt", "real_calls.txt")]
    subprocess.run([*generator, *tables, str(directory)], check=True)


def build_recorder(mpicc: str, directory: Path) -> None:
    """Build the library to preload and the program that measures a host's speed.

    Args:
        mpicc: The C compiler of the MPI library that runs the programs.
        directory: Where they go; made if need be.

    Raises:
        InvalidInput: There is no such compiler, or no `make`.
        BuildFailed: It does not compile.
    """
    for tool in (mpicc, "make"):
        if shutil.which(tool) is None:
            raise InvalidInput(f"there is no {tool} here", field="mpicc")
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hamtune-recorder-") as workspace:
        write_sources(Path(workspace))
        command = ["make", "-s", "-j2", "-C", workspace, f"MPICC={mpicc}"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise BuildFailed(f"{mpicc} did not build the recorder within {_SECONDS} s") from error
        if answer.returncode:
            said = [line for line in answer.stderr.splitlines() if line.strip()][-_SHOWN_LINES:]
            reason = f"{mpicc} does not build the recorder; is it the C compiler of an MPI library?"
            raise BuildFailed("\n".join([reason, *(line[:_SHOWN_WIDTH] for line in said)]))
        for name in (LIBRARY, HOST_SPEED):
            shutil.copy(Path(workspace) / name, directory / name)
