"""Runs an MPI program once under SMPI with the recorder in it, and leaves its trace.

The run uses a network without contention: a trace holds what the program asked of MPI, not how long
it took, and this network is cheap to simulate. Programs that take messages in order of arrival are
recorded in the order of this run.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.trace import MAX_RANKS, RankFile, TraceHeader, write_trace
from workers.capture_build import RECORDER, WRAPPERS, build, is_recording, split_command
from workers.capture_sandbox import CaptureFailed, Limits, Sandbox, confinement_problem

__all__ = ["APPLICATIONS", "CaptureFailed", "Limits", "capture", "capture_builtin"]

APPLICATIONS = Path(__file__).resolve().parent.parent / "applications"
"""The built-in programs, a directory each."""

# Links that do not contend keep the solver small; each host pair is two links apart. (Simpler still
# would be SimGrid's Constant model, but 3.32 loses messages to rounding with it.)
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="capture" prefix="host-" suffix="" radical="0-{last}" speed="1Gf"
           bw="1GBps" lat="1us" sharing_policy="FATPIPE"/>
</platform>
"""
_SMPI_OPTIONS = (
    "--cfg=smpi/simulate-computation:no",
    # SMPI's defaults send all pairs at once; these take turns.
    "--cfg=smpi/alltoall:ring",
    "--cfg=smpi/alltoallv:ring",
    "--cfg=smpi/allgather:ring",
    "--cfg=smpi/allgatherv:ring",
    "--log=xbt_cfg.thres:error",
    "--log=smpi_config.thres:error",
    # One line a rank and collective for the choices above would bury what the program printed.
    "--log=smpi_coll.thres:warning",
)


def capture(
    command: Sequence[str],
    ranks: int,
    output: Path,
    *,
    declared_flops: bool = False,
    host_speed: float | None = None,
    compiler_flags: Sequence[str] = (),
    inputs: Sequence[Path] = (),
    limits: Limits | None = None,
    sandbox: bool = True,
) -> TraceHeader:
    """Run a program and write its trace.

    Args:
        command: Source files (C, C++, Fortran) and then the arguments of the program they make; or
            a program made by Hamtune's wrapper compilers and its arguments.
        ranks: How many ranks it runs on.
        output: The trace to write.
        declared_flops: Whether the program declares its computation (`hamtune_compute`,
            `smpi_execute_flops`); else the CPU time between MPI calls is measured.
        host_speed: Flop/s that turn measured seconds into flops; by default the measured speed of a
            matrix product on one core of this machine.
        compiler_flags: Added to every compilation and to the link of source files; directories of
            `-I` and `-L` may be read.
        inputs: Files that the program reads, copied into the directory where it runs.
        limits: What each compilation and the run may use.
        sandbox: Whether to shut the program in with bubblewrap: no network, a read-only system, no
            other files than the directories of the sources.

    Returns:
        The header of the trace.

    Raises:
        InvalidInput: The command cannot be captured; a call that no trace can hold is named.
        CaptureFailed: It could not be compiled or run, with the end of what it printed.
    """
    sources, arguments = split_command(command)
    if not sources and not arguments:
        raise InvalidInput("give source files or a program to run", field="command")
    _check(ranks, host_speed)
    with tempfile.TemporaryDirectory(prefix="hamtune-capture-") as directory:
        workspace = Path(directory)
        flags = [
            f"{flag[:2]}{Path(flag[2:]).resolve()}" if flag[:2] in ("-I", "-L") else flag
            for flag in compiler_flags
        ]
        readable = [WRAPPERS, RECORDER, *(source.resolve().parent for source in sources)]
        readable += [Path(flag[2:]) for flag in flags if flag[:2] in ("-I", "-L")]
        box = Sandbox(workspace, tuple(readable), limits or Limits(), confined=sandbox)
        if sources:
            program = build(box, sources, flags, sources[0].stem)
        else:
            program = _copy_program(Path(arguments.pop(0)), workspace)
        for path in inputs:
            if not path.is_file():
                raise InvalidInput(f"there is no file {path}", field="inputs")
            shutil.copy(path, workspace)
        if not declared_flops and host_speed is None:
            host_speed = _measured_host_speed()
        speed = None if declared_flops else host_speed
        rank_files = _record(box, program, arguments, ranks, speed)
        header = TraceHeader(
            ranks=ranks,
            program=program.name,
            arguments=tuple(arguments),
            captured_by=_simulator_name(),
            host_speed=speed,
        )
        return write_trace(output, header, rank_files)


def capture_builtin(
    program: str,
    class_: str | None,
    ranks: int,
    parameters: Mapping[str, object],
    output: Path,
    *,
    limits: Limits | None = None,
) -> TraceHeader:
    """Capture a program of `applications/`, which declares its flops.

    These programs are Hamtune's own, so they also run where bubblewrap cannot.

    Args:
        program: Name of the program (`cg`).
        class_: Its problem class, for the programs that have one.
        ranks: How many ranks it runs on.
        parameters: The values of a program without classes, in the order of its arguments.
        output: The trace to write.
        limits: What each compilation and the run may use.

    Raises:
        InvalidInput: No such program, or one that refuses its class, parameters or ranks.
        CaptureFailed: It could not be compiled or run.
    """
    offered = sorted(path.parent.name for path in APPLICATIONS.glob("*/*.c"))
    offered = [name for name in dict.fromkeys(offered) if name != "common"]
    if program not in offered:
        raise InvalidInput(
            f"there is no built-in program {program!r}; allowed: {', '.join(offered)}",
            field="application.builtin",
        )
    sources = [*sorted((APPLICATIONS / program).glob("*.c"))]
    common = sorted((APPLICATIONS / "common").glob("*.c"))
    arguments = [class_] if class_ is not None else [str(value) for value in parameters.values()]
    try:
        return capture(
            [str(source) for source in (*sources, *common)] + arguments,
            ranks,
            output,
            declared_flops=True,
            compiler_flags=("-DHAMTUNE_DECLARE_FLOPS", f"-I{APPLICATIONS}"),
            limits=limits,
            sandbox=confinement_problem() is None,
        )
    except CaptureFailed as error:
        # A built-in program says what is wrong with its arguments in a line of its own.
        for line in error.log.splitlines():
            if line.startswith(f"{program}: "):
                raise InvalidInput(
                    line.removeprefix(f"{program}: "), field="application"
                ) from error
        raise


def _check(ranks: int, host_speed: float | None) -> None:
    if not 1 <= ranks <= MAX_RANKS:
        raise InvalidInput(f"must be from 1 to {MAX_RANKS}", field="ranks")
    if host_speed is not None and not 0 < host_speed < float("inf"):
        raise InvalidInput("must be a positive number of flop/s", field="host_speed")


def _copy_program(program: Path, workspace: Path) -> Path:
    if not program.is_file():
        raise InvalidInput(f"there is no program {program}", field="command")
    if not is_recording(program):
        raise InvalidInput(
            f"{program.name} has no recorder in it: give its source files, or build it with "
            "hamtune-mpicc, hamtune-mpicxx, hamtune-mpif90 or hamtune-mpif77",
            field="command",
        )
    return Path(shutil.copy(program, workspace))


def _record(
    box: Sandbox, program: Path, arguments: Sequence[str], ranks: int, speed: float | None
) -> list[RankFile]:
    for argument in arguments:
        # smpirun takes options of SimGrid out of the arguments and splits the rest at blanks.
        if argument.split() != [argument] or argument.startswith(("--cfg=", "--log=")):
            raise InvalidInput(
                f"the argument {argument!r} cannot be handed to a program under SMPI",
                field="command",
            )
    recording = box.workspace / "recording"
    recording.mkdir()
    names = [f"host-{rank}" for rank in range(ranks)]
    (box.workspace / "platform.xml").write_text(_PLATFORM.format(last=ranks - 1))
    (box.workspace / "hostfile").write_text("\n".join(names) + "\n")
    environment = {"HAMTUNE_RECORD_DIRECTORY": str(recording)}
    if speed is not None:
        environment["HAMTUNE_RECORD_HOST_SPEED"] = repr(speed)
    run = ["smpirun", "-quiet", "-np", str(ranks), "-platform", "platform.xml"]
    run += ["-hostfile", "hostfile", *_SMPI_OPTIONS, str(program), *arguments]
    status = box.run(run, environment)
    refused = recording / "refused"
    if refused.exists():
        raise InvalidInput(refused.read_text(errors="replace"), field="command")
    if status:
        how = f"status {status}" if status > 0 else f"signal {-status}"
        raise CaptureFailed(f"{program.name} ended with {how}", box.log())
    return [_rank_file(recording, rank, box) for rank in range(ranks)]


def _rank_file(recording: Path, rank: int, box: Sandbox) -> RankFile:
    path = recording / f"rank-{rank}.operations"
    count = recording / f"rank-{rank}.operations.count"
    if count.exists():
        return RankFile(path, int(count.read_text()))
    why = "the program deadlocks: " if box.printed("Deadlock detected") else ""
    missing = "MPI_Finalize" if path.exists() else "MPI_Init"
    raise CaptureFailed(f"{why}rank {rank} did not call {missing}", box.log())


@cache
def _measured_host_speed() -> float:
    answer = subprocess.run(
        [str(RECORDER / "hamtune-host-speed")], capture_output=True, text=True, check=True
    )
    return float(answer.stdout)


@cache
def _simulator_name() -> str:
    answer = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=True)
    return "smpi " + answer.stdout.split()[-1]
