"""Captures of the users' own programs: a source tree, how it is built, and what is run."""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.source_archive import unpack
from searchspace.formats.trace import TraceHeader
from workers.capture_build import RECORDER, WRAPPERS, is_recording, is_script
from workers.capture_failures import WAY_OUT, explain_build_failure
from workers.capture_limits import Limits
from workers.capture_run import Leaving, Measure, record_trace
from workers.capture_sandbox import CaptureFailed, Sandbox, Watching, describe_status

__all__ = ["SourceProgram", "capture_source", "check_run"]

COMPILERS = ("mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort")
_OTHER_COMPILERS = ("cc", "gcc", "c99", "c89", "c++", "g++", "gfortran", "clang", "clang++")
_LAUNCHERS = ("mpirun", "mpiexec", "srun", "smpirun")


@dataclass(frozen=True)
class SourceProgram:
    """How a source tree becomes a running program.

    Attributes:
        build: Shell command, run at the root of the tree.
        run: The program that it leaves, relative to the root, and its arguments.
        ranks: How many ranks run it.
        measure: How its computation is known.
    """

    build: str
    run: str
    ranks: int
    measure: Measure


def capture_source(
    archive: Path,
    program: SourceProgram,
    output: Path,
    *,
    limits: Limits | None = None,
    sandbox: bool = True,
    stop: threading.Event | None = None,
    watching: Watching | None = None,
    leaving: Leaving | None = None,
) -> TraceHeader:
    """Build a program and write the trace of its runs.

    The compilers of MPI that makefiles call (`mpicc`, `mpif77` and so on) are SMPI's, with the
    recorder in the programs they link.

    Args:
        archive: The source tree, as `searchspace.formats.source_archive` packs it.
        program: How it is built and run.
        output: The trace to write.
        limits: What the build and each run may use.
        sandbox: Whether bubblewrap shuts both in.
        stop: Ends the capture when set.
        watching: Opened over the sandbox while build and run are under way, for their logs.
        leaving: Gets the files that the runs leave, also where one failed.

    Raises:
        InvalidInput: The tree or a command cannot be used, or the program does what no trace can
            hold.
        CaptureFailed: The build or a run failed, with the end of its log.
        Interrupted: It was stopped.
    """
    program.measure.check(program.ranks)
    name, *arguments = _split(program.run)
    with Sandbox.temporary((), limits, confined=sandbox, stranger=True, stop=stop) as box:
        environment = _install_compilers(box)
        with watching(box) if watching else nullcontext():
            unpack(archive, box.workspace)
            box.note("build", f"$ {program.build}")
            status = box.run(["sh", "-c", program.build], environment, log="build")
            if status:
                reason = explain_build_failure(box.full_log("build"))
                raise CaptureFailed(
                    reason or f"the build ended with {describe_status(status)}", box.log("build")
                )
            built = _built(box, name)
            return record_trace(
                box,
                built,
                arguments,
                program.ranks,
                program.measure,
                output,
                shown=program.run,
                field="run",
                leaving=leaving,
            )


def check_run(run: str) -> str:
    """The program of a command to run.

    Raises:
        InvalidInput: The command cannot be used.
    """
    return _split(run)[0]


def _split(run: str) -> list[str]:
    try:
        words = shlex.split(run)
    except ValueError as error:
        raise InvalidInput(f"{run!r} is not a command: {error}", field="run") from None
    if not words:
        raise InvalidInput("give the program to run and its arguments", field="run")
    if Path(words[0]).name in _LAUNCHERS:
        raise InvalidInput(
            f"give the program and its arguments without {words[0]}; ranks has its own field",
            field="run",
        )
    return words


def _install_compilers(box: Sandbox) -> dict[str, str]:
    """Put the compilers where the build finds them first; the variables that it needs for that."""
    folder = box.control / "bin"
    folder.mkdir()
    folder.chmod(0o755)
    shutil.copy(WRAPPERS / "helpers.h", folder)
    toolchain = shutil.copy(WRAPPERS / "toolchain.cmake", folder)
    script = Path(shutil.copy(WRAPPERS / "compiler", folder))
    script.chmod(0o755)
    for name in COMPILERS:
        (folder / name).symlink_to(script.name)
    Path(shutil.copy(WRAPPERS / "shared-library", folder)).chmod(0o755)
    script = Path(shutil.copy(WRAPPERS / "pic-compiler", folder))
    script.chmod(0o755)
    for name in _OTHER_COMPILERS:
        if shutil.which(name):
            (folder / name).symlink_to(script.name)
    shutil.copy(RECORDER / "libhamtune_random.a", box.control)
    recorder = Path(shutil.copy(RECORDER / "hamtune_recorder.o", box.control))
    # Whatever the umask, and the modes of our own checkout.
    for file in (*box.control.glob("*hamtune_r*"), folder / "helpers.h", Path(toolchain)):
        file.chmod(0o644)
    path = os.environ.get("PATH", os.defpath)
    return {
        "PATH": f"{folder}:{path}",
        "HAMTUNE_RECORDER": str(recorder),
        "CMAKE_TOOLCHAIN_FILE": str(toolchain),
    }


def _built(box: Sandbox, name: str) -> Path:
    root = box.workspace.resolve()
    if Path(name).name.startswith("python"):
        raise CaptureFailed(f"programs in Python cannot run under SMPI; {WAY_OUT}")
    program = root / name
    # Libtool leaves a script that finds the program's libraries, and the program here.
    behind = program.with_name(".libs") / program.name
    program = (behind if behind.is_file() else program).resolve()
    # A link could lead to a program that the build did not make.
    if not program.is_relative_to(root) or not program.is_file():
        raise CaptureFailed(f"the build left no program {name}", box.log("build"))
    if is_script(program):
        raise CaptureFailed(f"{name} is a script, which cannot run under SMPI; {WAY_OUT}")
    if not is_recording(program):
        raise CaptureFailed(
            f"{name} has no recorder in it: link it with mpicc, mpicxx, mpif77, mpif90 or mpifort, "
            "called by their plain names",
            box.log("build"),
        )
    return program
