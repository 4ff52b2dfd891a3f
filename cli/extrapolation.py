"""`hamtune trace extrapolate`: the trace of a large run from captures of small ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from cli.input_path import InputPath
from cli.options import example, json_option, print_json, say
from cli.output_files import check_writable
from cli.simulation_inputs import read_machine
from cli.trace_report import output_option
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.extrapolation import Extrapolated
from searchspace.extrapolation import extrapolate as extrapolate_traces
from searchspace.formats.trace import read_header
from searchspace.platform import Infeasible, resolve
from service.applications.notes import notes_on

__all__ = ["extrapolate", "simulated_on"]

_TORUS = (
    "{{nodes: {ranks}, degree: 6, host_speed: 10Gf, link_bandwidth: 10Gbps, switch_latency: 1us, "
    "network: packets}}"
)
_MEMORY = 4 << 30
_WALL_SECONDS = 600.0


@click.command(
    epilog=example(
        "hamtune trace extrapolate cg.16.ht cg.64.ht cg.256.ht --ranks 4096 -o cg.4096.ht",
        "hamtune trace extrapolate a.ht b.ht c.ht --ranks 1024 -o large.ht --machine machine.yaml",
    )
)
@click.argument("traces", metavar="A.ht B.ht ...", type=InputPath(), nargs=-1, required=True)
@click.option("--ranks", type=click.IntRange(2), required=True, help="Ranks of the large run.")
@output_option
@click.option(
    "--machine",
    metavar="M",
    help="Machine on which the check simulates, at the configuration's defaults; on a 3-D torus of "
    "links of 10 Gbit/s if left out.",
)
@click.option(
    "--no-check", is_flag=True, help="Write the trace without predicting a capture first."
)
@json_option
def extrapolate(
    traces: tuple[Path, ...],
    ranks: int,
    output: Path,
    machine: str | None,
    no_check: bool,
    as_json: bool,
) -> None:
    """Make the trace of a large run from captures of small ones.

    Give captures of one program on two or more numbers of ranks; with three or more, the largest is
    predicted from the others and the error is told. The small runs must differ as the large one
    does: all of a fixed problem (strong scaling), or all of as much a rank (weak scaling).
    """
    check_writable(output, "--output")
    say(f"hamtune: looking for a pattern in {len(traces)} captures")
    made = extrapolate_traces(
        traces,
        ranks,
        output,
        check=not no_check,
        simulate=None if no_check else simulated_on(machine),
    )
    if as_json:
        print_json({"output": str(output), **asdict(made)})
        return
    for line in _summary_lines(output, made):
        click.echo(line)


def simulated_on(machine: str | None) -> Callable[[Path], float | None]:
    """The simulated time of a trace on a machine, or on a torus of a host for each rank."""
    described = read_machine(machine) if machine is not None else None

    def time_of(trace: Path) -> float | None:
        from workers.simulator_client import Simulator

        ranks = read_header(trace).ranks
        on = described or read_machine(_TORUS.format(ranks=ranks))
        configuration = Configuration({} if described else {"topology": "torus-3d"})
        try:
            resolved = resolve(configuration, on.simulated_by(on.trial_model), ranks)
        except Infeasible as error:
            say(f"hamtune: the check has no simulated time: {error}")
            return None
        with Simulator([trace]) as simulator:
            answer = simulator.evaluate(
                resolved.simulator_request(), memory_bytes=_MEMORY, wall_seconds=_WALL_SECONDS
            )
        if answer["status"] != "completed":
            raise InvalidInput(f"the check cannot simulate {trace.name}: {answer['reason']}")
        return float(answer["simulated_time"])

    return time_of


def _summary_lines(output: Path, made: Extrapolated) -> list[str]:
    notes = notes_on({"extrapolated": asdict(made)})
    return [
        f"{output}: {made.ranks} ranks, {made.operations} operations",
        *(f"  {note}" for note in notes),
    ]
