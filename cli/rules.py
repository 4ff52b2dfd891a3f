"""`hamtune rules`: a cluster's decision file for collectives, without an application."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.decision_figures import Gains, gains_of, picture
from cli.mapping_pictures import check_picture
from cli.options import data_option, example, json_option, print_json, say
from cli.output_files import write_below
from cli.subjects import Subject, read_application, read_configuration, read_machine
from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.decision_table import WORTH, DecisionTable
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.called_sizes import called_sizes
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import Machine, NetworkModel
from searchspace.platform import resolve
from searchspace.units import format_duration, format_size, parse_size
from service.settings import Settings

if TYPE_CHECKING:
    from workers.decision_tables import Decided
    from workers.program_rules import ProgramRules

__all__ = ["COMMANDS"]

_SIZED = "allgather,allreduce,alltoall,bcast,gather,reduce,reduce_scatter,scatter"
_SIZES = "1,8,64,256,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,512KiB,1MiB,4MiB"
_MOST_RANKS = 4096
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
    "'hamtune best'. Its collectives do not count. What is left out has its default.",
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
    help=f"What the file is to decide; all of {_SIZED} if left out, and barrier can be named too.",
)
@click.option(
    "--sizes",
    metavar="S,S",
    callback=_listed,
    help="Bytes of a call: of the whole vector, but of the block of one rank for allgather, "
    f"alltoall, gather and scatter; {_SIZES} if left out.",
)
@click.option(
    "--ranks",
    metavar="N,N",
    callback=_listed,
    help="Sizes of communicators; powers of two and all cores if left out.",
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
    described = read_machine(machine)
    on = described.simulated_by(network or described.trial_model)
    chosen = TARGETS[target]
    _check_library(chosen, library, needed=output is not None)
    network_of = _without_algorithms(read_configuration(configuration))
    if application is None:
        asked = _asked(on, collectives, sizes, ranks)
        resolve(network_of, on, 2)  # before anything is said to begin
        subject = None
    else:
        subject = read_application(application, settings)
        asked = _called(subject)
    from workers.decision_tables import decide_collectives

    say(f"hamtune: {_counted(asked)} for {chosen.title}, {on.model_text}")
    decided = decide_collectives(
        on,
        network_of,
        chosen,
        asked,
        worth=worth,
        at_once=os.cpu_count() or 1,
        done=_progress(sum(len(of) for of in asked.values())),
    )
    program = None
    if subject is not None:
        program = _in_program(subject, on, network_of, chosen, asked, decided.table, evaluations)
        decided = dataclasses.replace(decided, table=program.table)
    gains = {name: gains_of(decided.table[name], decided.times[name]) for name in asked}
    document = _document(chosen, on, decided, gains)
    if program is not None:
        document["program"] = _of_program(program)
    if output is not None:
        _write(output, chosen, on, decided, library)
    if drawing is not None:
        from cli.figures import render

        drawing.write_bytes(render(picture(gains), "svg" if drawing.suffix == ".svg" else "png"))
    if as_json:
        print_json(document)
    else:
        click.echo(_table(gains, document) if program is None else _of_rules(chosen, program))
    if output is None:
        say("hamtune: no file was written; name a directory with -o")
    else:
        say(f"hamtune: {output / DECISION_FILES[chosen.format].name}; {output / 'README.txt'}")


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


def _asked(
    machine: Machine,
    collectives: tuple[str, ...] | None,
    sizes: tuple[str, ...] | None,
    ranks: tuple[str, ...] | None,
) -> dict[str, dict[int, tuple[int, ...]]]:
    collectives = collectives or tuple(_SIZED.split(","))
    sizes = sizes or tuple(_SIZES.split(","))
    allowed = (*_SIZED.split(","), "barrier")
    for name in collectives:
        if name not in allowed:
            raise InvalidInput(
                f"--collectives: there is no '{name}'; allowed: {', '.join(allowed)}"
            )
    cores = machine.cores
    if ranks is None:
        most = min(cores, _MOST_RANKS)
        counts = [*(2**k for k in range(1, most.bit_length()) if 2**k < most), most]
    else:
        counts = sorted({_count(word, cores) for word in ranks})
    if not counts or counts[0] < 2:
        raise InvalidInput(f"a machine of {cores} core has no communicator of two ranks")
    try:
        calls = tuple(sorted({parse_size(_number(word)) for word in sizes}))
    except InvalidInput as error:
        raise InvalidInput(f"--sizes: {error}") from None
    if calls[0] < 1:
        raise InvalidInput("--sizes: a call has at least 1 byte")
    return {name: {count: _calls(name, count, calls) for count in counts} for name in collectives}


def _calls(collective: str, ranks: int, calls: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that a call can have: a scattered vector has something for every rank."""
    if collective == "barrier":
        return (0,)
    if collective == "reduce_scatter":
        return tuple(dict.fromkeys(max(size, ranks) for size in calls))
    return calls


def _called(subject: Subject) -> dict[str, dict[int, tuple[int, ...]]]:
    """What a program calls, by the sizes of its communicators.

    Raises:
        InvalidInput: Nothing that can be decided.
    """
    asked: dict[str, dict[int, tuple[int, ...]]] = {}
    for name, sizes in called_sizes(subject.traces, _SIZED.split(",")).items():
        counts = {len(group) or subject.ranks for group in subject.calls[name]} - {1}
        if counts:
            asked[name] = {count: _calls(name, count, sizes) for count in sorted(counts)}
    if not asked:
        raise InvalidInput(f"--application: it calls none of {_SIZED}")
    return asked


def _in_program(
    subject: Subject,
    machine: Machine,
    network_of: Configuration,
    target: Target,
    asked: Mapping[str, Mapping[int, tuple[int, ...]]],
    alone: DecisionTable,
    most: int,
) -> ProgramRules:
    from workers.program_rules import Program, rules_for
    from workers.simulator_client import Simulator
    from workers.subject import request_for

    resolved = resolve(
        network_of,
        machine,
        subject.ranks,
        collectives=subject.calls,
        traffic=TracesTraffic(subject.traces),
    )
    with Simulator(subject.traces) as simulator:
        program = Program(simulator, request_for(resolved, subject.workload), target, most)
        return rules_for(
            program,
            target,
            asked,
            alone,
            done=lambda seconds: say(
                f"hamtune: {format_duration(seconds)} after {program.evaluations} simulations"
            ),
        )


def _of_program(program: ProgramRules) -> dict[str, Any]:
    return {
        "default_seconds": program.default,
        "single_seconds": program.single,
        "single_algorithms": dict(program.single_algorithms),
        "seconds": program.seconds,
        "evaluations": program.evaluations,
    }


def _of_rules(target: Target, program: ProgramRules) -> str:
    """The rules, and what the program takes under them and under others."""
    lines = []
    for name, rows in program.table.items():
        for row in rows:
            for line in row.lines:
                if line.algorithm != DEFAULT:
                    library = _in_library(target, name, line.algorithm, row.ranks)
                    begin = f"from {format_size(line.bytes)}"
                    lines.append(f"{name:15} {row.ranks:6} ranks  {begin:16} {library}")
                elif line.bytes:
                    begin = f"from {format_size(line.bytes)}"
                    lines.append(f"{name:15} {row.ranks:6} ranks  {begin:16} the library's choice")
    return "\n".join([*lines, _program_line(program)])


def _program_line(program: ProgramRules) -> str:
    forced = ", ".join(f"{name} {chosen}" for name, chosen in program.single_algorithms.items())
    single = f"{format_duration(program.single)} with one algorithm each ({forced or 'none'})"
    return (
        f"program: {format_duration(program.seconds)} under these rules, {single}, "
        f"{format_duration(program.default)} as the library chooses; "
        f"{program.evaluations} simulations"
    )


def _number(word: str) -> str | int:
    return int(word) if word.isdecimal() else word


def _count(word: str, cores: int) -> int:
    if not word.isdecimal() or not 2 <= int(word) <= min(cores, _MOST_RANKS):
        most = min(cores, _MOST_RANKS)
        raise InvalidInput(f"--ranks: a whole number from 2 to {most} is wanted, not '{word}'")
    return int(word)


def _counted(asked: Mapping[str, Mapping[int, tuple[int, ...]]]) -> str:
    counts = next(iter(asked.values()))
    sizes = max(len(calls) for of in asked.values() for calls in of.values())
    names = "collective" if len(asked) == 1 else "collectives"
    return f"{len(asked)} {names} x {len(counts)} communicators x {sizes} sizes"


def _progress(of: int) -> Any:
    shown = 0

    def tell(done: int) -> None:
        nonlocal shown
        if done * 10 // of > shown:
            shown = done * 10 // of
            say(f"hamtune: {done} of {of} simulated")

    return tell


def _document(
    target: Target, machine: Machine, decided: Decided, gains: Mapping[str, Gains]
) -> dict[str, Any]:
    return {
        "target": target.name,
        "checked_on": target.checked_on,
        "network": machine.network,
        "collectives": {
            name: {
                "description": COLLECTIVES[name].description,
                "mean_gain": gains[name].mean,
                "most_gain": dict(zip(("gain", "ranks", "bytes"), gains[name].most, strict=True)),
                "single": dict(zip(("mean_gain", "algorithm"), gains[name].single, strict=True)),
                "rows": [
                    {
                        "ranks": row.ranks,
                        "lines": [
                            {
                                "bytes": line.bytes,
                                "algorithm": line.algorithm,
                                "library": _in_library(target, name, line.algorithm, row.ranks),
                            }
                            for line in row.lines
                        ],
                    }
                    for row in rows
                ],
            }
            for name, rows in decided.table.items()
        },
        "evaluations": decided.evaluations,
        "cpu_seconds": decided.cpu_seconds,
    }


def _in_library(target: Target, collective: str, algorithm: str, ranks: int) -> str | None:
    if algorithm == DEFAULT:
        return None
    return target.equivalent(collective, algorithm, (ranks,)).algorithm


def _table(gains: Mapping[str, Gains], document: Mapping[str, Any]) -> str:
    lines = [f"{'collective':15} {'mean':>7} {'most':>7}  {'at':24} best that is named for all"]
    for name, one in gains.items():
        most, ranks, size = one.most
        at = f"{format_size(size)}, {ranks} ranks" if most > 1 else ""
        single = "the library's own choice"
        if one.single[1] != DEFAULT:
            single = f"{one.single[1]} ({one.single[0]:.2f} x)"
        lines.append(f"{name:15} {one.mean:6.2f}x {most:6.2f}x  {at:24} {single}")
    cost = f"{document['evaluations']} simulations, {document['cpu_seconds']:.1f} CPU seconds"
    return "\n".join([*lines, f"times as fast as the library's own choice; {cost}"])


def _write(
    directory: Path, target: Target, machine: Machine, decided: Decided, own: Path | None
) -> None:
    file = DECISION_FILES[target.format]
    checked = f"checked on {target.checked_on}" if target.checked_on else "that release was not run"
    origin = [
        f"Hamtune: algorithms of collectives by size for {target.title} ({checked}),",
        f"simulated on {machine.cores} cores ({machine.model_text}).",
    ]
    content = file.write(decided.table, target, origin, own)
    readme = "\n".join([*origin, "", f"{file.name}", file.install])
    readme += "times.csv has what was simulated.\n"
    write_below(directory, file.name, content.encode())
    write_below(directory, "README.txt", readme.encode())
    write_below(directory, "times.csv", _times(decided).encode())


def _times(decided: Decided) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["collective", "ranks", "bytes", "algorithm", "state", "seconds"])
    writer.writerows(_cells(decided))
    return buffer.getvalue()


def _cells(decided: Decided) -> Iterator[list[Any]]:
    for state, times in (("completed", decided.times), ("longer", decided.more_than)):
        for name, of in times.items():
            for ranks, sizes in of.items():
                for size, at in sizes.items():
                    for algorithm, seconds in at.items():
                        yield [name, ranks, size, algorithm, state, repr(seconds)]


COMMANDS = [rules]
