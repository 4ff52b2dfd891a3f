"""`hamtune testbed`: machines as emulated clusters on this host."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.clusters import TARGET_OF, library_option
from cli.options import command_argument, data_option, example, json_option, print_json, say
from cli.simulation_inputs import (
    TracedApplication,
    read_application,
    read_configuration,
    read_machine,
)
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, NetworkDescription, parse_machine
from searchspace.platform import Infeasible, resolve
from service.settings import Settings

if TYPE_CHECKING:
    from measuring.testbed_cluster import Outcome
    from testbed.clusters import Testbed

__all__ = ["COMMANDS"]

_DEFAULT_NAME = "testbed"
_MEGABIT = 8e-6

name_option = click.option(
    "--name", default=_DEFAULT_NAME, show_default=True, help="Name of the testbed."
)


@click.group()
def testbed() -> None:
    """Emulate a machine on this host, and run real MPI programs on it.

    Every host and switch is a network namespace with a host name of its own, every cable a pair of
    virtual devices with a rate; messages take the routes of the machine's tie rule. The network of
    this host is not touched.
    """


def _read_scale(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    if value == "auto":
        return value
    try:
        scale = float(value)
    except ValueError:
        raise click.BadParameter(f"write auto or a number, not {value!r}") from None
    if not (math.isfinite(scale) and scale > 0):
        raise click.BadParameter("must be greater than 0")
    return scale


@testbed.command(
    epilog=example(
        "hamtune testbed up torus.yaml --name torus",
        "hamtune testbed up machine.yaml --configuration '{topology: torus-2d}' --scale 50",
    )
)
@click.argument("machine")
@name_option
@click.option(
    "--configuration",
    metavar="C",
    default="{}",
    help="Parameters and values, in a file or written out: names the network where the machine "
    "leaves it open.",
)
@click.option(
    "--scale",
    metavar="auto|F",
    default="auto",
    show_default=True,
    callback=_read_scale,
    help="What all rates are divided by, so that the cores of this host are never the limit; auto "
    "measures what it can carry.",
)
@click.option(
    "--congestion-control",
    default="reno",
    show_default=True,
    help="Of TCP, by the kernel's name. reno and bbr fill both directions of a cable.",
)
@json_option
def up(
    machine: str,
    name: str,
    configuration: str,
    scale: Any,
    congestion_control: str,
    as_json: bool,
) -> None:
    """Bring a machine up as an emulated cluster.

    MACHINE is what a job file has under 'machine', in a file or written out. A testbed that is up
    already with the same machine and settings is left as it is.
    """
    from testbed.clusters import bring_up

    described = _with_network(
        read_machine(machine, argument="MACHINE"), read_configuration(configuration)
    )
    found, new = bring_up(described, name, scale=scale, congestion_control=congestion_control)
    if as_json:
        print_json(found.description)
        return
    click.echo(f"{_summary(found)} {'up' if new else 'up already'}")
    for note in found.description["notes"]:
        say(f"note: {note}")


@testbed.command(
    epilog=example(
        "hamtune testbed run torus -- ./a.out",
        "hamtune testbed run torus --ranks 8 --mpi mpich -- ./a.out 100",
        "hamtune testbed run torus --configuration '{collectives: {allreduce: rab}}' -- ./a.out",
        "hamtune testbed run torus --configuration best.json --application cg.S.16 -- ./cg.S",
    ),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("name")
@click.option(
    "--configuration",
    metavar="C",
    help="Parameters and values, in a file or written out; also the answer of 'hamtune best'. "
    "Without, the library chooses.",
)
@click.option(
    "--application",
    metavar="A",
    help="What the program is, as 'hamtune evaluate' takes it: for mappings that ask for its "
    "traffic, and the collectives that it calls.",
)
@click.option(
    "--ranks", type=click.IntRange(1), help="Ranks; those of the application, or a rank a core."
)
@library_option
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=3600.0, hidden=True)
@json_option
@data_option
@command_argument("hamtune testbed run NAME -- PROGRAM ARGUMENTS", metavar="-- PROGRAM...")
def run(
    name: str,
    configuration: str | None,
    application: str | None,
    ranks: int | None,
    mpi: Any,
    seconds: float,
    as_json: bool,
    settings: Settings,
    command: tuple[str, ...],
) -> int:
    """Run a real MPI program on a testbed that is up.

    With a configuration the program starts with the files of 'hamtune export', as they are. Ends as
    the program does; what makes its times doubtful is said on stderr. The program runs with your
    rights on this host's files.
    """
    from measuring.clusters import Launch
    from measuring.testbed_cluster import TestbedCluster
    from testbed.clusters import find

    if not command:
        raise click.UsageError("name a program: hamtune testbed run NAME -- PROGRAM ARGUMENTS")
    cluster = TestbedCluster(find(name))
    traced = _program(application, settings)
    if traced is not None:
        ranks = traced.ranks
    count = ranks or len(cluster.hosts) * cluster.cores_per_host
    with tempfile.TemporaryDirectory(prefix="hamtune-export-") as export:
        if configuration is not None:
            from service.exports.standalone import export_configuration

            chosen = read_configuration(configuration)
            _check_network(cluster.testbed, chosen, count)
            export_configuration(
                cluster.testbed.scaled_machine,
                chosen,
                TARGETS[TARGET_OF[mpi]],
                Path(export),
                ranks=count,
                trace=traced.traces[0] if traced else None,
            )
        launch = Launch(
            command=command,
            ranks=count,
            library=mpi,
            export=Path(export) if configuration is not None else None,
            seconds=seconds,
        )
        outcome = cluster.run_with(launch, (0, 2 if as_json else 1, 2))
    if as_json:
        print_json(_document(outcome, cluster.origin(mpi)))
    for doubt in outcome.doubts:
        say(f"doubt: {doubt}")
    return outcome.status


def _program(application: str | None, settings: Settings) -> TracedApplication | None:
    """What the program is, where that is said."""
    traced = read_application(application, settings) if application else None
    if traced is not None and traced.workload is not None:
        raise InvalidInput("several applications cannot be started as one program")
    return traced


@testbed.command(epilog=example("hamtune testbed down torus", "hamtune testbed down --all"))
@click.argument("name", default=_DEFAULT_NAME)
@click.option("--all", "every", is_flag=True, help="All testbeds of this user.")
def down(name: str, every: bool) -> None:
    """Take a testbed down, with all that runs on it and all that is left of it."""
    from testbed.clusters import known_names, take_down

    for one in known_names() if every else [name]:
        click.echo(f"{one} {'down' if take_down(one) else 'was not up'}")


@testbed.command("list", epilog=example("hamtune testbed list", "hamtune testbed list --json"))
@json_option
def list_command(as_json: bool) -> None:
    """List the testbeds that are up.

    With --json also the machine that each of them is: 'scaled_machine', with the rates of its
    cables, is what to simulate for comparison.
    """
    from testbed.clusters import list_testbeds

    found = list_testbeds()
    if as_json:
        print_json([testbed.description for testbed in found])
    elif not found:
        click.echo("no testbed is up")
    for testbed in found if not as_json else ():
        click.echo(_summary(testbed))


@testbed.command(epilog=example("hamtune testbed doctor", "hamtune testbed doctor --json"))
@json_option
def doctor(as_json: bool) -> int:
    """Say what this host can do for testbeds, and what is missing.

    Ends with status 1 where something failed without which there are none.
    """
    from testbed.doctor import examine

    findings = examine()
    failed = any(finding.status == "failed" for finding in findings)
    if as_json:
        print_json({"able": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{finding.status:8}{finding.name:12} {finding.text}")
    return 1 if failed else 0


COMMANDS = [testbed]


def _with_network(machine: Machine, configuration: Configuration) -> Machine:
    """The machine with the network that a configuration gives it."""
    if "topology" not in configuration:
        return machine
    try:
        resolved = resolve(configuration, machine, 1)
    except Infeasible as error:
        raise HamtuneError(f"the network cannot be built: {error}") from None
    names = [machine.host_names[host] for host in resolved.order]
    given = machine.topology is not None and machine.topology.host_names
    topology = NetworkDescription.of(resolved.network, names if given else ())
    return parse_machine({**machine.canonical(), "topology": topology})


def _check_network(testbed: Testbed, configuration: Configuration, ranks: int) -> None:
    """Refuses a configuration of another network than the one that is up."""
    if configuration.get("topology", "given") == "given":
        return
    resolved = resolve(configuration, testbed.scaled_machine, ranks)
    if resolved.network != testbed.plan.network:
        raise InvalidInput(
            "the configuration has another network than the testbed; bring one up with "
            "'hamtune testbed up MACHINE --configuration C'",
            field="topology",
        )


def _summary(testbed: Testbed) -> str:
    described: Mapping[str, Any] = testbed.description
    rates = sorted({rate * _MEGABIT for rate in described["rates"]})
    switches = f", {described['switches']} switches" if described["switches"] else ""
    return (
        f"{testbed.name}: {len(described['hosts'])} hosts{switches}, {len(described['cables'])} "
        f"cables of {' and '.join(f'{rate:.3g}' for rate in rates)} Mbit/s (scale "
        f"{described['scale']:g}), TCP {described['congestion_control']},"
    )


def _document(outcome: Outcome, origin: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": outcome.status,
        "seconds": outcome.seconds,
        "doubts": list(outcome.doubts),
        "details": dict(outcome.details),
        "origin": dict(origin),
    }
