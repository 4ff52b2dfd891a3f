"""Which network model a job's times are by, and why those of the other one differ."""

from __future__ import annotations

from searchspace.machine import Machine, parse_machine
from storage.records import Job
from storage.storage import Storage

__all__ = ["machine_of", "two_yardsticks"]


def machine_of(storage: Storage, job: Job) -> Machine:
    """The machine of a job, without a look at the rest of it.

    Raises:
        NotFound: It refers to a machine that is not stored.
    """
    described = job.spec["machine"]
    if "id" in described:
        described = storage.get_machine(described["id"]).description
    return parse_machine(described)


def two_yardsticks(machine: Machine) -> str:
    """Why the times of the two models differ, where packets decided."""
    protocol = machine.simulated_by("packets").model_text.removeprefix("packets, ")
    factors = machine.simulated_by("fluid").model_text.removeprefix("fluid, ")
    return (
        f"packets decided. Packets go by a protocol ({protocol}), fluid by factors on bandwidth "
        f"and latency ({factors}): the two are different yardsticks, and their times differ."
    )
