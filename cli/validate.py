"""`hamtune validate`: trials of a job, measured on a cluster beside what was simulated."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from cli.client import Client, connect
from cli.clusters import TARGET_OF, cluster_options, library_option, open_cluster
from cli.console import table_console
from cli.export import unpack
from cli.job_names import job_argument
from cli.options import (
    command_argument,
    example,
    finite,
    json_option,
    print_json,
    say,
    seed_option,
    server_option,
)
from searchspace.builtins import validate as builtin_run
from searchspace.configuration import Configuration
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, parse_machine
from searchspace.platform import Infeasible, resolve
from searchspace.topology import FAMILIES
from searchspace.units import format_duration
from service.settings import Settings

if TYPE_CHECKING:
    from measuring.clusters import Cluster, Library
    from measuring.sampling import Asked, Sample
    from measuring.trials import Program
    from measuring.validation import Candidate, Verdict

__all__ = ["COMMANDS"]

_DEFAULTS = "the library's defaults"
_PAGE = 500


@click.command(
    epilog=example(
        "hamtune validate is-16 --testbed torus",
        "hamtune validate cg-64 --top 3 --spread 5 --mpirun 'mpirun --map-by core' \\",
        "  --hosts hosts.txt -- ./cg.A.64",
    ),
    context_settings={"ignore_unknown_options": True},
)
@job_argument()
@click.option(
    "--top", type=click.IntRange(1), default=5, show_default=True, help="How many of the best."
)
@click.option(
    "--spread",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many of the others, spread over the simulated range.",
)
@cluster_options
@library_option
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    callback=finite,
    default=10.0,
    show_default=True,
    help="When the measuring ends, however little is known.",
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True),
    callback=finite,
    default=0.03,
    show_default=True,
    help="Half the confidence interval of a mean, relative to it, at which it is known.",
)
@command_argument("hamtune validate J [--testbed N] -- PROGRAM ARGUMENTS", metavar="[-- PROGRAM…]")
@seed_option
@json_option
@server_option
def validate(
    job: str,
    top: int,
    spread: int,
    testbed: str | None,
    mpirun: str | None,
    hosts_file: Path | None,
    mpi: Any,
    minutes: float,
    precision: float,
    command: tuple[str, ...],
    seed: int,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Measure trials of a job on a cluster, and say how far the simulation is to be trusted.

    Runs the best trials, the baselines, some trials spread over the simulated range, and the
    library's defaults, in turns of random order, until the mean of each is known. A built-in
    program is built for the library; give any other one after --. Times are those from MPI_Init to
    MPI_Finalize. Trials of another network than the cluster's are left out. All runs are kept with
    the job ('hamtune measured J'). Ctrl-C ends it earlier, with the runs so far.
    """
    from measuring.launch_lines import directory_for_runs
    from measuring.sampling import Asked
    from measuring.validation import verdict

    cluster, described = open_cluster(testbed, mpirun, hosts_file, mpi)
    seen = directory_for_runs(emulated=testbed is not None)
    with (
        tempfile.TemporaryDirectory(prefix="hamtune-validate-", dir=seen) as scratch,
        connect(server, settings) as client,
    ):
        directory = Path(scratch)
        found = client.find_job(job)
        machine = parse_machine(found["spec"]["machine"])
        if described is not None:
            _compare(machine, described)
        candidates = _candidates(client, found, machine, described, mpi, top, spread, directory)
        program = _built(found, command, mpi, directory, 60 * minutes)
        say(f"{len(candidates)} configurations, {minutes:g} minutes at most")
        asked = Asked(precision=precision, seconds=60 * minutes)
        measured, interrupted = _measure(cluster, program, candidates, asked, seed)
        # What took so long to measure is told before anything can go wrong with it.
        result = verdict(measured)
        if as_json:
            print_json(_document(measured, result))
        else:
            _show(measured, result)
        _keep(client, found["id"], measured, dict(cluster.origin(mpi)))
    if interrupted:
        raise KeyboardInterrupt


COMMANDS = [validate]


def _measure(
    cluster: Cluster,
    program: Program,
    candidates: Sequence[Candidate],
    asked: Asked,
    seed: int,
) -> tuple[dict[Candidate, Sample], bool]:
    """What was measured of each candidate, and whether that was interrupted.

    Raises:
        KeyboardInterrupt: Before any run had ended.
    """
    from measuring.sampling import Sample
    from measuring.trials import measure_candidates

    so_far: dict[Candidate, Sample] = {}

    def progress(candidate: Candidate, known: Sample) -> None:
        so_far[candidate] = known
        _progress(candidate, known)

    try:
        found = measure_candidates(cluster, program, candidates, asked, seed=seed, say=progress)
    except KeyboardInterrupt:
        if not so_far:
            raise
        say("interrupted: the runs so far are told, and kept")
        return {each: so_far.get(each, Sample()) for each in candidates}, True
    return found, False


def _built(
    job: dict[str, Any],
    command: tuple[str, ...],
    library: Library,
    directory: Path,
    seconds: float,
) -> Program:
    """What is run, built for the library where that is left to us."""
    from measuring.building import build_builtin, build_preload
    from measuring.trials import Program

    ranks, words = _program(job, command)
    return Program(
        command=words or build_builtin(_builtin(job), library, directory / "built"),
        ranks=ranks,
        library=library,
        clock=build_preload("whole", library, directory / "whole.so"),
        seconds=seconds,
    )


def _compare(machine: Machine, emulated: Machine) -> None:
    """Warns where simulated times are not of the cluster's cables."""
    ratio = machine.link_bandwidth / emulated.link_bandwidth
    if not 0.8 <= ratio <= 1.25:
        say(
            f"note: the cables of the job's machine are {ratio:.3g} times as fast as the "
            "testbed's, so times cannot agree; only their order can. Submit the job with the "
            "machine that 'hamtune calibrate --testbed' writes"
        )


def _candidates(
    client: Client,
    job: Mapping[str, Any],
    machine: Machine,
    emulated: Machine | None,
    library: str,
    top: int,
    spread: int,
    directory: Path,
) -> list[Candidate]:
    """What is run, with exports in a directory; the library's defaults come last."""
    from measuring.validation import Candidate, choose, same_files

    network = None if emulated is None else emulated.given_network
    trials = [trial for trial in _trials(client, job["id"]) if _fits(trial, machine, network, job)]
    if not trials:
        raise HamtuneError("no trial of the job has the network of the cluster")
    found: list[Candidate] = []
    for trial in choose(trials, top=top, spread=spread):
        number = trial["number"]
        label = f"trial {number}" if trial["label"] is None else f"{trial['label']} ({number})"
        export = directory / f"trial-{number}"
        chosen = {"trial": number, "target": TARGET_OF[library]}
        try:
            unpack(client.fetch(f"/jobs/{job['id']}/exports/{library}", chosen), export)
        except HamtuneError as error:
            say(f"{label} is left out: {error}")
            continue
        same = next((one for one in found if one.export and same_files(one.export, export)), None)
        if same is not None:
            say(f"{label} is left out: it installs the same as {same.label}")
            continue
        found.append(Candidate(label, number, trial["value"], export))
    return [*found, Candidate(_DEFAULTS, None, None, None)]


def _trials(client: Client, job: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    after = 0
    while True:
        page = client.get(f"/jobs/{job}/trials", after=after, limit=_PAGE)
        found += page["items"]
        if page.get("cursor") is None or not page["items"]:
            return found
        after = page["cursor"]


def _fits(trial: Mapping[str, Any], machine: Machine, network: Any, job: Mapping[str, Any]) -> bool:
    """Whether a trial can be run on the network of the cluster."""
    chosen = trial["configuration"]
    if chosen.get("topology", "given") == "given":
        return network is None or machine.given_network == network
    if network is None:
        return False
    if FAMILIES[chosen["topology"]].uses_traffic:
        say(
            f"trial {trial['number']} is left out: its network is made for traffic, which is not "
            "known here; export it, and make a job of the network as it is"
        )
        return False
    built = {name: value for name, value in chosen.items() if name.startswith("topology")}
    try:
        return bool(resolve(Configuration(built), machine, 1).network == network)
    except Infeasible:
        return False


def _program(job: Mapping[str, Any], command: Sequence[str]) -> tuple[int, Sequence[str]]:
    """How many ranks, and the program that the user gives; empty for a built-in one."""
    application = job["spec"]["application"]
    if "ranks" not in application:
        raise InvalidInput("several applications cannot be started as one program")
    if not command and "builtin" not in application:
        raise click.UsageError(
            "the application of the job is no built-in program; give one that is built for the "
            "library: hamtune validate J … -- PROGRAM ARGUMENTS"
        )
    return int(application["ranks"]), command


def _builtin(job: Mapping[str, Any]) -> Any:
    parameters = dict(job["spec"]["application"])
    return builtin_run(parameters.pop("builtin"), parameters, parameters.pop("ranks"))


def _progress(candidate: Candidate, known: Sample) -> None:
    if known.failures:
        told = f"failed: {known.failures[-1].strip().splitlines()[-1]}"
    elif known.mean is None:
        told = f"does not count: {known.doubts[-1]}"
    else:
        half = known.half_interval
        reach = "" if half is None else f" ± {half / known.mean:.1%}"
        told = f"{format_duration(known.mean)}{reach}"
    say(f"run {known.runs} of {candidate.label}: {told}")


def _keep(
    client: Client,
    job: str,
    measured: Mapping[Candidate, Sample],
    origin: Mapping[str, Any],
) -> None:
    """Store all runs of each candidate that was run at all.

    Raises:
        HamtuneError: Some could not be stored, with the reasons; the others were.
    """
    lost = []
    for candidate, known in measured.items():
        if known.runs == 0:
            continue
        document = {
            "label": candidate.label,
            "trial": candidate.trial,
            "simulated": candidate.simulated,
            "cluster": str(origin.get("testbed", origin["cluster"])),
            "outcomes": _outcomes(known, origin),
        }
        try:
            client.post(f"/jobs/{job}/measured", document)
        except HamtuneError as error:
            lost.append(f"{candidate.label} ({error})")
    if lost:
        raise HamtuneError(f"not kept with the job are the runs of {', '.join(lost)}")


def _outcomes(known: Sample, origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    counted: list[dict[str, Any]] = [{"seconds": seconds} for seconds in known.seconds]
    doubted = [{"seconds": one.seconds, "doubts": list(one.doubts)} for one in known.doubted]
    failed = [{"reason": {"kind": "failed", "message": text}} for text in known.failures]
    return [{**outcome, "origin": origin} for outcome in (*counted, *doubted, *failed)]


def _document(measured: Mapping[Candidate, Sample], result: Verdict) -> dict[str, Any]:
    return {
        "configurations": [
            {
                "label": candidate.label,
                "trial": candidate.trial,
                "simulated": candidate.simulated,
                "measured": known.mean,
                "half_interval": known.half_interval,
                "runs": known.runs,
                "doubts": known.doubts,
                "failures": known.failures,
            }
            for candidate, known in measured.items()
        ],
        "median_error": result.median,
        "worst_error": result.worst,
        "tau": result.tau,
        "regret": result.regret,
        "chosen": None if result.chosen is None else result.chosen.label,
        "fastest": None if result.fastest is None else result.fastest.label,
    }


def _measured(known: Sample) -> str:
    if known.mean is not None:
        return format_duration(known.mean)
    return "failed" if known.runs else "not run"


def _show(measured: Mapping[Candidate, Sample], result: Verdict) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("configuration", "simulated", "measured", "±", "sim / meas", "runs"):
        table.add_column(
            title, no_wrap=True, justify="left" if title == "configuration" else "right"
        )
    for candidate, known in measured.items():
        mean, half = known.mean, known.half_interval
        simulated = candidate.simulated
        table.add_row(
            candidate.label,
            "" if simulated is None else format_duration(simulated),
            _measured(known),
            "" if mean is None or half is None else f"{half / mean:.1%}",
            "" if mean is None or simulated is None else f"{simulated / mean:.2f}",
            str(known.runs),
        )
    table_console().print(table)
    if result.chosen is None or result.fastest is None or result.regret is None:
        click.echo("nothing that was simulated has a time that counts")
        return
    order = "no two differ by more than 3%" if result.tau is None else f"tau {result.tau:.2f}"
    click.echo(
        f"error: median {result.median:.1%}, worst {result.worst:.1%}; order: {order}\n"
        f"regret {result.regret:.3f}: the simulation chooses {result.chosen.label}, "
        f"the fastest is {result.fastest.label}"
    )
