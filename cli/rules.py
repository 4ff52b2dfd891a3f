"""`hamtune rules`: a cluster's decision file for collectives, without an application."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from cli.job_names import JobName
from cli.mapping_pictures import check_picture
from cli.options import data_option, example, finite, json_option, print_json, say, seed_option
from cli.rules_asked import MOST_RANKS, SIZES, Task, asked_of, called_of, counted, simulated_program
from cli.rules_found import FoundRules, found_rules
from cli.rules_job import Given, of_job
from cli.rules_measured import OnCluster, on_cluster_options
from cli.rules_output import Answer, draw
from cli.simulation_inputs import (
    TracedApplication,
    read_application,
    read_configuration,
    read_machine,
)
from searchspace.collectives import COLLECTIVES
from searchspace.collectives.by_size import names_algorithms
from searchspace.collectives.decision_table import SIZED, WORTH, DecisionTable
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.called_sizes import called_sizes
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.kernels import trace_summary
from searchspace.machine import Machine, NetworkModel
from searchspace.mapping.permutation import PERMUTATION
from searchspace.platform import Infeasible, Resolved, TrafficOf, complete, resolve
from searchspace.units import format_duration, format_size
from service.settings import Settings

if TYPE_CHECKING:
    from workers.decision_tables import Decided
    from workers.program_rules import ProgramRules

__all__ = ["COMMANDS"]

_USUAL = "openmpi-4.1"
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
        "hamtune rules --job cg-64 -o rules",
        "hamtune rules --job cg-64 --found -o rules",
        "hamtune rules --job cg-64 --testbed torus --program './cg.A.64' -o rules",
    )
)
@click.argument("machine", metavar="[MACHINE]", required=False)
@click.option(
    "--configuration",
    metavar="C",
    help="Network, order, mapping and transport, in a file or written out; also the answer of "
    "'hamtune best'. Its algorithms place ranks where a mapping looks at them, and count for "
    "nothing else. What is left out has its default. What looks at traffic needs --application.",
)
@click.option(
    "--job",
    metavar="J",
    type=JobName(),
    help="In place of all these: the machine, the program and the best configuration of a job in "
    "the data directory, for whose program the file is.",
)
@click.option(
    "--found",
    is_flag=True,
    help="With --job: write what its search has found, by size or not, and simulate nothing.",
)
@click.option(
    "--target",
    type=click.Choice(_TARGETS),
    help=f"The MPI library that the file is for; {_USUAL} if neither this nor the job names one.",
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
    help="With --application or --job, how often the program may be simulated; with --testbed or "
    "--mpirun as often once more.",
)
@click.option(
    "--collectives",
    metavar="A,B",
    callback=_listed,
    help=f"What the file is to decide; all of {','.join(SIZED)} if left out, and barrier can be "
    "named too.",
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
    help="The model that gives the time of messages, in place of the machine's; packets where the "
    "machine does not say.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 1, max_open=True),
    callback=finite,
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
@on_cluster_options
@seed_option
@json_option
@data_option
def rules(
    machine: str | None,
    configuration: str | None,
    job: str | None,
    found: bool,
    target: str | None,
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
    seed: int,
    as_json: bool,
    settings: Settings,
    **cluster: Any,
) -> None:
    """Find the fastest algorithm of each collective at each size, and write the library's file.

    Every algorithm that the library has is simulated on MACHINE, one call at a time, in
    communicators of the first ranks. The file says at which sizes the library should not choose by
    itself, and what it should run there. No application is needed; seconds, for 64 hosts.

    With --application or --job the file is for the sizes that the program calls, and its own
    simulated time decides. With --testbed or --mpirun besides, the program runs there under these
    rules, with one algorithm for each collective, as the library chooses, under mixtures of them,
    and with other algorithms at single sizes; the file says what was the fastest.
    """
    check_picture(drawing)
    where = OnCluster(**cluster)
    of_program = (application or job) is not None
    _check_given(machine, configuration, job, application)
    _check_found(found, job, drawing)
    where.check(for_program=of_program and not found)
    if of_program:
        _check_told(collectives or sizes or ranks, commutative=commutative)
    if math.isnan(worth):
        raise click.BadParameter("nan is no part", param_hint="--worth")
    given = _given(machine, configuration, job, application, settings)
    on = given.machine.simulated_by(network or _model_of(given.machine))
    chosen = TARGETS[target or _named(given) or _USUAL]
    _check_library(chosen, library, needed=output is not None or where.is_named)
    if found:
        _write_found(found_rules(given, chosen), output, library, as_json=as_json)
        return
    task = _task(given, on, chosen, (collectives, sizes, ranks), commutative)
    opened = where.open(task) if where.is_named else None
    _announce(task, on)
    answer = Answer(task, *_decided(task, worth, evaluations))
    if opened is not None:
        answer = where.select_fastest(answer, opened, library, evaluations, seed)
    _write(answer, output, library, drawing)
    _tell_all(output, chosen, answer.document, answer.text, as_json=as_json)
    if answer.problem is not None:
        raise answer.problem


def _write(answer: Answer, output: Path | None, library: Path | None, drawing: Path | None) -> None:
    if output is not None:
        answer.write(output, library)
    if drawing is not None:
        draw(drawing, answer.decided)


def _announce(task: Task, machine: Machine) -> None:
    say(f"hamtune: {counted(task.asked)} for {task.target.title}, {machine.model_text}")
    if task.non_commutative is None and _has_disordered(task):
        say(
            "hamtune: of reductions only algorithms that are right for every operation; "
            "--commutative adds those that need one that commutes"
        )


def _check_told(asked: object, *, commutative: bool) -> None:
    """Refuses to be told what a program tells."""
    if asked:
        raise click.UsageError("the program tells collectives, sizes and ranks by itself")
    if commutative:
        raise click.UsageError("the program tells by itself whether its operations commute")


def _check_found(found: bool, job: str | None, drawing: Path | None) -> None:
    if found and (job is None or drawing is not None):
        raise click.UsageError("--found is for --job, without --picture")


def _write_found(
    found: FoundRules, output: Path | None, library: Path | None, *, as_json: bool
) -> None:
    for reason in found.left_out.values():
        say(f"hamtune: warning: left out: {reason}")
    if output is not None:
        found.write(output, library)
    _tell_all(output, found.target, found.document, found.text, as_json=as_json)


def _tell_all(
    output: Path | None, target: Target, document: dict[str, Any], text: str, *, as_json: bool
) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo(text)
    if output is None:
        say("hamtune: no file was written; name a directory with -o")
    else:
        say(f"hamtune: {output / DECISION_FILES[target.format].name}; {output / 'README.txt'}")


def _check_given(
    machine: str | None, configuration: str | None, job: str | None, application: str | None
) -> None:
    if (machine is None) == (job is None):
        raise click.UsageError("either MACHINE or --job is wanted")
    if job is not None and (configuration is not None or application is not None):
        raise click.UsageError("--job tells configuration and application by itself")


def _given(
    machine: str | None,
    configuration: str | None,
    job: str | None,
    application: str | None,
    settings: Settings,
) -> Given:
    if job is not None:
        return of_job(job, settings)
    on = read_machine(
        str(machine), argument="MACHINE", instead=", or --job with a job that has run"
    )
    placed = read_configuration(configuration or "{}")
    traced = None if application is None else read_application(application, settings)
    return Given(on, placed, traced)


def _model_of(machine: Machine) -> NetworkModel:
    """The model of trials; of a machine that does not say, that of new jobs."""
    return machine.trial_model if "network" in machine.model_fields_set else "packets"


def _placed_ranks(configuration: Configuration, machine: Machine) -> int:
    """How many ranks the configuration places: all cores, but where it writes their places out."""
    chosen = complete(configuration, machine)
    if chosen["mapping"] == PERMUTATION:
        return len(cast("tuple[int, ...]", chosen[PERMUTATION]))
    return min(machine.cores, MOST_RANKS)


def _task(
    given: Given,
    machine: Machine,
    target: Target,
    named: tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[str, ...] | None],
    commutative: bool,
) -> Task:
    """What is asked: by the program, or by the collectives, sizes and ranks that are named."""
    if given.traced is not None:
        return _of_application(given.traced, given.configuration, machine, target)
    placed = _placed_ranks(given.configuration, machine)
    asked = asked_of(placed, *named)
    resolved = _resolved(given.configuration, machine, placed)
    return Task(target, resolved, asked, () if commutative else None)


def _of_application(
    traced: TracedApplication, placed: Configuration, machine: Machine, target: Target
) -> Task:
    """What a program calls, on the machine and by its own mapping."""
    sizes = called_sizes(traced.traces, SIZED)
    resolved = _resolved(placed, machine, traced.ranks, TracesTraffic(traced.traces))
    # Of the traces, since one that was stored earlier may not tell.
    named = {name for trace in traced.traces for name in trace_summary(trace)["non_commutative"]}
    return Task(target, resolved, called_of(traced, sizes), named, traced)


def _decided(task: Task, worth: float, evaluations: int) -> tuple[Decided, ProgramRules | None]:
    from workers.decision_tables import decide_collectives

    decided = decide_collectives(
        task.resolved,
        task.target,
        task.asked,
        non_commutative=task.non_commutative,
        worth=worth,
        at_once=os.cpu_count() or 1,
        done=_progress(sum(len(of) for of in task.asked.values())),
    )
    for (name, ranks, size), why in decided.failed.items():
        say(
            f"hamtune: {name} of {format_size(size)} in {ranks} ranks is left to the library, "
            f"whose own choice cannot be simulated: {why}"
        )
    if task.traced is None:
        return decided, None
    return decided, _in_program(task, decided.table, evaluations)


def _resolved(
    configuration: Configuration, machine: Machine, ranks: int, traffic: TrafficOf | None = None
) -> Resolved:
    """The places of a configuration, with nothing said of algorithms.

    Mappings may look at its algorithms. Where these cannot run here, usual ones are looked at.
    """
    try:
        resolved = resolve(configuration, machine, ranks, traffic=traffic)
    except Infeasible:
        kept = {name: one for name, one in configuration.items() if not names_algorithms(name)}
        resolved = resolve(Configuration(kept), machine, ranks, traffic=traffic)
    of_algorithms = {"smpi/coll-selector", *(f"smpi/{name}" for name in COLLECTIVES)}
    options = {name: text for name, text in resolved.options.items() if name not in of_algorithms}
    return replace(resolved, options=options)


def _named(given: Given) -> str | None:
    """The library that a job names.

    Raises:
        InvalidInput: There is no form of decision files for it.
    """
    if given.target is not None and given.target not in _TARGETS:
        raise InvalidInput(
            f"the job is for {given.target}, which has no decision file; name another library with "
            f"--target: {', '.join(_TARGETS)}"
        )
    return given.target


def _has_disordered(task: Task) -> bool:
    """Whether a library's file leaves algorithms out as long as operations may not commute."""
    if DECISION_FILES[task.target.format].is_for_commutative_only:
        return False
    return bool(task.target.in_order.keys() & task.asked.keys())


def _check_library(target: Target, library: Path | None, *, needed: bool) -> None:
    file = DECISION_FILES[target.format]
    if library is not None and not file.own_file:
        raise click.UsageError(f"--library is not for {target.name}")
    if library is None and file.own_file and needed:
        raise click.UsageError(f"--target {target.name} needs --library: {file.own_file}")
    if library is not None:
        file.write({}, target, [], library)


def _in_program(task: Task, alone: DecisionTable, most: int) -> ProgramRules:
    from workers.program_rules import rules_for

    with simulated_program(task, most) as program:
        return rules_for(
            program,
            task.target,
            task.asked,
            alone,
            non_commutative=task.non_commutative,
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
