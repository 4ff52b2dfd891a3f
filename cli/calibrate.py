"""`hamtune calibrate`: a machine fitted to what was measured on its cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from cli.clusters import emulated_cluster, launcher
from cli.options import example, finite, json_option, print_json, say, seed_option
from cli.simulation_inputs import read_machine
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, parse_machine

if TYPE_CHECKING:
    from measuring.calibration import Calibrated
    from measuring.clusters import Cluster, Library

__all__ = ["COMMANDS"]

_FILE = click.Path(dir_okay=False, path_type=Path)
_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
_MICRO = 1e6
_MEGABIT = 8e-6


@click.command(
    epilog=example(
        "hamtune testbed up torus.yaml --name torus --scale 50",
        "hamtune calibrate --testbed torus -o machine.yaml --report report.html",
        "",
        "hamtune calibrate --mpirun 'mpirun --mca btl tcp,self' --hosts hosts.txt \\",
        "    --machine cluster.yaml -o machine.yaml",
        "hamtune evaluate --machine machine.yaml --application cg.A.16",
    )
)
@click.option("--testbed", metavar="NAME", help="An emulated cluster of this host that is up.")
@click.option(
    "--mpirun",
    metavar="COMMAND",
    help="The launcher of a cluster of your own, with its options, in quotes.",
)
@click.option(
    "--hosts",
    "hosts_file",
    type=_FILE,
    help="With --mpirun: the names of the hosts, one a line, in the order of the machine.",
)
@click.option(
    "--mpi",
    type=click.Choice(tuple(_NAMES)),
    help="The library to measure with, on a testbed. Open MPI by default.",
)
@click.option(
    "--machine",
    "base",
    metavar="M",
    help="What is known of the machine: network, rates as the vendor says, cores. That of the "
    "testbed by default; with --mpirun without it: all hosts on one switch, of gigabit cables.",
)
@click.option("-o", "--output", type=_FILE, required=True, help="Where the machine is written.")
@click.option("--report", type=_FILE, help="Where a page of plots and tables is written (HTML).")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.5),
    callback=finite,
    default=10.0,
    show_default=True,
    help="How long all of it may take, about. Less time: fewer repetitions.",
)
@seed_option
@json_option
def calibrate(
    testbed: str | None,
    mpirun: str | None,
    hosts_file: Path | None,
    mpi: Any,
    base: str | None,
    output: Path,
    report: Path | None,
    minutes: float,
    seed: int,
    as_json: bool,
) -> None:
    """Measure a cluster, and write the machine that simulates it.

    A program of ours is compiled with the cluster's mpicc and sends messages: of 1 B to 4 MiB, over
    few and many hops, in a row, both ways at once, over one cable, to and from one host, between
    all. Rates, latencies, overheads and limits of the packets model are then fitted until
    simulating the same messages takes what they took. The machine says how well that went
    ('calibration'), and the report shows it.

    The hosts should have nothing else to do. Each run is kept in OUTPUT.log; the same command goes
    on there when it was interrupted.
    """
    from measuring.calibration import Log, under
    from measuring.calibration import calibrate as calibrated_on
    from measuring.calibration.report import page

    cluster, machine, library = _cluster(testbed, mpirun, hosts_file, mpi, base)
    log = Log(output.with_name(output.name + ".log"), under(cluster, machine, library, seed))
    if log.rows:
        say(f"going on with {len(log.rows)} runs of {output.name}.log")
    found = calibrated_on(cluster, machine, library, log, seed=seed, minutes=minutes, say=say)
    _write(output, _document(found.machine))
    if report is not None:
        _write(report, page(found))
    for note in found.notes:
        say(f"note: {note}")
    if as_json:
        print_json(found.machine.canonical())
    else:
        click.echo(_summary(found))


COMMANDS = [calibrate]


def _cluster(
    testbed: str | None,
    mpirun: str | None,
    hosts_file: Path | None,
    mpi: Library | None,
    base: str | None,
) -> tuple[Cluster, Machine, Library]:
    """What is measured, what is known of it, and by which library.

    Raises:
        UsageError: The options do not go together.
        InvalidInput: There is no such testbed or launcher, or a file cannot be read.
    """
    if (emulated := emulated_cluster(testbed, mpirun, hosts_file)) is not None:
        machine = read_machine(base) if base else emulated.testbed.scaled_machine
        return emulated, machine, mpi or "openmpi"
    words, hosts = launcher(mpirun, hosts_file)
    if len(set(hosts)) < len(hosts):
        raise InvalidInput(f"--hosts {hosts_file}: names a host twice; name each once")
    machine = read_machine(base) if base else _on_a_switch(len(hosts))
    from measuring.mpirun_cluster import MpirunCluster

    cluster = MpirunCluster(words, hosts, machine.cores_per_host)
    if mpi is not None and mpi != cluster.library:
        raise InvalidInput(
            f"{words[0]} is of {_NAMES[cluster.library]}, not of {_NAMES[mpi]}", field="mpi"
        )
    return cluster, machine, cluster.library


def _on_a_switch(hosts: int) -> Machine:
    """What is assumed of hosts of which nothing is said."""
    return parse_machine(
        {
            "nodes": hosts,
            "host_speed": "1Gf",
            "link_bandwidth": "1Gbps",
            "network": "packets",
            "topology": {"switches": 1, "edges": [[host, hosts] for host in range(hosts)]},
        }
    )


def _document(machine: Machine) -> str:
    text = yaml.safe_dump(machine.canonical(), sort_keys=False, default_flow_style=None, width=100)
    return f"# Written by 'hamtune calibrate'. Quantities are in SI base units.\n{text}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HamtuneError(f"{path} cannot be written: {error.strerror}") from None


def _summary(found: Calibrated) -> str:
    machine, calibration = found.machine, found.machine.calibration
    assert calibration is not None, "it was calibrated"
    protocol = machine.protocol
    assert protocol is not None, "of the packets model"
    seconds = {
        name: pieces[0][1] * _MICRO
        for name, pieces in (
            ("send", protocol.send_overhead),
            ("isend", protocol.isend_overhead),
            ("receive", protocol.receive_overhead),
        )
    }
    overheads = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    lines = [
        f"cables    {machine.link_bandwidth * _MEGABIT:.4g} Mbit/s, "
        f"{machine.link_latency * _MICRO:.1f} us a hop, burst of {protocol.burst} bytes",
        f"overheads {overheads} us a message",
        f"limits    eager {protocol.eager_limit}, send buffer {protocol.send_buffer} bytes, "
        f"exchange {protocol.exchange}, {protocol.switching}",
        f"hosts     {machine.host_speed:.3g} flop/s a core",
        "",
        f"{'simulated against measured':28}{'points':>7}{'median':>9}{'90%':>8}",
    ]
    rows = [*calibration.residuals.items(), ("whole messages", calibration)]
    lines += [f"{kind:28}{each.points:7}{each.median:9.1%}{each.error:8.1%}" for kind, each in rows]
    lines.append(f"not explained: {found.unexplained:.1%} of the time of whole messages")
    return "\n".join(lines)
