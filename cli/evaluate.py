"""`hamtune evaluate`: one configuration, once, without a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.options import data_option, example, json_option, print_json
from cli.simulation_inputs import (
    TracedApplication,
    application_option,
    machine_option,
    read_application,
    read_configuration,
    read_machine,
    read_quantity,
)
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import Machine, NetworkModel
from searchspace.platform import Infeasible, Resolved, resolve
from searchspace.transport import PROTOCOL
from searchspace.units import format_duration, memory_limit, parse_duration
from service.settings import Settings

if TYPE_CHECKING:
    from workers.tuning_problem import Workload

__all__ = ["COMMANDS"]


_ANSWERED = (
    "status",
    "simulated_time",
    "estimate",
    "cpu_seconds",
    "wall_seconds",
    "peak_rss_bytes",
    "reason",
)


@click.command(
    epilog=example(
        "hamtune evaluate --application cg.A.64 --machine machine.yaml \\",
        "  --configuration '{topology: torus-3d, mpi: mpich, collectives: {allreduce: rdb}}'",
        "hamtune evaluate --application trace.ht --machine machine.yaml \\",
        "  --configuration best.json --cutoff 80ms --json",
        "hamtune evaluate --machine machine.yaml \\",
        "  --application '{pattern: all-to-all, ranks: 16, size: 64kB, count: 10, rate: 100}'",
    )
)
@application_option
@machine_option
@click.option(
    "--configuration",
    metavar="C",
    default="{}",
    help="Parameters and values, in a file or written out; also the answer of 'hamtune best'. "
    "What is left out has its default.",
)
@click.option(
    "--network",
    type=click.Choice(["fluid", "packets"]),
    help="The model that gives the time of messages, in place of the machine's "
    "(docs/network-models.md).",
)
@click.option("--cutoff", metavar="S", help="Stop at this simulated time (seconds, or 80ms).")
@click.option(
    "--memory",
    metavar="B",
    default="4GiB",
    show_default=True,
    help="Most memory of the evaluation (bytes, or 512MiB).",
)
@click.option(
    "--wall",
    metavar="S",
    default="10min",
    show_default=True,
    help="Most wall time of the evaluation (seconds, or 90s).",
)
@click.option("--link-loads", is_flag=True, help="Also show the bytes over each cable, each way.")
@json_option
@data_option
def evaluate(
    application: str,
    machine: str,
    configuration: str,
    network: NetworkModel | None,
    cutoff: str | None,
    memory: str,
    wall: str,
    link_loads: bool,
    as_json: bool,
    settings: Settings,
) -> int:
    """Simulate an application once, on a machine, in a configuration.

    Prints the simulated time (a lower bound if the cutoff stopped the run, an estimate for a
    truncated trace), the model that gave it, and what the evaluation cost. Where the machine's
    network is auto, that is packets. A built-in program is captured the first time it is used.
    """
    limits = {
        "cutoff": read_quantity("--cutoff", parse_duration, cutoff),
        "memory_bytes": read_quantity("--memory", memory_limit, memory),
        "wall_seconds": read_quantity("--wall", parse_duration, wall),
    }
    described = read_machine(machine)
    on = described.simulated_by(network or described.trial_model)
    chosen = read_configuration(configuration)
    traced = read_application(application, settings)
    try:
        resolved = resolve(
            chosen,
            on,
            traced.ranks,
            collectives=traced.calls,
            traffic=TracesTraffic(traced.traces),
        )
    except Infeasible as error:
        answer = _nothing("infeasible", "infeasible", str(error))
        cables: tuple[tuple[int, int], ...] = ()
        unheard = ""
    else:
        cables = resolved.edges
        unheard = _unheard(chosen, on)
        on = resolved.machine
        answer = _simulated(resolved, traced, limits)
    result = _document(answer, traced.workload, on)
    if link_loads:
        result["link_loads"] = _with_ends(answer["link_loads"], cables)
    if as_json:
        print_json(result)
    elif result["status"] in ("completed", "censored"):
        chosen_here = described.network == "auto" and network is None
        _show(result, on.model_text, chosen_here=chosen_here, unheard=unheard)
    if result["status"] in ("completed", "censored"):
        return 0
    raise HamtuneError(f"the evaluation is {result['status']}: {result['reason']['message']}")


COMMANDS = [evaluate]


def _simulated(
    resolved: Resolved, traced: TracedApplication, limits: dict[str, Any]
) -> dict[str, Any]:
    from workers.simulator_client import Simulator
    from workers.tuning_problem import request_for

    with Simulator(traced.traces) as simulator:
        return simulator.evaluate(request_for(resolved, traced.workload), **limits)


def _document(
    answer: dict[str, Any], workload: Workload | None, machine: Machine
) -> dict[str, Any]:
    """What an evaluation said, and by which model, as JSON."""
    return {
        **{name: answer[name] for name in _ANSWERED},
        "finish_times": _finish_times(answer, workload),
        "network": machine.network,
        "model": None if machine.protocol else machine.canonical()["model"],
        "protocol": machine.protocol and machine.protocol.numbers(),
        "tie_rule": machine.tie_rule,
    }


def _show(result: dict[str, Any], model: str, *, chosen_here: bool, unheard: str) -> None:
    more = "more than " if result["status"] == "censored" else ""
    time = f"{more}{format_duration(result['simulated_time'])}"
    click.echo(f"{time} simulated time ({model})")
    if chosen_here:
        click.echo("the machine's network is auto, which is packets for one evaluation")
    if unheard:
        click.echo(f"the fluid model knows no settings of the transport: {unheard}")
    if result["estimate"] is not None:
        click.echo(_how_estimated(result["estimate"]))
    click.echo(
        f"{result['cpu_seconds']:.3g} CPU s, {result['wall_seconds']:.3g} s, "
        f"{result['peak_rss_bytes'] / 2**20:.1f} MiB"
    )
    for name, time in (result["finish_times"] or {}).items():
        click.echo(f"{name} finishes at {format_duration(time)}")
    for cable in result.get("link_loads", ()):
        (u, v), (there, back) = cable["ends"], cable["bytes"]
        click.echo(f"cable {u} to {v}: {there} bytes, back: {back}")


def _unheard(configuration: Configuration, machine: Machine) -> str:
    """The settings of the transport that mean nothing to the model of the machine."""
    if machine.trial_model == "packets":
        return ""
    settings = (f"{n} = {v}" for n, v in configuration.items() if n.startswith(PROTOCOL))
    return ", ".join(settings)


def _how_estimated(estimate: Mapping[str, float]) -> str:
    played = format_duration(estimate["played"])
    return (
        f"an estimate: the truncated trace itself takes {played}; "
        f"ranks and iterations disagree by {estimate['error']:.2%}"
    )


def _finish_times(answer: Mapping[str, Any], workload: Workload | None) -> dict[str, float] | None:
    """When each of several applications has finished, by its name."""
    if workload is None or answer["status"] != "completed":
        return None
    names = [part["name"] for part in workload.parts]
    return dict(zip(names, answer["application_times"], strict=True))


def _with_ends(
    loads: Sequence[Sequence[float]], cables: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """The bytes over each cable from its first end to its second, and back.

    The ends are numbers of nodes after ordering: hosts, then switches. An evaluation that failed
    has no loads.
    """
    if not loads:
        return []
    return [
        {"ends": list(ends), "bytes": list(load)} for ends, load in zip(cables, loads, strict=True)
    ]


def _nothing(status: str, kind: str, message: str) -> dict[str, Any]:
    """The answer where there is nothing to simulate."""
    return {
        "status": status,
        "simulated_time": None,
        "estimate": None,
        "reason": {"kind": kind, "message": message},
        "cpu_seconds": 0.0,
        "wall_seconds": 0.0,
        "peak_rss_bytes": 0,
        "link_loads": [],
    }
