"""Captures: a program runs once or several times under SMPI and leaves its trace."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from searchspace.builtins import BUILTINS
from searchspace.errors import InvalidInput
from searchspace.formats.trace import TraceHeader
from workers.capture_build import RECORDER, WRAPPERS, build, is_recording, is_script, split_command
from workers.capture_failures import WAY_OUT
from workers.capture_limits import Limits
from workers.capture_run import Leaving, Measure, record_trace
from workers.capture_sandbox import CaptureFailed, Sandbox, Watching, confinement_problem

__all__ = [
    "APPLICATIONS",
    "CaptureFailed",
    "Limits",
    "builtin_sha256",
    "builtin_sources",
    "capture",
    "capture_builtin",
]

APPLICATIONS = Path(__file__).resolve().parent.parent / "applications"
"""The built-in programs, a directory each."""
_SHARED = {"bt": ("cfd",), "lu": ("cfd",), "sp": ("cfd",)}
"""Directories of `common` that only some programs are built with."""


def capture(
    command: Sequence[str],
    ranks: int,
    output: Path,
    *,
    declared_flops: bool = False,
    host_speed: float | None = None,
    captures: int = 1,
    compiler_flags: Sequence[str] = (),
    inputs: Sequence[Path] = (),
    limits: Limits | None = None,
    sandbox: bool = True,
    stop: threading.Event | None = None,
    watching: Watching | None = None,
    leaving: Leaving | None = None,
) -> TraceHeader:
    """Run a program and write its trace.

    Args:
        command: Source files (C, C++, Fortran) and then the arguments of the program they make; or
            a program made by Hamtune's wrapper compilers and its arguments.
        ranks: How many ranks it runs on.
        output: The trace to write.
        declared_flops: Whether the program declares its computation (see `Measure`).
        host_speed: Flop/s that turn measured seconds into flops (see `Measure`).
        captures: Runs, whose median computation counts.
        compiler_flags: Added to every compilation and to the link of source files; directories of
            `-I` and `-L` may be read.
        inputs: Files that the program reads, copied into the directory where it runs.
        limits: What each compilation and the run may use.
        sandbox: Whether to shut the program in with bubblewrap: no network, a read-only system, no
            other files than the directories of the sources.
        stop: Ends the capture when set.
        watching: Opened over the sandbox while the program is built and runs.
        leaving: Gets the files that the runs leave, also where one failed.

    Returns:
        The header of the trace.

    Raises:
        InvalidInput: The command cannot be captured; a call that no trace can hold is named.
        CaptureFailed: It could not be compiled or run, with the end of what it printed.
        Interrupted: It was stopped.
    """
    sources, arguments = split_command(command)
    if not sources and not arguments:
        raise InvalidInput("give source files or a program to run", field="command")
    measure = Measure(declared_flops, host_speed, captures)
    measure.check(ranks)
    flags = [
        f"{flag[:2]}{Path(flag[2:]).resolve()}" if flag[:2] in ("-I", "-L") else flag
        for flag in compiler_flags
    ]
    readable = [WRAPPERS, RECORDER, *(source.resolve().parent for source in sources)]
    readable += [Path(flag[2:]) for flag in flags if flag[:2] in ("-I", "-L")]
    with (
        Sandbox.temporary(readable, limits, confined=sandbox, stop=stop) as box,
        watching(box) if watching else nullcontext(),
    ):
        if sources:
            program = build(box, sources, flags, sources[0].stem)
        else:
            program = _copy_program(Path(arguments.pop(0)), box.workspace)
        for path in inputs:
            if not path.is_file():
                raise InvalidInput(f"there is no file {path}", field="inputs")
            shutil.copy(path, box.workspace)
        return record_trace(box, program, arguments, ranks, measure, output, leaving=leaving)


def builtin_sources(program: str) -> list[Path]:
    """The files that a program of `applications/` is built from."""
    common = APPLICATIONS / "common"
    directories = [APPLICATIONS / program, common]
    directories += [common / name for name in _SHARED.get(program, ())]
    return [source for directory in directories for source in sorted(directory.glob("*.c"))]


def capture_builtin(
    program: str,
    class_: str | None,
    ranks: int,
    parameters: Mapping[str, object],
    output: Path,
    *,
    limits: Limits | None = None,
    stop: threading.Event | None = None,
) -> TraceHeader:
    """Capture a program of `applications/`, which declares its flops.

    These programs are Hamtune's own, built with it, so they also run where bubblewrap cannot.

    Args:
        program: Name of the program (`cg`).
        class_: Its problem class, for the programs that have one.
        ranks: How many ranks it runs on.
        parameters: Its other values, in the order of its arguments; the text of those that are
            files.
        output: The trace to write.
        limits: What the run may use.
        stop: Ends the capture when set.

    Raises:
        InvalidInput: No such program, or one that refuses its class, parameters or ranks.
        CaptureFailed: It was not built, or could not be run.
    """
    if program not in BUILTINS:
        raise InvalidInput(
            f"there is no built-in program {program!r}; allowed: {', '.join(sorted(BUILTINS))}",
            field="application.builtin",
        )
    arguments = [] if class_ is None else [class_]
    try:
        with tempfile.TemporaryDirectory(prefix="hamtune-capture-") as directory:
            inputs = []
            for name, value in parameters.items():
                if name in BUILTINS[program].files:
                    inputs.append(Path(directory) / f"{name}.mtx")
                    inputs[-1].write_text(str(value))
                    arguments.append(inputs[-1].name)
                else:
                    arguments.append(str(value))
            return capture(
                [str(_built(program)), *arguments],
                ranks,
                output,
                declared_flops=True,
                inputs=inputs,
                limits=limits,
                sandbox=confinement_problem() is None,
                stop=stop,
            )
    except CaptureFailed as error:
        # A built-in program says what is wrong with its arguments in a line of its own.
        for line in error.log.splitlines():
            if line.startswith(f"{program}: "):
                raise InvalidInput(
                    line.removeprefix(f"{program}: "), field="application"
                ) from error
        raise


def builtin_sha256(program: str) -> str:
    """A built-in program as it was built, as a hash: another one leaves another trace.

    Raises:
        CaptureFailed: It was not built.
    """
    return hashlib.sha256(_built(program).read_bytes()).hexdigest()


def _built(program: str) -> Path:
    path = APPLICATIONS.parent / "build/applications" / program
    if not path.is_file():
        raise CaptureFailed(f"the built-in program {program} is not built; run ./setup.sh", "")
    return path


def _copy_program(program: Path, workspace: Path) -> Path:
    if not program.is_file():
        raise InvalidInput(f"there is no program {program}", field="command")
    if is_script(program) or program.name.startswith("python"):
        raise InvalidInput(
            f"{program.name}: scripts cannot run under SMPI; {WAY_OUT}", field="command"
        )
    if not is_recording(program):
        raise InvalidInput(
            f"{program.name} has no recorder in it: give its source files, or build it with "
            "hamtune-mpicc, hamtune-mpicxx, hamtune-mpif90 or hamtune-mpif77",
            field="command",
        )
    return Path(shutil.copy(program, workspace))
