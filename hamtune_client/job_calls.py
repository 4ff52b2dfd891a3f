"""The calls for what is looked up of a job beside its trials, and for what clusters measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

import httpx

from hamtune_client.calls import Call
from hamtune_client.models import Trial
from hamtune_client.records import Convergence, Measured, Measurement, Outlook, RunningTrial

__all__ = [
    "Order",
    "add_measured",
    "add_measurement",
    "convergence",
    "end_measuring",
    "job_log",
    "measured",
    "measurements",
    "outlook",
    "placement",
    "rows",
    "running",
    "whole_trial",
]

Order = Literal["newest", "fastest"]
JSON = {"Content-Type": "application/json"}


def job_log(job_id: str, log: str, offset: int) -> Call[str]:
    """What building or running its program printed, from a character on."""
    path = f"/jobs/{job_id}/logs/{quote(log, safe='')}"
    return Call("GET", path, lambda r: r.text, {"offset": offset})


def convergence(job_id: str, points: int | None) -> Call[Convergence]:
    """Best so far by trial, wall clock and CPU seconds."""
    return Call(
        "GET",
        f"/jobs/{job_id}/convergence",
        lambda r: Convergence.model_validate(r.json()),
        {"points": points},
    )


def outlook(job_id: str) -> Call[Outlook]:
    """What more trials would bring."""
    return Call("GET", f"/jobs/{job_id}/outlook", lambda r: Outlook.model_validate(r.json()))


def running(job_id: str) -> Call[list[RunningTrial]]:
    """Evaluations under way."""
    return Call(
        "GET",
        f"/jobs/{job_id}/trials/running",
        lambda r: [RunningTrial.model_validate(one) for one in r.json()],
    )


def whole_trial(job_id: str, number: int) -> Call[Trial]:
    """One trial with every rank and cable, however many there are."""
    path = f"/jobs/{job_id}/trials/{number}"
    return Call("GET", path, lambda r: Trial.model_validate(r.json()), {"whole": True})


def placement(job_id: str, number: int) -> Call[dict[str, Any]]:
    """A trial on its network."""
    return Call("GET", f"/jobs/{job_id}/trials/{number}/placement", lambda r: dict(r.json()))


def rows(
    job_id: str, order: Order, state: str | Sequence[str] | None, skip: int, limit: int
) -> Call[list[dict[str, Any]]]:
    """Some trials as rows, sorted by the service."""
    query = {"order": order, "state": state, "skip": skip, "limit": limit}
    return Call("GET", f"/jobs/{job_id}/rows", _rows, query)


def measured(job_id: str) -> Call[Measured]:
    """Every run of the job's configurations on clusters."""
    return Call("GET", f"/jobs/{job_id}/measured", _measured)


def add_measured(job_id: str, runs: Mapping[str, Any]) -> Call[Measured]:
    """Tell what a configuration took on a cluster; not sent twice, for each time is kept."""
    content = json.dumps(dict(runs)).encode()
    path = f"/jobs/{job_id}/measured"
    return Call("POST", path, _measured, headers=JSON, content=content, safe=False)


def end_measuring(job_id: str) -> Call[Measured]:
    """Wait for no further runs."""
    return Call("POST", f"/jobs/{job_id}/measured/end", _measured)


def measurements(job_id: str) -> Call[list[Measurement]]:
    """What exports gained, newest first."""
    return Call(
        "GET",
        f"/jobs/{job_id}/measurements",
        lambda r: [Measurement.model_validate(one) for one in r.json()["items"]],
    )


def add_measurement(job_id: str, gained: Mapping[str, Any]) -> Call[Measurement]:
    """Tell what an export gained; not sent twice, for each time is kept."""
    content = json.dumps(dict(gained)).encode()
    return Call(
        "POST",
        f"/jobs/{job_id}/measurements",
        lambda r: Measurement.model_validate(r.json()),
        headers=JSON,
        content=content,
        safe=False,
    )


def _measured(response: httpx.Response) -> Measured:
    return Measured.model_validate(response.json())


def _rows(response: httpx.Response) -> list[dict[str, Any]]:
    """Columns, some of which are numbers into a list of values, turned into rows."""
    answer = response.json()
    columns = {
        **answer["columns"],
        **{f"configuration.{one['name']}": one for one in answer["parameters"]},
    }
    lists = {
        name: [None if code < 0 else column["values"][code] for code in column["codes"]]
        if isinstance(column, dict)
        else column
        for name, column in columns.items()
    }
    count = len(lists["number"])
    return [{name: cells[row] for name, cells in lists.items()} for row in range(count)]
