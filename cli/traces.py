"""Traces: capture programs and look at what they do."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import example, json_option, print_json, say
from searchspace.errors import InvalidInput
from searchspace.formats.matrix_market import write_traffic
from searchspace.kernels import (
    CannotCut,
    TraceLoop,
    TraceSummary,
    trace_loops,
    trace_summary,
    traffic_matrix,
)
from searchspace.truncation import ITERATIONS
from searchspace.truncation import truncate as truncate_trace
from searchspace.units import format_size, parse_speed

__all__ = ["COMMANDS"]


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=example(
        "hamtune capture --ranks 16 --output solver.ht -- solver.c helper.c 1000",
        "hamtune capture --ranks 16 --output solver.ht -- ./solver 1000",
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
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that the program reads; may be repeated.",
)
@click.option(
    "--no-sandbox",
    is_flag=True,
    help="Run a program that you trust without the sandbox, where bubblewrap cannot work.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@json_option
def capture(
    ranks: int,
    output: Path,
    declared_flops: bool,
    host_speed: str | None,
    flags: tuple[str, ...],
    inputs: tuple[Path, ...],
    no_sandbox: bool,
    command: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run an MPI program once under SMPI and write its trace.

    COMMAND is source files (C, C++, Fortran) and the program's arguments; or a program that was
    built with hamtune-mpicc, hamtune-mpicxx, hamtune-mpif90 or hamtune-mpif77, and its arguments.
    It runs in a sandbox: no network, no files but its own.
    """
    from workers.capture import capture as capture_program

    if not output.parent.is_dir():
        raise InvalidInput(f"--output {output}: there is no directory {output.parent}")
    speed = None
    if host_speed is not None:
        try:
            speed = parse_speed(host_speed)
        except InvalidInput as error:
            raise InvalidInput(f"--host-speed: {error}") from error
    say(f"hamtune: running {' '.join(command)} on {ranks} ranks under SMPI")
    capture_program(
        command,
        ranks,
        output,
        declared_flops=declared_flops,
        host_speed=speed,
        compiler_flags=flags,
        inputs=inputs,
        sandbox=not no_sandbox,
    )
    summary = trace_summary(output)
    if as_json:
        print_json({"output": str(output), **summary})
    else:
        click.echo(f"{output}: {_one_line(summary)}")


@click.group()
def trace() -> None:
    """Look at traces."""


@trace.command(
    epilog=example(
        "hamtune trace info solver.ht", "hamtune trace info solver.ht --traffic solver.mtx"
    )
)
@click.argument("trace_file", metavar="T", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--traffic",
    metavar="W.mtx",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the bytes that every pair of ranks exchanges, both ways (MatrixMarket).",
)
@json_option
def info(trace_file: Path, traffic: Path | None, as_json: bool) -> None:
    """Show what a trace holds: ranks, calls, bytes, pairs that communicate, flops, loops."""
    loops: list[TraceLoop] = []
    obstacle = None
    try:
        summary = trace_summary(trace_file)
        loops = trace_loops(trace_file)
    except CannotCut as error:
        obstacle = str(error)
    except InvalidInput as error:
        raise InvalidInput(f"{trace_file}: {error}") from error
    if traffic is not None:
        traffic.write_text(write_traffic(traffic_matrix(trace_file)))
    if as_json:
        print_json({**summary, "loops": loops, "loops_obstacle": obstacle})
        return
    click.echo(_one_line(summary))
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
@click.argument("trace_file", metavar="T", type=click.Path(exists=True, path_type=Path))
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
    help="Iterations to keep of every loop.",
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


COMMANDS = [capture, trace]


def _one_line(summary: TraceSummary) -> str:
    calls = sum(summary["calls"].values())
    return (
        f"{summary['program']} on {summary['ranks']} ranks: {calls} calls, "
        f"{format_size(summary['bytes'])} in messages, {summary['pairs']} pairs, "
        f"{summary['flops']:.4g} flops"
    )


_REGULARITY = {
    "exact": "all the same",
    "sizes": "the same but for sizes of messages",
    "shape": "of the same operations",
    "uneven": "each different",
}


def _loop_line(loop: TraceLoop) -> str:
    found = "marked by the program" if loop["marked"] else "found"
    return (
        f"{'  ' * loop['depth']}loop of {loop['iterations']} iterations ({found}), "
        f"{_REGULARITY[loop['regularity']]}, {loop['calls']:.0f} calls each"
    )
