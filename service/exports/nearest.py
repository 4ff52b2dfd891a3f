"""What a library can run of the best configuration, and how fast that is in simulation."""

from __future__ import annotations

import math
from dataclasses import replace

from searchspace.collectives.equivalents import Target
from searchspace.configuration import Configuration
from searchspace.machine import NetworkModel
from searchspace.platform import Infeasible, Resolved, evaluation_key, resolve
from searchspace.units import format_duration
from service.exports.choices import Choice, choices, nearest_configuration
from service.exports.result import Result
from service.exports.transport import TransportChoice, transport_choices, without_unknown
from storage.errors import Conflict
from storage.evaluations import key_within
from storage.networks import ProjectNetworks
from storage.storage import Storage
from workers.evaluator import outcome_of
from workers.simulator_client import Simulator, simulator_version
from workers.subject import Subject, Subjects

__all__ = ["evaluated", "for_target", "inexpressible"]


def inexpressible(found: list[Choice]) -> list[Choice]:
    """The choices that a library cannot run as they were simulated.

    What is left to the library, and was simulated by a table that imitates it, is none of them.
    """
    return [
        choice
        for choice in found
        if choice.offered.kind == "none"
        or (choice.offered.kind == "nearest" and choice.offered.algorithm)
    ]


def for_target(storage: Storage, result: Result, target: Target, *, nearest: bool) -> Result:
    """The result for a library: as it is, or what comes nearest to it.

    Args:
        storage: Knows the evaluations that were made before, and keeps the one made here.
        result: Of the job.
        target: The library.
        nearest: Whether the nearest configuration is wanted where the best cannot be expressed.

    Raises:
        Conflict: The configuration cannot be expressed, and the nearest is not wanted or cannot be
            run; names the choices, and tells the simulated time of the nearest.
    """
    transport = transport_choices(result, target)
    missing: list[Choice | TransportChoice] = [
        *inexpressible(choices(result, target)),
        *(choice for choice in transport if choice.offered.kind == "none"),
    ]
    if not missing:
        return replace(result, target=target)
    named = "; ".join(choice.line for choice in missing)
    refused = f"{target.title} cannot express {result.what}: {named}"
    configuration = without_unknown(nearest_configuration(result, target), transport)
    try:
        resolved, value = evaluated(storage, result, configuration)
    except Infeasible as error:
        raise Conflict(f"{refused}. The nearest cannot be run: {error}") from None
    if not nearest:
        wanted = "the best" if result.trial == result.best else f"trial {result.trial.number}"
        raise Conflict(
            f"{refused}. The nearest that it can express takes {format_duration(value)} simulated, "
            f"{wanted} {format_duration(result.value)}; ask for it with nearest=true (--nearest)"
        )
    return replace(
        result, target=target, configuration=configuration, resolved=resolved, value=value
    )


def evaluated(
    storage: Storage,
    result: Result,
    configuration: Configuration,
    wall_seconds: float = math.inf,
    *,
    model: NetworkModel | None = None,
) -> tuple[Resolved, float]:
    """The configuration on the machine, and its simulated time in seconds.

    Args:
        storage: Knows the evaluations that were made before, and keeps the one made here.
        result: Of the job.
        configuration: What is simulated.
        wall_seconds: What that may take, if it is less than the job allows.
        model: Of the network; None for the one that is exported.

    Raises:
        Infeasible: It cannot be run, or its simulation fails.
    """
    subject = Subjects(storage).of(result.job.id)
    machine = result.machine.simulated_by(model or result.machine.trial_model)
    resolved = resolve(
        configuration,
        machine,
        subject.ranks,
        collectives=subject.calls,
        traffic=subject.traffic,
        kept=ProjectNetworks(storage, subject.project),
    )
    key = evaluation_key(subject.whole.sha256, machine, configuration, simulator_version())
    key = key_within(result.job.project, key)
    # A project's share of the storage has no evaluations to look at.
    outcome = storage.find_evaluation(key, None) if storage.project is None else None
    if outcome is None:
        answer = _simulated(subject, resolved, min(wall_seconds, subject.limits.wall_seconds))
        outcome = outcome_of(answer, None, subject.workload)
        if storage.project is None and (outcome.status == "completed" or math.isinf(wall_seconds)):
            storage.put_evaluation(key, outcome, None)
    if outcome.status != "completed" or outcome.value is None:
        raise Infeasible(str((outcome.reason or {}).get("message", outcome.status)))
    return resolved, outcome.value


def _simulated(subject: Subject, resolved: Resolved, wall_seconds: float) -> dict[str, object]:
    with Simulator(subject.whole.paths) as simulator:
        return simulator.evaluate(
            subject.request(resolved),
            memory_bytes=subject.limits.memory,
            wall_seconds=wall_seconds,
        )
