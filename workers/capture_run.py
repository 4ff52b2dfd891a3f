"""Runs of a built program under SMPI with the recorder in it, and the trace they leave.

A run uses a network without contention: a trace holds what the program asked of MPI, not how long
it took, and this network is cheap to simulate. Programs that take messages in order of arrival
are recorded in the order of their run.
"""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.measured import Measured, parse_end
from searchspace.formats.repeats import merge_repeats
from searchspace.formats.trace import (
    MAX_RANKS,
    RankFile,
    TraceHeader,
    check_recording,
    write_trace,
)
from workers.capture_build import RECORDER, fortran_library
from workers.capture_failures import explain_failure, who_crashed, without_backtraces
from workers.capture_files import LeftFiles, pack_left, stamps
from workers.capture_progress import FILE, read_progress, recording_of, who_waits
from workers.capture_sandbox import (
    CaptureFailed,
    LimitMet,
    Sandbox,
    describe_status,
    last_lines,
)

__all__ = ["MAX_CAPTURES", "Leaving", "Measure", "record_trace"]

Leaving = Callable[[LeftFiles], None]
"""Takes the files that runs left, before they go with the sandbox."""

MAX_CAPTURES = 25

# Hosts without links, a distance apart: a message is there after its latency, whatever else is
# under way. With links, even such as do not contend, SimGrid solves a system of all messages at
# each event, which grows with the square of the ranks. (Simpler still would be its Constant model,
# but 3.32 loses messages to rounding with it.)
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="capture" routing="Vivaldi">
{hosts}
  </zone>
</platform>
"""
# What SimGrid answers by itself, wherever it stands.
_ANSWERED = (
    *("--version", "--help", "--help-aliases", "--help-models", "--help-tracing"),
    *("--help-logs", "--help-log-categories"),
)
_HOST = (
    '    <host id="host-{rank}" speed="1Gf" coordinates="0 0 {distance!r}"/>'  # ms, to the middle
)
# A program that looks at the clock sees a fast network of today.
_LATENCY = 1e-6  # s
_BANDWIDTH = 12.5e9  # byte/s, of each message by itself


def _latency_factors() -> str:
    """SMPI's factors of the latency by size, so that bytes take their time without a link."""
    sizes = [2 ** (eighth / 8) for eighth in range(8 * 8, 8 * 31, 2)]  # of 32 bits
    steps = (
        f"{round(size)}:{1 + 2 ** (1 / 8) * size / (_LATENCY * _BANDWIDTH):.6g}" for size in sizes
    )
    return ";".join(["0:1", *steps])


_SMPI_OPTIONS = (
    f"--cfg=smpi/lat-factor:{_latency_factors()}",
    # Of a poll that finds nothing; the next in a row takes twice that, then three times, and so on.
    f"--cfg=smpi/test:{_LATENCY}",
    f"--cfg=smpi/iprobe:{_LATENCY}",
    "--cfg=smpi/simulate-computation:no",
    # Payloads of all ranks share blocks of this size, each mapped anew; the kernel counts mappings.
    "--cfg=smpi/shared-malloc-blocksize:16777216",
    # SMPI's defaults send all pairs at once; these take turns.
    "--cfg=smpi/alltoall:ring",
    "--cfg=smpi/alltoallv:ring",
    "--cfg=smpi/allgather:ring",
    "--cfg=smpi/allgatherv:ring",
    # By default the root takes a message from everybody, and all reductions to all begin so.
    "--cfg=smpi/reduce:binomial",
    "--log=xbt_cfg.thres:error",
    "--log=smpi_config.thres:error",
    # One line a rank and collective for the choices above would bury what the program printed.
    "--log=smpi_coll.thres:warning",
)
_MOST_LIBRARIES = 1024  # of 3 MB of disk and 30 ms each
_MOST_REFUSAL = 1000
_MOST_END = 200


@dataclass(frozen=True)
class Measure:
    """How the computation between MPI calls is known.

    Attributes:
        declared: The program declares it (`hamtune_compute`, `smpi_execute_flops`); else the CPU
            time between calls is measured.
        host_speed: Flop/s that turn measured seconds into flops; by default the measured speed of a
            matrix product on one core of this machine.
        captures: Runs, whose median counts.
    """

    declared: bool = False
    host_speed: float | None = None
    captures: int = 1

    def check(self, ranks: int) -> None:
        """Refuse what cannot be done.

        Raises:
            InvalidInput: Which value and why.
        """
        if not 1 <= ranks <= MAX_RANKS:
            raise InvalidInput(f"must be from 1 to {MAX_RANKS}", field="ranks")
        if not 1 <= self.captures <= MAX_CAPTURES:
            raise InvalidInput(f"must be from 1 to {MAX_CAPTURES}", field="captures")
        if self.host_speed is not None and not 0 < self.host_speed < float("inf"):
            raise InvalidInput("must be a positive number of flop/s", field="host_speed")

    @property
    def runs(self) -> int:
        """How often the program runs."""
        return 1 if self.declared else self.captures

    @property
    def speed(self) -> float | None:
        """Flop/s for the recorder; None where nothing is measured."""
        if self.declared:
            return None
        return self.host_speed or _measured_host_speed()


def record_trace(
    box: Sandbox,
    program: Path,
    arguments: Sequence[str],
    ranks: int,
    measure: Measure,
    output: Path,
    *,
    shown: str = "",
    field: str = "command",
    leaving: Leaving | None = None,
) -> TraceHeader:
    """Run a program of the sandbox's workspace and write its trace.

    Args:
        box: Where it lies and runs.
        program: The program.
        arguments: Its arguments.
        ranks: How many ranks it runs on.
        measure: How its computation is known, and how often it runs.
        output: The trace to write.
        shown: The command as its user wrote it, for the log.
        field: What its user gave it as, for messages.
        leaving: Gets the files that the runs leave, also where one failed.

    Returns:
        The header of the trace.

    Raises:
        InvalidInput: It does what no trace can hold.
        CaptureFailed: It did not run to its end on all ranks.
        Interrupted: The sandbox was stopped.
    """
    for argument in arguments:
        # smpirun takes options of SimGrid out of the arguments and splits the rest at blanks.
        if argument.split() != [argument] or argument.startswith(("--cfg=", "--log=")):
            raise InvalidInput(
                f"the argument {argument!r} cannot be handed to a program under SMPI", field=field
            )
        if argument in _ANSWERED:
            raise InvalidInput(
                f"SimGrid answers the argument {argument!r} in place of the program", field=field
            )
    _describe_hosts(box, ranks)
    speed = measure.speed
    runs = measure.runs
    captures = []
    with _files_kept(box, leaving):
        for run in range(runs):
            number = f"  (run {run + 1})" if runs > 1 else ""
            box.note("run", f"$ {shown or program.name}{number}")
            captures.append(_record(box, program, arguments, ranks, speed, run, field))
            check_recording(captures[-1])
    rank_files, repeats = captures[0], None
    if runs > 1:
        merged = box.directory / "merged"
        merged.mkdir()
        rank_files, repeats = merge_repeats(captures, merged, each_rank=box.check_wanted)
    header = TraceHeader(
        ranks=ranks,
        program=program.name,
        arguments=tuple(arguments),
        captured_by=_simulator_name(),
        host_speed=speed,
        measured=Measured.together([file.measured for file in captures[0]]),
        repeats=repeats,
    )
    return write_trace(output, header, rank_files, each_chunk=box.check_wanted)


def _describe_hosts(box: Sandbox, ranks: int) -> None:
    """Write what smpirun reads: a host for each rank."""
    hosts = "\n".join(_HOST.format(rank=rank, distance=1e3 * _LATENCY / 2) for rank in range(ranks))
    (box.control / "platform.xml").write_text(_PLATFORM.format(hosts=hosts))
    (box.control / "hostfile").write_text("".join(f"host-{rank}\n" for rank in range(ranks)))
    for name in ("platform.xml", "hostfile"):
        (box.control / name).chmod(0o644)  # a stranger reads them, whatever the umask


@contextmanager
def _files_kept(box: Sandbox, leaving: Leaving | None) -> Iterator[None]:
    if leaving is None:
        yield
        return
    before = stamps(box.workspace)
    try:
        yield
    finally:
        if not box.stop.is_set():
            leaving(pack_left(box.workspace, before, box.directory / "left.tar.gz"))


def _record(
    box: Sandbox,
    program: Path,
    arguments: Sequence[str],
    ranks: int,
    speed: float | None,
    number: int,
    field: str,
) -> list[RankFile]:
    recording = recording_of(box.directory, number)
    environment = {"HAMTUNE_RECORD_DIRECTORY": str(recording)}
    if speed is not None:
        environment["HAMTUNE_RECORD_HOST_SPEED"] = repr(speed)
    run = ["smpirun", "-quiet", "-np", str(ranks), "-platform", str(box.control / "platform.xml")]
    run += ["-hostfile", str(box.control / "hostfile"), *_SMPI_OPTIONS]
    run += [*_of_each_rank(program, ranks), str(program), *arguments]
    try:
        status = box.run(run, environment, writable=recording, progress=recording / FILE)
    except LimitMet as met:
        progress = read_progress(recording, ranks)
        who = f": {who_waits(progress)}" if progress else ""
        raise CaptureFailed(f"{met.message}{who}", _shown_log(box)) from met
    progress = read_progress(recording, ranks)
    refused = recording / "refused"
    if _is_file(refused) and not (progress and progress.stuck):
        with refused.open(errors="replace") as file:
            refusal = " ".join(file.read(_MOST_REFUSAL).split())
        raise InvalidInput(refusal, field=field)
    files = [_rank_file(recording, rank) for rank in range(ranks)]
    whole = [file for file in files if file is not None]
    if status == 0 and len(whole) == ranks:
        return whole
    missing = files.index(None) if None in files else None
    reason = explain_failure(box.full_log(), progress, status)
    if reason is None and status and box.printed("Memory allocation of"):
        reason = f"the run {box.limits.explain('memory')}"
    if reason is None and status:
        reason = f"{program.name} ended with {describe_status(status)}{who_crashed(progress)}"
    if reason is None:
        begun = (recording / f"rank-{missing}.operations").exists()
        reason = f"rank {missing} did not call {'MPI_Finalize' if begun else 'MPI_Init'}"
    raise CaptureFailed(reason, _shown_log(box))


def _of_each_rank(program: Path, ranks: int) -> list[str]:
    """What gives each rank a library of Fortran of its own: it holds the units that are open."""
    library = fortran_library(program) if ranks <= _MOST_LIBRARIES else None
    return [] if library is None else [f"--cfg=smpi/privatize-libs:{library}"]


def _shown_log(box: Sandbox) -> str:
    return last_lines(without_backtraces(box.full_log()))


def _rank_file(recording: Path, rank: int) -> RankFile | None:
    path = recording / f"rank-{rank}.operations"
    count = recording / f"rank-{rank}.operations.count"
    if _is_file(path) and _is_file(count):
        with count.open("rb") as file:
            end = parse_end(file.read(_MOST_END))
        if end is not None:
            return RankFile(path, *end)
    return None


def _is_file(path: Path) -> bool:
    """Whether a program left a plain file here: a link could lead to a file that is not its own."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


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
