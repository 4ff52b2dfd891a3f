"""Why a run under SMPI failed, in words that do not take knowing SimGrid to understand."""

from __future__ import annotations

import re

from workers.capture_progress import Progress, RankProgress, State, who_waits

__all__ = [
    "WAY_OUT",
    "explain_build_failure",
    "explain_failure",
    "who_crashed",
    "without_backtraces",
]

WAY_OUT = "record the program where it runs instead: hamtune recorder --help"
"""What to do about a program that only SMPI cannot run."""

_SIMGRID = re.compile(
    r"^(\[(\S+ )?\d+\.\d+\] (\./src/|\[\w+/(INFO|WARNING|ERROR|CRITICAL)\])"
    r"|Backtrace \(displayed|  ->  ?\d+# |Execution failed with )"
)

# What SimGrid prints, and what that means. The first that is found counts. The program prints what
# it likes among it: a word is looked at where it begins only, and no text suits two repetitions.
_CALL = r"\bP?(MPI_\w{1,60})\b"
_MEANINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(rf"{_CALL}: MPI_Init was not called"),
        "{0} is called before MPI_Init, or by another thread than that of MPI_Init, of which a "
        "trace has one a rank",
    ),
    (
        re.compile(rf"(?:Not yet implemented|NOT_YET_IMPLEMENTED)\s*(?::\s*)?{_CALL}", re.I),
        f"{{0}} is not supported under SMPI; {WAY_OUT}",
    ),
    (
        re.compile(r"\brecv - returned (MPI_ERR_TRUNCATE) instead"),
        "a message is longer than the receive that takes it ({0})",
    ),
)
_GONE = re.compile(r"\bActor pid=(\d{1,9}) is gone")
_PARAMETER = re.compile(r" P(MPI_\w{1,60}): (param .{0,400})")
_RETURNED = re.compile(rf"{_CALL} - returned (MPI_\w{{1,60}}) instead")


def explain_build_failure(log: str) -> str | None:
    """The reason why a program was not built, where it is one that has a way out."""
    if re.search(r"\bmpi\.h(: No such file|' file not found)", log):
        return (
            "mpi.h is not found: the compiler is not mpicc (C++: mpicxx), which finds it; a "
            "Makefile that takes $(CC) is told so by 'make CC=mpicc'"
        )
    if "mpi_f08.mod" in log:
        return f"the Fortran module mpi_f08 is not supported under SMPI; {WAY_OUT}"
    if "recompile with -fPIC" in log:
        return (
            "SMPI takes a program as a shared object, and a library in it was compiled without "
            "-fPIC: compile all of it with that"
        )
    return None


def explain_failure(log: str, progress: Progress | None, status: int) -> str | None:
    """The reason why a run failed, where it is known.

    Args:
        log: What the run printed.
        progress: How far it came.
        status: How it ended.
    """
    if progress is not None and progress.stuck:
        return f"no rank of the program gets on: {who_waits(progress, over=True)}"
    told = _what_simgrid_tells(log) if status else None
    if told is None and "MPI_Abort was called" in log:
        told = "the program called MPI_Abort"
    if told is not None or progress is None:
        return told
    if "Deadlock detected" in log:
        return f"the program deadlocks: {who_waits(progress, over=True)}"
    gone = _GONE.search(log)
    return _who_is_gone(int(gone[1]) - 1, progress) if gone else None


def _who_is_gone(receiver: int, progress: Progress) -> str | None:
    """Which rank ended too early for a message to it; SimGrid counts from one."""
    for number, rank in enumerate(progress.ranks):
        if rank.state == State.COMPUTES:
            return f"rank {number} ended without MPI_Finalize{_last(rank)}"
    if receiver < len(progress.ranks) and progress.ranks[receiver].state == State.ENDED:
        return f"rank {receiver} has called MPI_Finalize before it received all messages to it"
    return None


def _what_simgrid_tells(log: str) -> str | None:
    """Which call failed and why, with the parameter that SimGrid found wrong before, if any."""
    for pattern, meaning in _MEANINGS:
        found = pattern.search(log)
        if found:
            return meaning.format(found[1])
    parameter = _PARAMETER.search(log)
    found = _RETURNED.search(log, parameter.end()) if parameter else None
    if parameter and found:
        return f"{parameter[1]} failed with {found[2]}: {parameter[2]}"
    found = _RETURNED.search(log)
    return f"{found[1]} failed with {found[2]}" if found else None


def who_crashed(progress: Progress | None) -> str:
    """Which rank was running when the run ended, as words that follow what happened.

    Ranks take turns, and one that is not running waits in a call.
    """
    ranks = enumerate(progress.ranks if progress else ())
    running = [(number, rank) for number, rank in ranks if rank.state == State.COMPUTES]
    if len(running) != 1:
        return ""
    number, rank = running[0]
    return f" in rank {number}{_last(rank)}"


def _last(rank: RankProgress) -> str:
    return f", whose last call was {rank.call}" if rank.call else ""


def without_backtraces(log: str) -> str:
    """What a run printed, less what SimGrid says of its own insides."""
    kept = [line for line in log.splitlines() if not _SIMGRID.match(line)]
    return "\n".join(kept)
