"""`hamtune rules`: a cluster's decision file for collectives, without an application."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from cli.mapping_pictures import check_picture
from cli.options import data_option, example, json_option, print_json, say
from cli.rules_asked import MOST_RANKS, SIZED, SIZES, Task, asked_of, called_of, counted
from cli.rules_output import document_of, draw, rules_text, table_text, write_files
from cli.subjects import Subject, read_application, read_configuration, read_machine
from searchspace.collectives.decision_table import WORTH, DecisionTable
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Configuration
from searchspace.formats.called_sizes import called_sizes
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import Machine, NetworkModel
from searchspace.mapping.permutation import PERMUTATION
from searchspace.platform import complete, resolve
from searchspace.units import format_duration, format_size
from service.settings import Settings

if TYPE_CHECKING:
    from workers.decision_tables import Decided
    from workers.program_rules import ProgramRules

__all__ = ["COMMANDS"]

_TARGETS = tuple(name for name, target in TARGETS.items() if target.format in DECISION_FILES)


def _listed(
    _context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    words = tuple(dict.fromkeys(word.strip() for word in value.split(",") if word.strip()))
    if not words:
        raise click.BadParameter("names nothing", param=parameter)
    return words


@click.command(
    epilog=example(
        "hamtune rules machine.yaml --configuration '{topology: torus-3d}' -o rules",
        "hamtune rules machine.yaml --configuration best.json --picture gains.svg -o rules",
        "hamtune rules machine.yaml --target mpich-4.0 --library libmpich.so.12 -o rules",
        "hamtune rules '{nodes: 16, degree: 4, link_bandwidth: 10Gbps, host_speed: 10Gf}' \\",
        "  --configuration '{topology: torus-2d}' --collectives allreduce,bcast --sizes 8,1MiB",
        "hamtune rules machine.yaml --configuration best.json --application ft.W.16 -o rules",
    )
)
@click.argument("machine", metavar="MACHINE")
@click.option(
    "--configuration",
    metavar="C",
    default="{}",
    help="Network, order, mapping and transport, in a file or written out; also the answer of "
    "'hamtune best'. Its collectives do not count. What is left out has its default. What looks at "
    "traffic needs --application.",
)
@click.option(
    "--target",
    type=click.Choice(_TARGETS),
    default="openmpi-4.1",
    show_default=True,
    help="The MPI library that the file is for.",
)
@click.option(
    "--library",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For MPICH: libmpich.so of the cluster, whose own decisions stay where they are best.",
)
@click.option(
    "--application",
    metavar="A",
    help="Decide for this program alone: a trace file, a built-in program as NAME.CLASS.RANKS, or "
    "what a job file has under 'application'. It is simulated under the rules.",
)
@click.option(
    "--evaluations",
    type=click.IntRange(1),
    default=400,
    show_default=True,
    help="With --application, how often it may be simulated.",
)
@click.option(
    "--collectives",
    metavar="A,B",
    callback=_listed,
    help=f"What the file is to decide; all of {SIZED} if left out, and barrier can be named too.",
)
@click.option(
    "--sizes",
    metavar="S,S",
    callback=_listed,
    help="Bytes of a call: of the whole vector, but of the block of one rank for allgather, "
    f"alltoall, gather and scatter; {SIZES} if left out.",
)
@click.option(
    "--ranks",
    metavar="N,N",
    callback=_listed,
    help="Sizes of communicators; powers of two and all cores if left out, 512 at most.",
)
@click.option(
    "--network",
    type=click.Choice(["fluid", "packets"]),
    help="The model that gives the time of messages, in place of the machine's.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 1, max_open=True),
    default=WORTH,
    show_default=True,
    help="By which part an algorithm has to be faster to take the place of the library's choice.",
)
@click.option(
    "--commutative",
    is_flag=True,
    help="All operations of reductions commute, as MPI's own do; without it only algorithms are "
    "named that keep the order of ranks, where the library's file cannot tell. A trace tells.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the library's file goes, with README.txt and all times; nowhere if left out.",
)
@click.option(
    "--picture",
    "drawing",
    metavar="F",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the gains by ranks and bytes (.svg or .png).",
)
@json_option
@data_option
def rules(
    machine: str,
    configuration: str,
    target: str,
    library: Path | None,
    application: str | None,
    evaluations: int,
    collectives: tuple[str, ...] | None,
    sizes: tuple[str, ...] | None,
    ranks: tuple[str, ...] | None,
    network: NetworkModel | None,
    worth: float,
    commutative: bool,
    output: Path | None,
    drawing: Path | None,
    as_json: bool,
    settings: Settings,
) -> None:
    """Find the fastest algorithm of each collective at each size, and write the library's file.

    Every algorithm that the library has is simulated on MACHINE, one call at a time, in
    communicators of the first ranks. The file says at which sizes the library should not choose by
    itself, and what it should run there. No application is needed; seconds, for 64 hosts.

    With --application the file is for the sizes that it calls, and its own simulated time decides.
    """
    check_picture(drawing)
    if application is not None and (collectives or sizes or ranks):
        raise click.UsageError("--application tells collectives, sizes and ranks by itself")
    if math.isnan(worth):
        raise click.BadParameter("nan is no part", param_hint="--worth")
    described = read_machine(machine)
    on = described.simulated_by(network or described.trial_model)
    chosen = TARGETS[target]
    _check_library(chosen, library, needed=output is not None)
    placed = _without_algorithms(read_configuration(configuration))
    if application is None:
        asked = asked_of(_placed_ranks(placed, on), collectives, sizes, ranks)
        on_hosts = resolve(placed, on, _placed_ranks(placed, on))
        task = Task(chosen, on_hosts, asked, commutative or None)
    else:
        task = _of_application(read_application(application, settings), placed, on, chosen)
    say(f"hamtune: {counted(task.asked)} for {chosen.title}, {on.model_text}")
    if not task.commutative and chosen.in_order.keys() & task.asked.keys():
        say("hamtune: reductions keep the order of ranks; --commutative lets in more algorithms")
    decided, program = _decided(task, worth, evaluations)
    document = document_of(task, decided, program)
    if output is not None:
        write_files(output, task, decided, program, library)
    if drawing is not None:
        draw(drawing, decided)
    if as_json:
        print_json(document)
    else:
        click.echo(table_text(decided) if program is None else rules_text(chosen, program))
    if output is None:
        say("hamtune: no file was written; name a directory with -o")
    else:
        say(f"hamtune: {output / DECISION_FILES[chosen.format].name}; {output / 'README.txt'}")


def _placed_ranks(configuration: Configuration, machine: Machine) -> int:
    """How many ranks the configuration places: all cores, but where it writes their places out."""
    chosen = complete(configuration, machine)
    if chosen["mapping"] == PERMUTATION:
        return len(cast("tuple[int, ...]", chosen[PERMUTATION]))
    return min(machine.cores, MOST_RANKS)


def _of_application(
    subject: Subject, placed: Configuration, machine: Machine, target: Target
) -> Task:
    """What a program calls, on the machine and by its own mapping."""
    called = called_sizes(subject.traces, SIZED.split(","))
    traffic = TracesTraffic(subject.traces)
    resolved = resolve(placed, machine, subject.ranks, collectives=subject.calls, traffic=traffic)
    return Task(target, resolved, called_of(subject, called), called.commutative, subject)


def _decided(task: Task, worth: float, evaluations: int) -> tuple[Decided, ProgramRules | None]:
    from workers.decision_tables import decide_collectives

    decided = decide_collectives(
        task.resolved,
        task.target,
        task.asked,
        commutative=task.commutative,
        worth=worth,
        at_once=os.cpu_count() or 1,
        done=_progress(sum(len(of) for of in task.asked.values())),
    )
    for (name, ranks, size), why in decided.failed.items():
        say(
            f"hamtune: {name} of {format_size(size)} in {ranks} ranks is left to the library, "
            f"whose own choice cannot be simulated: {why}"
        )
    if task.subject is None:
        return decided, None
    return decided, _in_program(task, task.subject, decided.table, evaluations)


def _without_algorithms(configuration: Configuration) -> Configuration:
    kept = {
        name: value
        for name, value in configuration.items()
        if name != "mpi" and not name.startswith("collectives.")
    }
    return Configuration(kept)


def _check_library(target: Target, library: Path | None, *, needed: bool) -> None:
    file = DECISION_FILES[target.format]
    if library is not None and not file.own_file:
        raise click.UsageError(f"--library is not for {target.name}")
    if library is None and file.own_file and needed:
        raise click.UsageError(f"--target {target.name} needs --library: {file.own_file}")
    if library is not None:
        file.write({}, target, [], library)


def _in_program(task: Task, subject: Subject, alone: DecisionTable, most: int) -> ProgramRules:
    from workers.program_rules import Program, rules_for
    from workers.simulator_client import Simulator
    from workers.subject import request_for

    with Simulator(subject.traces) as simulator:
        request = request_for(task.resolved, subject.workload)
        program = Program(simulator, request, task.target, most)
        return rules_for(
            program,
            task.target,
            task.asked,
            alone,
            commutative=task.commutative,
            done=lambda seconds: say(
                f"hamtune: {format_duration(seconds)} after {program.evaluations} simulations"
            ),
        )


def _progress(of: int) -> Any:
    shown = 0

    def tell(done: int) -> None:
        nonlocal shown
        if done * 10 // of > shown:
            shown = done * 10 // of
            say(f"hamtune: {done} of {of} simulated")

    return tell


COMMANDS = [rules]
