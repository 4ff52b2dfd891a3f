"""Traces: capture programs and look at what they do."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from cli.extrapolation import extrapolate
from cli.input_path import InputPath
from cli.options import command_argument, example, json_option, print_json, say
from cli.output_files import check_writable
from cli.trace_imports import import_trace
from cli.trace_report import flops_of, one_line, output_option, report
from searchspace.errors import InvalidInput
from searchspace.formats.matrix_market import write_traffic
from searchspace.formats.source_archive import pack
from searchspace.formats.trace import describe_trace
from searchspace.formats.trace_traffic import selected_traffic
from searchspace.kernels import CannotCut, TraceLoop, trace_loops
from searchspace.truncation import ITERATIONS
from searchspace.truncation import truncate as truncate_trace
from service.applications.notes import notes_on

__all__ = ["COMMANDS"]


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=example(
        "hamtune capture --ranks 16 --output solver.ht -- solver.c helper.c 1000",
        "hamtune capture --ranks 16 --output solver.ht -- ./solver 1000",
        "hamtune capture --source solver/ --build make --ranks 16 --captures 3 \\",
        "  --output solver.ht -- bin/solver 1000",
    ),
)
@click.option("--ranks", type=click.IntRange(1), required=True, help="Ranks of the run.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The trace to write (.ht).",
)
@click.option(
    "--source",
    type=InputPath(dir_okay=True),
    help="Source tree, a directory or an archive, in which --build makes the program of COMMAND.",
)
@click.option("--build", metavar="CMD", help="Shell command that builds the program of --source.")
@click.option(
    "--captures",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Runs; the median of what is computed before each call counts.",
)
@click.option(
    "--declared-flops",
    is_flag=True,
    help="The program declares what it computes (hamtune_compute, smpi_execute_flops); otherwise "
    "its CPU time between MPI calls is measured.",
)
@click.option(
    "--host-speed",
    metavar="F",
    help="Speed of this machine, which turns measured seconds into flops (2Gf); measured if left "
    "out.",
)
@click.option(
    "--flag", "flags", multiple=True, metavar="FLAG", help="Flag for the compiler; may be repeated."
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    type=InputPath(),
    help="File that the program reads; may be repeated.",
)
@click.option(
    "--files",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for the files that the runs write.",
)
@click.option(
    "--no-sandbox",
    is_flag=True,
    help="Run a program that you trust without the sandbox, where bubblewrap cannot work.",
)
@command_argument(
    "hamtune capture [--source DIR --build CMD] --ranks N -o T -- PROGRAM ARGUMENTS", required=True
)
@json_option
def capture(
    ranks: int,
    output: Path,
    source: Path | None,
    build: str | None,
    captures: int,
    declared_flops: bool,
    host_speed: str | None,
    flags: tuple[str, ...],
    inputs: tuple[Path, ...],
    files: Path | None,
    no_sandbox: bool,
    command: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run an MPI program under SMPI and write its trace.

    COMMAND is source files (C, C++, Fortran) and the program's arguments; or a program that was
    built with hamtune-mpicc, hamtune-mpicxx, hamtune-mpif90 or hamtune-mpif77, and its arguments.
    It runs in a sandbox: no network, no files but its own. What it prints appears on stderr.
    """
    from cli.capture_display import CaptureDisplay, unpack_into
    from workers.capture import capture as capture_program
    from workers.capture_run import Measure
    from workers.capture_source import SourceProgram, capture_source

    check_writable(output, "--output")
    speed = flops_of(host_speed)
    _check_source(source, build, flags or inputs)
    say(f"hamtune: running {' '.join(command)} on {ranks} ranks under SMPI")
    measure = Measure(declared_flops, speed, captures)
    shown = CaptureDisplay(measure.runs, ranks)
    leaving = None if files is None else partial(unpack_into, files)
    if source is not None:
        program = SourceProgram(str(build), shlex.join(command), ranks, measure)
        with _packed(source) as packed:
            capture_source(
                packed, program, output, sandbox=not no_sandbox, watching=shown, leaving=leaving
            )
    else:
        capture_program(
            command,
            ranks,
            output,
            declared_flops=declared_flops,
            host_speed=speed,
            captures=captures,
            compiler_flags=flags,
            inputs=inputs,
            sandbox=not no_sandbox,
            watching=shown,
            leaving=leaving,
        )
    report(output, as_json)


def _check_source(source: Path | None, build: str | None, beside: object) -> None:
    """Refuses what does not go with a source tree."""
    if (source is None) != (build is None):
        raise click.UsageError("--source and --build go together")
    if source is not None and beside:
        raise click.UsageError("--flag and --input do not go with --source: use --build")


@click.group()
def trace() -> None:
    """Look at traces; import, merge, truncate and extrapolate them."""


@trace.command(
    epilog=example(
        "hamtune trace info solver.ht", "hamtune trace info solver.ht --traffic solver.mtx"
    )
)
@click.argument("trace_file", metavar="T", type=InputPath(dir_okay=True))
@click.option(
    "--traffic",
    metavar="W.mtx",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the bytes that every pair of ranks exchanges, both ways (MatrixMarket).",
)
@click.option(
    "--collectives",
    is_flag=True,
    help="With --traffic: what collectives become counts too.",
)
@click.option(
    "--algorithm",
    "algorithms",
    metavar="COLLECTIVE=NAME",
    multiple=True,
    help="With --collectives: the algorithm of a collective; may be given several times.",
)
@click.option(
    "--phase", type=click.IntRange(0), help="With --traffic: only after that many MPI_Pcontrol."
)
@click.option(
    "--communicator",
    metavar="RANKS",
    help="With --traffic: only on communicators of exactly these ranks (0,4,8).",
)
@json_option
def info(
    trace_file: Path,
    traffic: Path | None,
    collectives: bool,
    algorithms: tuple[str, ...],
    phase: int | None,
    communicator: str | None,
    as_json: bool,
) -> None:
    """Show what a trace holds: ranks, calls, bytes, pairs that communicate, flops, loops."""
    if traffic is None and (collectives or phase is not None or communicator is not None):
        raise click.UsageError("--collectives, --phase and --communicator go with --traffic")
    if algorithms and not collectives:
        raise click.UsageError("--algorithm goes with --collectives")
    loops: list[TraceLoop] = []
    obstacle = None
    try:
        summary = describe_trace(trace_file)
        loops = trace_loops(trace_file)
    except CannotCut as error:
        obstacle = str(error)
    except InvalidInput as error:
        raise InvalidInput(f"{trace_file}: {error}") from error
    if traffic is not None:
        selected = selected_traffic(
            trace_file,
            collectives=collectives,
            algorithms=_pairs(algorithms),
            phase=phase,
            members=_ranks(communicator),
        )
        traffic.write_text(write_traffic(selected))
    if as_json:
        print_json({**summary, "loops": loops, "loops_obstacle": obstacle})
        return
    click.echo(one_line(summary))
    for line in notes_on(summary):
        click.echo(f"  {line}")
    for name, count in sorted(summary["calls"].items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"  {name:22} {count:>12}")
    for loop in loops:
        click.echo(_loop_line(loop))
    if not loops:
        click.echo(f"no loop that could be cut short: {obstacle or 'nothing repeats itself'}")
    if traffic is not None:
        click.echo(f"traffic matrix: {traffic}")


@trace.command(
    epilog=example(
        "hamtune trace truncate solver.ht -o short.ht",
        "hamtune trace truncate solver.ht -o short.ht --iterations 4 --json",
    )
)
@click.argument("trace_file", metavar="T", type=InputPath(dir_okay=True))
@click.option(
    "-o",
    "--output",
    metavar="S.ht",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The trace to write.",
)
@click.option(
    "--iterations",
    type=click.IntRange(2),
    default=ITERATIONS,
    show_default=True,
    help="Iterations to keep of every loop; with 2, what waits for a late rank counts as its pace.",
)
@json_option
def truncate(trace_file: Path, output: Path, iterations: int, as_json: bool) -> None:
    """Keep a few iterations of every loop of a trace.

    What is written can be used wherever a trace can; the time of the whole trace is then estimated,
    by counting what was kept as often as it stands for.
    """
    try:
        truncation = truncate_trace(trace_file, output, iterations)
    except InvalidInput as error:
        raise InvalidInput(f"{trace_file}: {error}") from error
    if as_json:
        print_json(
            {
                "output": str(output),
                "operations": truncation.operations,
                "whole_operations": truncation.whole_operations,
                "share": truncation.share,
            }
        )
    else:
        click.echo(f"{output}: {truncation.share:.2%} of the operations of {trace_file}")


@trace.command(epilog=example("hamtune trace merge recording/ -o solver.ht"))
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@output_option
@json_option
def merge(directory: Path, output: Path, as_json: bool) -> None:
    """Make one trace of what the ranks of a run on a cluster recorded (see `hamtune recorder`)."""
    from workers.merge import merge as merge_recording

    check_writable(output, "--output")
    merge_recording(directory, output)
    report(output, as_json)


trace.add_command(extrapolate)
trace.add_command(import_trace)

COMMANDS = [capture, trace]


@contextmanager
def _packed(source: Path) -> Iterator[Path]:
    """A source tree as an archive; what is run was given as the command, which errors name."""
    with tempfile.TemporaryDirectory(prefix="hamtune-source-") as directory:
        packed = Path(directory) / "source.tar.gz"
        pack(source, packed)
        try:
            yield packed
        except InvalidInput as error:
            field = "command" if error.field == "run" else error.field
            raise InvalidInput(error.message, field=field) from error


_REGULARITY = {
    "exact": "all the same",
    "sizes": "the same but for sizes of messages",
    "shape": "of the same operations",
    "uneven": "each different",
}


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    found = dict(text.partition("=")[::2] for text in texts)
    if not all(found.values()):
        raise click.UsageError("write --algorithm COLLECTIVE=NAME")
    return found


def _ranks(text: str | None) -> list[int]:
    words = [] if text is None else text.split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise click.UsageError(f"--communicator lists ranks like 0,4,8, not {text!r}")
    return [int(word) for word in words]


def _loop_line(loop: TraceLoop) -> str:
    found = "marked by the program" if loop["marked"] else "found"
    return (
        f"{'  ' * loop['depth']}loop of {loop['iterations']} iterations ({found}), "
        f"{_REGULARITY[loop['regularity']]}, {loop['calls']:.0f} calls each"
    )
