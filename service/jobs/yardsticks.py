"""Which network model a job's times are by, how far off it is, and why the other one differs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from searchspace.machine import Machine, parse_machine
from searchspace.significance import ModelError, error_of
from storage.measured_records import MeasuredConfiguration
from storage.records import Job
from storage.view import StorageView
from tuner.comparing import MOST_RANKS

__all__ = ["SCRIPTED", "error_for", "machine_of", "two_yardsticks", "why_not_compared"]

SCRIPTED = "measured by a script"
"""Where the times of a job come from that are of no model."""


def machine_of(storage: StorageView, job: Job) -> Machine:
    """The machine of a job, without a look at the rest of it.

    Raises:
        NotFound: It refers to a machine that is not stored.
    """
    described = job.spec["machine"]
    if "id" in described:
        described = storage.machines.get(described["id"]).description
    return parse_machine(described)


def error_for(machine: Machine, known: Sequence[MeasuredConfiguration]) -> ModelError:
    """The error of a job's model, by what was measured of the job where that tells enough.

    Args:
        machine: Of the job.
        known: What clusters took for configurations of the job.
    """
    pairs = [
        (statistics.median(one.seconds), one.simulated)
        for one in known
        if one.seconds and one.simulated is not None
    ]
    return error_of(machine, pairs)


def why_not_compared(storage: StorageView, job: Job, machine: Machine) -> str | None:
    """Why a job whose best would be evaluated by both models evaluates them by packets alone."""
    if machine.network != "auto" or job.application_id is None:
        return None
    ranks = storage.applications.get(job.application_id).ranks
    if ranks <= MOST_RANKS:
        return None
    return (
        f"packets decided, and the best are not evaluated by fluid as well: it rarely ends where "
        f"there are more than {MOST_RANKS} ranks, and here are {ranks}."
    )


def two_yardsticks(machine: Machine) -> str:
    """Why the times of the two models differ, where packets decided."""
    protocol = machine.simulated_by("packets").model_text.removeprefix("packets, ")
    factors = machine.simulated_by("fluid").model_text.removeprefix("fluid, ")
    return (
        f"packets decided. Packets go by a protocol ({protocol}), fluid by factors on bandwidth "
        f"and latency ({factors}): the two are different yardsticks, and their times differ."
    )
