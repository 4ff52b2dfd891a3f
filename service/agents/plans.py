"""What a configuration comes to on a cluster, as data: numbers of hosts and settings, no commands.

An agent writes its own files and its own launch line from this (`measuring/plans.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import InvalidInput
from searchspace.platform import Infeasible
from service.exports.choices import by_size, choices
from service.exports.environment import settings_of
from service.exports.nearest import refusal
from service.exports.openmpi_export import rules_of
from service.exports.placement import check_single
from service.exports.result import gather
from service.version import VERSION
from storage.errors import Conflict
from storage.measured_records import MeasuredConfiguration, MeasuredState, Measuring
from storage.view import StorageView
from workers.simulator_client import simulator_version

__all__ = ["plan_of", "settle"]


def settle(storage: StorageView, measuring: Measuring) -> None:
    """Find out what a job's entered configurations come to, as many as are to be measured.

    Those that a library cannot be told of are infeasible, and one that comes to the same as another
    is dropped; where that leaves too few, the next best take their places.
    """
    entered = storage.measured_runs.configurations(measuring.job_id, "finalists")
    target, most = measuring.settings["target"], measuring.settings["measure"]
    plans: dict[int, tuple[MeasuredState, dict[str, Any]]] = {}
    chosen: dict[str, MeasuredConfiguration] = {}
    for one in entered:
        if one.state != "entered":
            if one.plan is not None:
                chosen[repr(sorted(one.plan.items()))] = one
            continue
        if (
            one.trial is not None
            and sum(each.trial is not None for each in chosen.values()) >= most
        ):
            message = f"{most} others are measured"
            plans[one.place] = ("dropped", {"kind": "enough", "message": message})
            continue
        try:
            plan = plan_of(storage, measuring.job_id, one.trial, target)
        except (Conflict, Infeasible, InvalidInput) as error:  # others are faults of this host
            plans[one.place] = ("infeasible", {"kind": "export", "message": str(error)})
            continue
        same = chosen.setdefault(repr(sorted(plan.items())), one)
        if same is one:
            plans[one.place] = ("open", plan)
        else:
            message = f"installs the same as {same.label}"
            plans[one.place] = ("dropped", {"kind": "same", "message": message})
    if plans:
        storage.measured_runs.settle_entered(measuring.job_id, plans)


def plan_of(
    storage: StorageView, job_id: str, trial: int | None, target_name: str
) -> dict[str, Any]:
    """What a trial, or a library's defaults, comes to on a cluster.

    Returns:
        `ranks`; `hosts`, the machine's number of the host of every rank, null for ranks in order;
        `settings`, the library's parameters or variables; where algorithms depend on sizes also
        `rules`: by collective, by ranks, lists of bytes, algorithm and segment, as Open MPI numbers
        and counts them.

    Raises:
        Conflict: The target cannot express the configuration, or an agent cannot say it.
    """
    target = TARGETS[target_name]
    versions = {"hamtune": VERSION, "simulator": simulator_version()}
    result = gather(storage, job_id, versions, trial)
    ranks = result.application.ranks
    if trial is None:
        return {"ranks": ranks, "hosts": None, "settings": {}}
    check_single(result, target.format)
    if (refused := refusal(result, target)) is not None:
        raise Conflict(refused)
    result = replace(result, target=target)
    order = result.resolved.order
    hosts = [order[host] for host in result.resolved.rank_hosts]
    plan = {"ranks": ranks, "hosts": hosts, "settings": settings_of(result, target)}
    found = choices(result, target)
    if not by_size(found):
        return plan
    if target.format != "openmpi":
        raise Conflict(
            f"{target.title} reads algorithms by size from a file that its own library is part of, "
            "which an agent does not write"
        )
    rules = {
        collective: {
            str(size): [[since, *rule] for since, rule in block] for size, block in blocks.items()
        }
        for collective, blocks in rules_of(result, found).items()
    }
    return {**plan, "rules": rules}
