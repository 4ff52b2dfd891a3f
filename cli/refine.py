"""`hamtune map refine`: a mapping made better by simulated time."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from cli.files import FILE, read_json
from cli.mapping_pictures import check_picture, draw_mappings, picture_option
from cli.options import data_option, example, finite, json_option, print_json, say, seed_option
from cli.simulation_inputs import (
    TracedApplication,
    application_option,
    machine_option,
    read_application,
    read_configuration,
    read_machine,
)
from searchspace.errors import InvalidInput
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.kernels import CannotCut
from searchspace.machine import Machine
from searchspace.mapping.metrics import metrics_of
from searchspace.mapping.permutation import packed_cores
from searchspace.platform import Resolved, chosen_algorithms, resolve, written_out
from searchspace.traffic import Traffic
from searchspace.truncation import truncate
from searchspace.units import format_duration
from service.settings import Settings

if TYPE_CHECKING:
    from searchspace.configuration import Configuration
    from searchspace.mapping.refine import Refined
    from workers.simulator_client import Simulator

__all__ = ["refine"]

_EVALUATIONS = 200
_NO_LIMIT = 10**9
_SAY_SECONDS = 1.0


@click.command(
    "refine",
    epilog=example(
        "hamtune map refine --application cg.A.64 --machine machine.yaml --evaluations 300",
        "hamtune map refine --application trace.ht --machine machine.yaml \\",
        "  --configuration '{mpi: mpich}' --start mapping.json --seconds 60 --json",
    ),
)
@application_option
@machine_option
@click.option(
    "--configuration",
    metavar="C",
    default="{}",
    help="Network, ordering, MPI implementation and algorithms, in a file or written out; also the "
    "answer of 'hamtune best'. Its mapping is what is refined if it names one.",
)
@click.option(
    "--start",
    "starts",
    type=FILE,
    multiple=True,
    help="A mapping to begin with: the answer of 'hamtune map --json', or a list of the host of "
    "rank 0, 1, ...; may be repeated. Without any, and without one in --configuration: what all "
    "mappers make.",
)
@click.option(
    "--evaluations",
    type=click.IntRange(min=1),
    help=f"Simulations of the search at most, those of the starts included; {_EVALUATIONS} unless "
    "--seconds is given.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    callback=finite,
    help="Time after which no simulation of the search begins.",
)
@click.option(
    "--fidelity",
    type=click.Choice(("auto", "full")),
    default="auto",
    show_default=True,
    help="Search on a truncated trace, where the application has loops that can be cut short, and "
    "verify the best on the whole one; or search on the whole one.",
)
@picture_option
@seed_option
@json_option
@data_option
def refine(
    application: str,
    machine: str,
    configuration: str,
    starts: tuple[Path, ...],
    evaluations: int | None,
    seconds: float | None,
    fidelity: Literal["auto", "full"],
    picture: Path | None,
    seed: int,
    as_json: bool,
    settings: Settings,
) -> None:
    """Refine a mapping by swaps of ranks, judged by simulated time.

    Swaps are proposed by the most loaded links and by what ranks exchange. The result is never
    worse than what it began with, in the simulated time of the whole application. --json adds the
    configuration, for 'hamtune evaluate'.
    """
    from workers.mapping_refinement import Runs, refine_mapping
    from workers.simulator_client import Simulator

    check_picture(picture)
    on = read_machine(machine)
    chosen = read_configuration(configuration)
    traced = read_application(application, settings)
    traffic = TracesTraffic(traced.traces)
    given = _starts(starts, on, chosen, traced, traffic)
    runs = Runs(on, chosen, traced.ranks, traffic, traced.calls, traced.workload)
    begin = time.monotonic()
    with ExitStack() as stack:
        whole = stack.enter_context(Simulator(traced.traces))
        short = stack.enter_context(_short(traced)) if fidelity == "auto" else None
        refined, start = refine_mapping(
            runs,
            whole,
            short,
            starts=given or None,
            evaluations=evaluations or (_EVALUATIONS if seconds is None else _NO_LIMIT),
            seconds=seconds,
            seed=seed,
            progress=_Progress(estimated=short is not None),
        )
    took = time.monotonic() - begin
    best = written_out(chosen, on, refined.places.tolist())
    resolved = resolve(best, on, traced.ranks, collectives=traced.calls, traffic=traffic)
    exchanged = traffic(chosen_algorithms(best))
    if picture is not None:
        in_order = written_out(chosen, on, range(traced.ranks))
        before = resolve(in_order, on, traced.ranks, traffic=traffic)
        _draw(picture, exchanged, before, resolved)
    document = _document(refined, start, resolved, on, exchanged)
    if as_json:
        print_json({**document, "seconds": took, "configuration": best.to_dict()})
    else:
        _show(document)


def _draw(picture: Path, exchanged: Traffic, before: Resolved, after: Resolved) -> None:
    named = ("ranks in order", before.places)
    draw_mappings(picture, exchanged, after.where, named, ("refined", after.places))


def _show(document: dict[str, Any]) -> None:
    start = document["start"]
    click.echo(" ".join(map(str, document["mapping"])))
    click.echo(
        f"{format_duration(document['simulated_time'])} simulated ({document['model']}); "
        f"{format_duration(start['simulated_time'])} with '{start['mapping']}', the best start"
    )
    click.echo(
        f"hop-bytes {document['hop_bytes']}, dilation {document['dilation']}, "
        f"congestion {document['congestion']}"
    )


def _document(
    refined: Refined, start: str, resolved: Resolved, machine: Machine, exchanged: Traffic
) -> dict[str, Any]:
    """What was found, as JSON."""
    answer: dict[str, Any] = {"mapping": list(resolved.rank_hosts)}
    if machine.cores_per_host > 1:
        answer["cores"] = resolved.where.place_cores[resolved.places].tolist()
    return {
        **answer,
        "simulated_time": refined.seconds,
        "model": machine.model_text,
        "start": {"mapping": start, "simulated_time": refined.start_seconds},
        "speedup": refined.start_seconds / refined.seconds if refined.seconds else 1.0,
        "evaluations": refined.evaluations,
        "verified": refined.verified,
        **dataclasses.asdict(metrics_of(exchanged, resolved.where, resolved.places)),
    }


def _starts(
    files: tuple[Path, ...],
    machine: Machine,
    configuration: Configuration,
    traced: TracedApplication,
    traffic: TracesTraffic,
) -> dict[str, Sequence[int]]:
    """The mappings to begin with, by what they are called; none to take what all mappers make."""
    given: dict[str, Sequence[int]] = {
        path.name: _start(path, machine, traced.ranks) for path in files
    }
    if given or "mapping" not in configuration:
        return given
    named = resolve(configuration, machine, traced.ranks, collectives=traced.calls, traffic=traffic)
    cores = packed_cores(named.rank_hosts, machine.cores_per_host)
    return {str(configuration["mapping"]): cores}


class _Progress:
    """Says every second how the search is doing."""

    def __init__(self, *, estimated: bool) -> None:
        self._what = "estimated" if estimated else "simulated"
        self._said = time.monotonic()

    def __call__(self, made: int, best: float) -> None:
        if time.monotonic() - self._said >= _SAY_SECONDS:
            say(f"{made} mappings simulated, best {format_duration(best)} {self._what}")
            self._said = time.monotonic()


@contextmanager
def _short(traced: TracedApplication) -> Iterator[Simulator | None]:
    """A simulator with the truncated trace, where that is worth it."""
    from workers.prepare import MOST_SHARE
    from workers.simulator_client import Simulator

    with tempfile.TemporaryDirectory(prefix="hamtune-refine-") as directory:
        trace = Path(directory) / "short.ht"
        try:
            if len(traced.traces) > 1 or truncate(traced.traces[0], trace).share > MOST_SHARE:
                yield None
                return
        except CannotCut:
            yield None
            return
        with Simulator([trace]) as simulator:
            yield simulator


def _start(path: Path, machine: Machine, ranks: int) -> Sequence[int]:
    """The core of each rank, from a list of hosts.

    Raises:
        InvalidInput: It is not a mapping of these ranks on this machine.
    """
    document = read_json(path)
    hosts = document.get("mapping") if isinstance(document, dict) else document
    if not isinstance(hosts, list) or len(hosts) != ranks:
        raise InvalidInput(
            f"--start {path}: must list the hosts of {ranks} ranks, alone or under 'mapping'"
        )
    for host in hosts:
        if not isinstance(host, int) or isinstance(host, bool) or not 0 <= host < machine.nodes:
            raise InvalidInput(
                f"--start {path}: {host!r} is not a host; allowed: 0 to {machine.nodes - 1}"
            )
    host, times = Counter(hosts).most_common(1)[0]
    if times > machine.cores_per_host:
        raise InvalidInput(
            f"--start {path}: host {host} is given {times} ranks, but has "
            f"{machine.cores_per_host} cores"
        )
    return packed_cores(hosts, machine.cores_per_host)
