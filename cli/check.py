"""`hamtune check`: what a job file would become, before anything is searched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.after_search import after_search, after_words, truncated_share
from cli.harmless import harmless
from cli.jobfile import JOB_FILE, read_job
from cli.options import data_option, example, json_option, print_json, say, target_option
from searchspace.errors import InvalidInput
from searchspace.units import format_bandwidth, format_duration, format_size
from service.settings import Settings
from storage.errors import NotFound

if TYPE_CHECKING:
    from cli.simulation_inputs import TracedApplication
    from searchspace.configuration import Configuration
    from searchspace.jobspace import BuiltSpace
    from searchspace.jobspec import JobSpec
    from storage.records import Job

__all__ = ["COMMANDS"]

_SHOWN_VALUES = 8


@click.command(
    epilog=example(
        "hamtune check job.yaml",
        "hamtune check job.yaml --no-evaluation      only the file and its space",
        "hamtune check job.yaml --json",
    )
)
@click.argument("job_file", type=JOB_FILE, metavar="JOB.yaml")
@target_option
@click.option(
    "--evaluation/--no-evaluation",
    default=True,
    help="Evaluate one configuration, to tell how long the job may take; a built-in program is "
    "captured for it the first time.",
)
@json_option
@data_option
def check(
    job_file: Path, target: str | None, evaluation: bool, as_json: bool, settings: Settings
) -> int:
    """Check a job file, and explain what it would search and how long that may take.

    No job is created. Mistakes are named with their fields, all at once, as 'hamtune run' does.
    """
    from searchspace.jobspace import build_space

    spec = read_job(job_file, target=target)
    try:
        spec, sources = _looked_up(spec, settings)
    except InvalidInput as error:
        raise InvalidInput(f"{job_file}: {error}") from None
    traced, unknown = _traced(spec, job_file, settings, evaluation=evaluation)
    ranks = spec.known_ranks if traced is None else traced.ranks
    built = None
    if ranks is not None:
        called = None if traced is None else traced.calls
        non_commutative = None if traced is None else traced.non_commutative
        sizes = None if traced is None else traced.sizes
        built = build_space(spec, ranks, called, non_commutative, sizes)
    cost = None if traced is None or built is None else _evaluate(spec, built, traced)
    share = None if traced is None else truncated_share(spec, traced)
    estimate = None
    completed = cost is not None and cost.document["status"] == "completed"
    if built is not None and cost is not None and completed and spec.external != "measurements":
        estimate = _estimate(spec, built, cost, share, settings)
    answer = {
        "spec": spec.canonical(),
        "ranks": ranks,
        "space": None if built is None else built.describe(),
        "evaluation": cost and cost.document,
        "estimate": estimate,
        "after": after_search(
            spec,
            traced,
            None if cost is None else cost.document,
            estimate,
            share,
            0 if built is None else len(built.baselines),
        ),
        "learned_from": [{"job": job.id, "name": job.name} for job in sources],
        "note": unknown,
        "sizes_known": traced is not None and traced.sizes is not None,
    }
    if as_json:
        print_json(answer)
        return 0
    for line in _words(spec, answer):
        click.echo(line)
    return 0


def _traced(
    spec: JobSpec, job_file: Path, settings: Settings, *, evaluation: bool
) -> tuple[TracedApplication | None, str | None]:
    """What is evaluated, where something is to be, or why it is not known.

    Raises:
        InvalidInput: The job names an application that cannot be used.
    """
    from cli.simulation_inputs import NotCaptured, located, located_application

    folder = Path() if str(job_file) == "-" else job_file.parent
    try:
        named = located(spec.application, folder)
        return (located_application(named, Path(), settings) if evaluation else None), None
    except NotCaptured:
        return None, "the program is captured when the job is run"
    except NotFound:
        return None, "the application is not stored in this data directory"
    except InvalidInput as error:
        raise InvalidInput(f"{job_file}: {_field(error)}: {error.message}") from None


def _looked_up(spec: JobSpec, settings: Settings) -> tuple[JobSpec, list[Job]]:
    """The same with the machine that it names by its id described, and the jobs it learns from.

    Raises:
        InvalidInput: One of them is not in the data directory, or nothing can be learned from it.
    """
    from searchspace.job import load_job
    from searchspace.jobspec import Reference
    from storage.records import DEFAULT_PROJECT
    from storage.storage import Storage
    from workers.sources import sources_of

    if not isinstance(spec.machine, Reference) and spec.learn_from == "none":
        return spec, []
    storage = Storage.open(settings.database_url, settings.artifacts_url, cache=settings.cache)
    try:
        storage.upgrade()
        if isinstance(spec.machine, Reference):
            stored = storage.machines.get(spec.machine.id)
            spec = load_job({**spec.canonical(), "machine": stored.description})
        return spec, sources_of(storage.of_project(DEFAULT_PROJECT), spec)
    except NotFound as error:
        message = f"{error} in this data directory"
        raise InvalidInput(message, field="machine.id") from None
    finally:
        storage.close()


def _field(error: InvalidInput) -> str:
    """Where in the job a mistake of its application is."""
    field = error.field or "application"
    return field if field.split(".")[0] == "application" else f"application.{field}"


@dataclass(frozen=True)
class _Cost:
    """What one evaluation took: `cpu_seconds`, `peak_rss_bytes`, `simulated_time`, and of what."""

    document: dict[str, Any]


def _evaluate(spec: JobSpec, built: BuiltSpace, traced: TracedApplication) -> _Cost | None:
    """Evaluates the first baseline that can be; None where none can."""
    from searchspace.formats.trace_traffic import TracesTraffic
    from searchspace.platform import Infeasible, resolve
    from workers.simulator_client import Simulator
    from workers.tuning_problem import request_for

    machine = spec.described_machine
    machine = machine.simulated_by(machine.trial_model)
    first: tuple[str, Configuration] = ("the first configuration", built.space.default())
    say("evaluating one configuration")
    with Simulator(traced.traces) as simulator:
        for label, configuration in [*built.baselines, first]:
            try:
                resolved = resolve(
                    configuration,
                    machine,
                    traced.ranks,
                    collectives=traced.calls,
                    traffic=TracesTraffic(traced.traces),
                )
            except Infeasible:
                continue
            found = simulator.evaluate(
                request_for(resolved, traced.workload),
                memory_bytes=spec.limits.memory,
                wall_seconds=spec.limits.wall_seconds,
            )
            names = ("status", "reason", "simulated_time", "cpu_seconds", "peak_rss_bytes")
            return _Cost({"configuration": label, **{name: found.get(name) for name in names}})
    return None


def _estimate(
    spec: JobSpec, built: BuiltSpace, cost: _Cost, share: float | None, settings: Settings
) -> dict[str, Any]:
    """How long the search may take, if every evaluation takes what this one took.

    Where trials replay a share of the trace, it is that share of it.

    `search_seconds` is a rough number for what the search takes beside `seconds` of simulation;
    together they keep a budget of seconds on the clock.
    """
    from tuner.pace import search_seconds

    slots = settings.concurrency or os.cpu_count() or 1
    at_once = min(slots, spec.in_flight(slots))
    limits = [limit for limit in (spec.budget.trials, built.space.size) if limit is not None]
    searched = min(limits)
    trials = searched + len(built.baselines) + spec.refinement
    seconds = trials * cost.document["cpu_seconds"] * (share or 1.0) / at_once
    if spec.budget.cpu_seconds is not None:
        seconds = min(seconds, spec.budget.cpu_seconds / at_once)
    searching = 0.0 if spec.external == "proposals" else search_seconds(searched)
    if spec.budget.wall_seconds is not None:
        share = min(1.0, spec.budget.wall_seconds / (seconds + searching or 1.0))
        seconds, searching = share * seconds, share * searching
    return {
        "trials": trials,
        "at_once": at_once,
        "seconds": seconds,
        "search_seconds": searching,
    }


_SCRIPTS = {
    "proposals": "proposes the configurations, which are simulated",
    "measurements": "measures what the search asks; of the trials none is simulated",
}


def _words(spec: JobSpec, answer: dict[str, Any]) -> list[str]:
    machine = spec.described_machine
    cores = "" if machine.cores_per_host == 1 else f" of {machine.cores_per_host} cores"
    routes = ", routes over all shortest paths" if machine.tie_rule == "spread" else ""
    lines = [
        f"{spec.name}: a valid job",
        f"application   {_application(answer['spec']['application'])}"
        + (f", {answer['ranks']} ranks" if answer["ranks"] else ", ranks not known yet"),
        f"machine       {machine.nodes} host{'s' if machine.nodes > 1 else ''}{cores}, links of "
        f"{format_bandwidth(machine.link_bandwidth)}{routes}, simulated by {machine.model_text}",
    ]
    limits = [f"{name} <= {limit:,g}" for name, limit in spec.constraints.given.items()]
    if len(spec.objective) > 1:
        lines.append(f"objective     {' and '.join(spec.objective)}")
    if limits:
        lines.append(f"constraints   {', '.join(limits)}: nothing that breaks one is simulated")
    if answer["space"] is not None:
        lines += _space_words(spec, answer)
    if spec.external is not None:
        lines.append(f"script        {_SCRIPTS[spec.external]}")
    for one in answer["learned_from"]:
        lines.append(f"learns from   {one['name']} ({one['job']})")
    if spec.learn_from == "auto" and not answer["learned_from"]:
        lines.append("learns from   no job: none that ended is like this one")
    if answer["note"] is not None:
        lines.append(f"not evaluated: {answer['note']}")
    cost, estimate = answer["evaluation"], answer["estimate"]
    if cost is not None:
        took = (
            f"{format_duration(cost['cpu_seconds'])} of CPU, {format_size(cost['peak_rss_bytes'])}"
        )
        told = (
            f"{format_duration(cost['simulated_time'])} simulated in {took}"
            if cost["status"] == "completed"
            else f"{cost['status']} after {took}: {_why(cost['reason'])}"
        )
        lines.append(f"evaluation    {cost['configuration']}: {told}")
    if estimate is not None:
        lines.append(
            f"estimate      {estimate['trials']:,} trials and baselines at most, "
            f"{estimate['at_once']} at once: about {format_duration(estimate['seconds'])} of "
            "simulation" + _search_words(estimate["search_seconds"])
        )
    return lines + after_words(spec, answer["after"])


def _search_words(seconds: float) -> str:
    if not seconds:
        return ""
    return f", and roughly {format_duration(seconds)} for the search itself"


def _space_words(spec: JobSpec, answer: dict[str, Any]) -> list[str]:
    """What is searched, and what was left out of it."""
    from searchspace.affordable import OF_TERMS

    space = answer["space"]
    lines = [f"search space  at most {space['size']:,} configurations that differ"]
    open_ones = [one for one in space["parameters"] if one.get("low", 0) != one.get("high", 1)]
    lines += [f"  {_parameter(parameter)}" for parameter in open_ones]
    if spec.search.by_size is True and not answer["sizes_known"]:
        lines.append("  ranges of message sizes are found when the job is prepared")
    for one in space["excluded"]:
        value = "" if one["value"] is None else f" = {one['value']}"
        lines.append(f"  left out: {one['parameter']}{value}: {one['reason']}")
    combinations = [text for text in space["constraints"] if not text.startswith(OF_TERMS)]
    if combinations:
        lines.append(f"  {len(combinations)} combinations cannot be run")
    names = ", ".join(space["baselines"]) or "none"
    return [*lines, f"baselines     {len(space['baselines'])}: {names}"]


def _why(reason: Any) -> str:
    return harmless(str(reason["message"] if isinstance(reason, dict) else reason))


def _application(document: dict[str, Any]) -> str:
    if "applications" in document:
        names = ", ".join(part["name"] for part in document["applications"])
        return f"{len(document['applications'])} at once ({names})"
    kind = next(
        name
        for name in ("builtin", "trace", "source", "pattern", "extrapolate", "id")
        if name in document
    )
    if kind == "extrapolate":
        return f"extrapolated from {len(document['extrapolate']['captures'])} captures"
    others = {
        name: value
        for name, value in document.items()
        if name not in (kind, "ranks") and value is not None and len(str(value)) < 40
    }
    told = ", ".join(f"{name} {value}" for name, value in others.items())
    return f"{kind} {document[kind]}" + (f" ({told})" if told else "")


def _parameter(parameter: dict[str, Any]) -> str:
    """A parameter with its values, for people."""
    values = parameter.get("values")
    if values is None and parameter["kind"] == "integer":
        return f"{parameter['name']}: {parameter['low']} to {parameter['high']}"
    if values is None:
        rest = {key: value for key, value in parameter.items() if key not in ("name", "when")}
        return f"{parameter['name']}: " + ", ".join(f"{k} {v}" for k, v in rest.items())
    shown = ", ".join(str(value) for value in values[:_SHOWN_VALUES])
    more = len(values) - _SHOWN_VALUES
    return f"{parameter['name']}: {shown}" + (f" and {more} more" if more > 0 else "")


COMMANDS = [check]
