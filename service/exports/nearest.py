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
from service.exports.simulations import Simulations
from service.exports.transport import TransportChoice, transport_choices, without_unknown
from storage.errors import Conflict
from storage.evaluations import key_within
from storage.networks import ProjectNetworks
from storage.records import Outcome
from storage.storage import Storage
from storage.view import StorageView
from workers.evaluator import outcome_of
from workers.simulator_client import Simulator, engine_in_use, simulator_version
from workers.tuning_problem import TuningProblem, TuningProblems

__all__ = [
    "SIMULATIONS",
    "WALL_SECONDS",
    "evaluated",
    "for_target",
    "inexpressible",
    "nearest_to",
    "refusal",
    "unlike",
]

WALL_SECONDS = 20.0
"""Somebody waits for the export; what takes longer to simulate is told as not known."""
_NEAREST_SECONDS = 120.0
"""The same where it is the export itself."""

SIMULATIONS = Simulations()
"""Of all exports of this process."""


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


def unlike(result: Result, target: Target) -> list[Choice | TransportChoice]:
    """What a library will not do as it was simulated: collectives, and how it sends."""
    return [
        *inexpressible(choices(result, target)),
        *(one for one in transport_choices(result, target) if one.offered.kind == "none"),
    ]


def refusal(result: Result, target: Target) -> str | None:
    """Why a library cannot be told of all that was simulated; None where it can."""
    missing = unlike(result, target)
    if not missing:
        return None
    named = "; ".join(choice.line for choice in missing)
    return f"{target.title} cannot express {result.what}: {named}"


def nearest_to(result: Result, target: Target) -> Configuration:
    """What a library does when it is told all that it can be told of a result."""
    transport = transport_choices(result, target)
    return without_unknown(nearest_configuration(result, target), transport)


def for_target(storage: StorageView, result: Result, target: Target, *, nearest: bool) -> Result:
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
    refused = refusal(result, target)
    if refused is None:
        return replace(result, target=target)
    if not result.simulated:
        # A nearest would have to be measured too.
        raise Conflict(f"{refused}. Say search.target in the job: then all can be expressed")
    configuration = nearest_to(result, target)
    # For whom the service is not alone there the time is short, as it is where it is only told.
    most = math.inf if isinstance(storage, Storage) else _NEAREST_SECONDS
    try:
        resolved, value = evaluated(
            storage, result, configuration, most if nearest else WALL_SECONDS
        )
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
    storage: StorageView,
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
        Busy: Another export is being simulated.
    """
    tuning = TuningProblems(storage).of(result.job.id)
    machine = result.machine.simulated_by(model or result.machine.trial_model)
    resolved = resolve(
        configuration,
        machine,
        tuning.ranks,
        collectives=tuning.calls,
        traffic=tuning.traffic,
        cache=ProjectNetworks(storage.networks, tuning.project),
    )
    key = evaluation_key(tuning.whole.sha256, machine, configuration, simulator_version())
    key = key_within(result.job.project, key)
    # A project's share of the storage has no evaluations to look at.
    evaluations = storage.evaluations if isinstance(storage, Storage) else None
    known = None if evaluations is None else evaluations.find(key, None)
    if known is not None:
        return resolved, _value_of(_found(known))

    def simulate() -> float | str:
        answer = _simulated(tuning, resolved, min(wall_seconds, tuning.limits.wall_seconds))
        outcome = outcome_of(answer, None, tuning.workload, engine=engine_in_use())
        if evaluations and (outcome.status == "completed" or math.isinf(wall_seconds)):
            evaluations.put(key, outcome, None)
        return _found(outcome)

    return resolved, _value_of(SIMULATIONS.find(key, wall_seconds, simulate))


def _found(outcome: Outcome) -> float | str:
    """The simulated seconds of an outcome, or why there are none."""
    if outcome.status == "completed" and outcome.value is not None:
        return outcome.value
    return str((outcome.reason or {}).get("message", outcome.status))


def _value_of(found: float | str) -> float:
    if isinstance(found, str):
        raise Infeasible(found)
    return found


def _simulated(tuning: TuningProblem, resolved: Resolved, wall_seconds: float) -> dict[str, object]:
    with Simulator(tuning.whole.paths) as simulator:
        return simulator.evaluate(
            tuning.request(resolved),
            memory_bytes=tuning.limits.memory,
            wall_seconds=wall_seconds,
        )
