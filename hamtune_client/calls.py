"""The calls of the interface as values: what is sent, and how the answer is read.

The synchronous and the asynchronous client differ only in how they send them.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from hamtune_client.models import Best, Event, Importance, JobRecord, Replay, Statistics, Trial

__all__ = [
    "PAUSE_SECONDS",
    "TRIES",
    "Call",
    "HamtuneClientError",
    "Refused",
    "Unreachable",
    "best",
    "create",
    "delete",
    "describe",
    "events_path",
    "export",
    "file",
    "files",
    "get_job",
    "importance",
    "list_jobs",
    "list_trials",
    "prioritise",
    "read_event",
    "refuse",
    "replay",
    "settings",
    "statistics",
    "steer",
    "table",
    "trial",
]

T = TypeVar("T")
PREFIX = "/api/v1"
DEFAULT_URL = "http://127.0.0.1:8080"
PAGE = 200
TRIAL_PAGE = 500
REPLAY_SECONDS = 180.0
TRIES = 3
"""How often a call that may be repeated is sent, and a stream taken up, until one gives up."""
PAUSE_SECONDS = 0.5
"""Between two looks at a job, and, times the failures so far, before the next try."""


class HamtuneClientError(Exception):
    """What went wrong, in one line."""


class Unreachable(HamtuneClientError):
    """The service did not answer."""


class Refused(HamtuneClientError):
    """The service said no.

    Attributes:
        status: Of HTTP.
        errors: Pairs of field and message, where fields are at fault.
    """

    def __init__(self, status: int, detail: str, errors: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.errors = tuple(errors)


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer becomes a value.

    Attributes:
        safe: Whether it may be sent again after a broken connection.
        patience: Seconds until it must have been answered, where that may take long.
    """

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    safe: bool = True
    patience: float | None = None

    def arguments(self) -> dict[str, Any]:
        """What httpx wants to know."""
        given = {name: value for name, value in self.params.items() if value is not None}
        return {
            **({} if self.patience is None else {"timeout": self.patience}),
            "method": self.method,
            "url": PREFIX + self.path,
            "params": given,
            "headers": dict(self.headers),
            "content": self.content,
        }


def settings(url: str | None, key: str | None) -> dict[str, Any]:
    """What a connection needs; `HAMTUNE_SERVER` and `HAMTUNE_API_KEY` where nothing is said."""
    key = key or os.environ.get("HAMTUNE_API_KEY")
    return {
        "base_url": (url or os.environ.get("HAMTUNE_SERVER") or DEFAULT_URL).rstrip("/"),
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": 60.0,
    }


def refuse(response: httpx.Response) -> Refused:
    """The refusal that a response tells."""
    try:
        problem = response.json()
        errors = [(one["field"], one["message"]) for one in problem.get("errors") or ()]
        return Refused(response.status_code, str(problem["detail"]), errors)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refused(response.status_code, f"{response.url} answers {response.status_code}")


Archived = Literal["exclude", "include", "only"]


def list_jobs(
    state: str | None, search: str | None, archived: Archived, cursor: str | None
) -> Call[tuple[list[JobRecord], str | None]]:
    """A page of jobs, and the cursor of the next."""
    params = {
        "state": state,
        "search": search,
        "archived": archived,
        "cursor": cursor,
        "limit": PAGE,
    }
    return Call("GET", "/jobs", _page_of_jobs, params)


def get_job(job_id: str) -> Call[JobRecord]:
    """One job."""
    return Call("GET", f"/jobs/{quote(job_id, safe='')}", _job)


def create(spec: Mapping[str, Any] | str | Path) -> Call[JobRecord]:
    """Create a job; sent again after a broken connection it does not create a second one.

    Args:
        spec: The job file's content, its YAML text, or its path.
    """
    if isinstance(spec, Mapping):
        content, media = json.dumps(spec).encode(), "application/json"
    else:
        file = isinstance(spec, Path) or ("\n" not in spec and spec.endswith((".yaml", ".yml")))
        text = Path(spec).read_text() if file else str(spec)
        content, media = text.encode(), "application/yaml"
    headers = {"Content-Type": media, "Idempotency-Key": uuid.uuid4().hex}
    return Call("POST", "/jobs", _job, headers=headers, content=content)


def steer(job_id: str, verb: str, changes: Mapping[str, Any] | None = None) -> Call[JobRecord]:
    """Pause, resume, cancel or clone a job; each may be repeated."""
    path = f"/jobs/{job_id}/{verb}"
    if verb != "clone":
        return Call("POST", path, _job)
    headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
    content = json.dumps(dict(changes or {})).encode()
    return Call("POST", path, _job, headers=headers, content=content)


def prioritise(job_id: str, priority: str) -> Call[JobRecord]:
    """Change the priority of a job."""
    headers = {"Content-Type": "application/json"}
    content = json.dumps({"priority": priority}).encode()
    return Call("PUT", f"/jobs/{job_id}/priority", _job, headers=headers, content=content)


def describe(job_id: str, changes: Mapping[str, Any]) -> Call[JobRecord]:
    """Change what people call a job and say of it; None leaves a field as it is."""
    headers = {"Content-Type": "application/json"}
    content = json.dumps({name: value for name, value in changes.items() if value is not None})
    return Call("PATCH", f"/jobs/{job_id}", _job, headers=headers, content=content.encode())


def delete(job_id: str) -> Call[None]:
    """Delete a job that is paused or has ended."""
    return Call("DELETE", f"/jobs/{job_id}", lambda response: None, safe=False)


def best(job_id: str) -> Call[Best]:
    """The best configuration."""
    return Call("GET", f"/jobs/{job_id}/best", lambda r: Best.model_validate(r.json()))


def importance(job_id: str) -> Call[Importance]:
    """How much each parameter matters."""
    return Call("GET", f"/jobs/{job_id}/importance", lambda r: Importance.model_validate(r.json()))


def statistics(job_id: str) -> Call[Statistics]:
    """Counts of all trials."""
    return Call("GET", f"/jobs/{job_id}/statistics", lambda r: Statistics.model_validate(r.json()))


def trial(job_id: str, number: int) -> Call[Trial]:
    """One trial with what was measured."""
    return Call("GET", f"/jobs/{job_id}/trials/{number}", lambda r: Trial.model_validate(r.json()))


def list_trials(job_id: str, state: str | None, after: int) -> Call[tuple[list[Trial], int | None]]:
    """A page of trials, and the number after which the next begins."""
    params = {"state": state, "after": after, "limit": TRIAL_PAGE}

    def read(response: httpx.Response) -> tuple[list[Trial], int | None]:
        page = response.json()
        return [Trial.model_validate(item) for item in page["items"]], page["cursor"]

    return Call("GET", f"/jobs/{job_id}/trials", read, params)


def replay(job_id: str, number: int) -> Call[Replay]:
    """A trial simulated anew, beside what was stored; one at a time, it may take two minutes."""
    path = f"/jobs/{job_id}/trials/{number}/replay"
    return Call("POST", path, lambda r: Replay.model_validate(r.json()), patience=REPLAY_SECONDS)


def table(job_id: str, form: str) -> Call[bytes]:
    """All trials as a file: csv, parquet, optuna."""
    return Call("GET", f"/jobs/{job_id}/table/{quote(form, safe='')}", lambda r: r.content)


def files(job_id: str) -> Call[dict[str, int]]:
    """The files that runs of the program left: their bytes, by path."""
    return Call(
        "GET",
        f"/jobs/{job_id}/files",
        lambda r: {one["path"]: int(one["bytes"]) for one in r.json()["files"]},
    )


def file(job_id: str, path: str) -> Call[bytes]:
    """One of these files."""
    return Call("GET", f"/jobs/{job_id}/files/{quote(path)}", lambda r: r.content)


def export(job_id: str, form: str, wishes: Mapping[str, Any]) -> Call[bytes]:
    """A configuration as a zip archive of files, or one of them with `name`.

    Args:
        job_id: The job.
        form: The format.
        wishes: `name`, and what `POST /jobs/{job_id}/exports/{format}` takes: `hosts`, `fabric`,
            `target`, `nearest`, `trial`.
    """
    path = f"/jobs/{job_id}/exports/{quote(form, safe='')}"
    asked = {name: value for name, value in wishes.items() if name != "name" and value is not None}
    headers = {"Content-Type": "application/json"}
    content = json.dumps(asked).encode()
    query = {"name": wishes.get("name")}
    return Call("POST", path, lambda r: r.content, query, headers=headers, content=content)


def events_path(job_id: str) -> str:
    """Where the events of a job are streamed."""
    return f"{PREFIX}/jobs/{job_id}/events"


def read_event(line: str) -> Event | None:
    """The event in a line of a stream, if there is one."""
    if not line.startswith("data: "):
        return None
    return Event.model_validate_json(line.removeprefix("data: "))


def _job(response: httpx.Response) -> JobRecord:
    return JobRecord.model_validate(response.json())


def _page_of_jobs(response: httpx.Response) -> tuple[list[JobRecord], str | None]:
    page = response.json()
    return [JobRecord.model_validate(item) for item in page["items"]], page["cursor"]
