"""`hamtune check`: what a job file would become, before anything is searched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobfile import JOB_FILE, read_job
from cli.options import data_option, example, json_option, print_json, say, target_option
from searchspace.errors import InvalidInput
from searchspace.units import format_bandwidth, format_duration, format_size
from service.settings import Settings
from storage.errors import NotFound

if TYPE_CHECKING:
    from cli.subjects import Subject
    from searchspace.configuration import Configuration
    from searchspace.jobspace import BuiltSpace
    from searchspace.jobspec import JobSpec

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
    from cli.subjects import NotCaptured, located, located_application
    from searchspace.jobspace import build_space

    spec = read_job(job_file, target=target)
    try:
        spec = _with_machine(spec, settings)
    except InvalidInput as error:
        raise InvalidInput(f"{job_file}: {error}") from None
    folder = Path() if str(job_file) == "-" else job_file.parent
    subject, unknown = None, None
    try:
        named = located(spec.application, folder)
        if evaluation:
            subject = located_application(named, Path(), settings)
    except NotCaptured:
        unknown = "the program is captured when the job is run"
    except NotFound:
        unknown = "the application is not stored in this data directory"
    except InvalidInput as error:
        raise InvalidInput(f"{job_file}: {_field(error)}: {error.message}") from None
    ranks = spec.known_ranks if subject is None else subject.ranks
    built = None
    if ranks is not None:
        called = None if subject is None else subject.calls
        non_commutative = None if subject is None else subject.non_commutative
        built = build_space(spec, ranks, called, non_commutative)
    cost = None if subject is None or built is None else _evaluate(spec, built, subject)
    answer = {
        "spec": spec.canonical(),
        "ranks": ranks,
        "space": None if built is None else built.describe(),
        "evaluation": cost and cost.document,
        "estimate": None
        if built is None or cost is None or cost.document["status"] != "completed"
        else _estimate(spec, built, cost, settings),
        "note": unknown,
    }
    if as_json:
        print_json(answer)
        return 0
    for line in _words(spec, answer):
        click.echo(line)
    return 0


def _with_machine(spec: JobSpec, settings: Settings) -> JobSpec:
    """The same with the description of a machine that it names by its id.

    Raises:
        InvalidInput: That is not in the data directory.
    """
    from searchspace.job import load_job
    from searchspace.jobspec import Reference
    from storage.storage import Storage

    if not isinstance(spec.machine, Reference):
        return spec
    storage = Storage.open(settings.database_url, settings.artifacts_url)
    try:
        storage.upgrade()
        stored = storage.get_machine(spec.machine.id)
    except NotFound as error:
        message = f"{error} in this data directory"
        raise InvalidInput(message, field="machine.id") from None
    finally:
        storage.close()
    return load_job({**spec.canonical(), "machine": stored.description})


def _field(error: InvalidInput) -> str:
    """Where in the job a mistake of its application is."""
    field = error.field or "application"
    return field if field.split(".")[0] == "application" else f"application.{field}"


@dataclass(frozen=True)
class _Cost:
    """What one evaluation took: `cpu_seconds`, `peak_rss_bytes`, `simulated_time`, and of what."""

    document: dict[str, Any]


def _evaluate(spec: JobSpec, built: BuiltSpace, subject: Subject) -> _Cost | None:
    """Evaluates the first baseline that can be; None where none can."""
    from searchspace.formats.trace_traffic import TracesTraffic
    from searchspace.platform import Infeasible, resolve
    from workers.simulator_client import Simulator
    from workers.subject import request_for

    machine = spec.described_machine
    machine = machine.simulated_by(machine.trial_model)
    first: tuple[str, Configuration] = ("the first configuration", built.space.default())
    say("evaluating one configuration")
    with Simulator(subject.traces) as simulator:
        for label, configuration in [*built.baselines, first]:
            try:
                resolved = resolve(
                    configuration,
                    machine,
                    subject.ranks,
                    collectives=subject.calls,
                    traffic=TracesTraffic(subject.traces),
                )
            except Infeasible:
                continue
            found = simulator.evaluate(
                request_for(resolved, subject.workload),
                memory_bytes=spec.limits.memory,
                wall_seconds=spec.limits.wall_seconds,
            )
            names = ("status", "reason", "simulated_time", "cpu_seconds", "peak_rss_bytes")
            return _Cost({"configuration": label, **{name: found.get(name) for name in names}})
    return None


def _estimate(spec: JobSpec, built: BuiltSpace, cost: _Cost, settings: Settings) -> dict[str, Any]:
    """How long the job may take, if every evaluation takes what this one took."""
    at_once = min(settings.concurrency or os.cpu_count() or 1, spec.batch)
    limits = [limit for limit in (spec.budget.trials, built.space.size) if limit is not None]
    trials = min(limits) + len(built.baselines) + spec.refinement
    seconds = trials * cost.document["cpu_seconds"] / at_once
    if spec.budget.cpu_seconds is not None:
        seconds = min(seconds, spec.budget.cpu_seconds / at_once)
    if spec.budget.wall_seconds is not None:
        seconds = min(seconds, spec.budget.wall_seconds)
    return {"trials": trials, "at_once": at_once, "seconds": seconds}


def _words(spec: JobSpec, answer: dict[str, Any]) -> list[str]:
    machine = spec.described_machine
    cores = "" if machine.cores_per_host == 1 else f" of {machine.cores_per_host} cores"
    lines = [
        f"{spec.name}: a valid job",
        f"application   {_application(answer['spec']['application'])}"
        + (f", {answer['ranks']} ranks" if answer["ranks"] else ", ranks not known yet"),
        f"machine       {machine.nodes} host{'s' if machine.nodes > 1 else ''}{cores}, links of "
        f"{format_bandwidth(machine.link_bandwidth)}, simulated by {machine.model_text}",
    ]
    space = answer["space"]
    if space is not None:
        lines.append(f"search space  {space['size']:,} configurations")
        lines += [f"  {_parameter(parameter)}" for parameter in space["parameters"]]
        for one in space["excluded"]:
            value = "" if one["value"] is None else f" = {one['value']}"
            lines.append(f"  left out: {one['parameter']}{value}: {one['reason']}")
        if space["constraints"]:
            lines.append(f"  {len(space['constraints'])} combinations cannot be run")
        names = ", ".join(space["baselines"]) or "none"
        lines.append(f"baselines     {len(space['baselines'])}: {names}")
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
            f"{estimate['at_once']} at once: about {format_duration(estimate['seconds'])}, "
            "and what the search itself takes"
        )
    return lines


def _why(reason: Any) -> str:
    return str(reason["message"]) if isinstance(reason, dict) else str(reason)


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
