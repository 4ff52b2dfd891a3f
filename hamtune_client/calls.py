"""The calls of the interface as values: what is sent, and how the answer is read.

The synchronous and the asynchronous client differ only in how they send them.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from hamtune_client.discovery import is_local, service_url
from hamtune_client.models import (
    Asked,
    Best,
    Deletion,
    Event,
    Front,
    Importance,
    JobRecord,
    Proposal,
    Replay,
    Statistics,
    Trial,
)

__all__ = [
    "PAUSE_SECONDS",
    "TRIES",
    "WAIT_SECONDS",
    "Call",
    "HamtuneClientError",
    "Refused",
    "Unreachable",
    "ask",
    "best",
    "create",
    "delete",
    "describe",
    "events_path",
    "export",
    "file",
    "files",
    "front",
    "get_job",
    "importance",
    "list_jobs",
    "list_trials",
    "prioritise",
    "proposal",
    "propose",
    "read",
    "read_event",
    "refuse",
    "release",
    "replay",
    "settings",
    "statistics",
    "steer",
    "table",
    "tell",
    "trial",
    "unreachable",
]

T = TypeVar("T")
PREFIX = "/api/v1"
PAGE = 200
TRIAL_PAGE = 500
REPLAY_SECONDS = 180.0
TRIES = 3
"""How often a call that may be repeated is sent, and a stream taken up, until one gives up."""
SCRIPT_TRIES = 16
"""The same of what scripts send, which run for days: a service that is started again is waited for
a minute."""
WAIT_SECONDS = 20.0
"""For which the service keeps a script waiting until it answers that there is no news."""
PAUSE_SECONDS = 0.5
"""Between two looks at a job, and, times the failures so far, before the next try."""
_LATER = (429, 502, 503, 504)
"""Answers of a service, or of a proxy before it, that cannot do what is asked just now."""
_LONGEST_PAUSE = 60.0
"""Who is asked to wait for longer is told so."""


class HamtuneClientError(Exception):
    """What went wrong, in a line or a few; notebooks show these alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


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

    def __str__(self) -> str:
        """What the service said; where several fields are at fault, a line for each of them."""
        if len(self.errors) > 1:
            return "\n".join(f"{name}: {text}" for name, text in self.errors)
        return super().__str__()


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer becomes a value.

    Attributes:
        safe: Whether it may be sent again after a broken connection, or later.
        patience: Seconds until it must have been answered, where that may take long.
        form: Text fields of a form that is sent with `files`, in place of `content`.
        files: Name and content of the form's files, by field; sent from its beginning each time.
        tries: How often it is sent at most, if it may be repeated.
    """

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    safe: bool = True
    patience: float | None = None
    form: Mapping[str, str] | None = None
    files: Mapping[str, tuple[str, BinaryIO]] | None = None
    tries: int = TRIES

    def pause(self, response: httpx.Response, attempt: int) -> float | None:
        """Seconds after which it is worth another try; None where the answer is the last word.

        Args:
            response: What was answered.
            attempt: Which try that was, from 1.
        """
        if response.status_code not in _LATER or not self.safe or attempt >= self.tries:
            return None
        asked = response.headers.get("Retry-After", "")
        wished = float(asked) if asked.isdecimal() else 0.0
        return None if wished > _LONGEST_PAUSE else max(wished, PAUSE_SECONDS * attempt)

    def arguments(self) -> dict[str, Any]:
        """What httpx wants to know."""
        for _, content in (self.files or {}).values():
            content.seek(0)
        given = {name: value for name, value in self.params.items() if value is not None}
        sent: dict[str, Any] = (
            {"content": self.content}
            if self.files is None
            else {"data": dict(self.form or {}), "files": dict(self.files)}
        )
        return {
            **({} if self.patience is None else {"timeout": self.patience}),
            **sent,
            "method": self.method,
            "url": PREFIX + self.path,
            "params": given,
            "headers": dict(self.headers),
        }


def settings(url: str | None, key: str | None) -> dict[str, Any]:
    """What a connection needs; the service that runs here and `HAMTUNE_API_KEY` by default."""
    key = key or os.environ.get("HAMTUNE_API_KEY")
    base = (url or service_url()).rstrip("/")
    return {
        "base_url": base,
        "trust_env": not is_local(base),  # a proxy of the environment would ask its own machine
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": 60.0,
    }


def refuse(response: httpx.Response) -> Refused:
    """The refusal that a response tells."""
    try:
        problem = response.json()
        errors = [(one["field"], one["message"]) for one in problem.get("errors") or ()]
        detail = str(problem["detail"])
        if response.status_code == 401:
            detail += "; Client(key=...) or HAMTUNE_API_KEY takes one"
        return Refused(response.status_code, detail, errors)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refused(
            response.status_code, f"{_shown(response.url)} answers {response.status_code}"
        )


def read(call: Call[T], response: httpx.Response) -> T:
    """The value of a successful answer.

    Raises:
        HamtuneClientError: It is not one of Hamtune's, or of another version of it.
    """
    try:
        return call.read(response)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise HamtuneClientError(
            f"{_shown(response.url)} does not answer as Hamtune does: another service, "
            "or another version of it"
        ) from error


def unreachable(url: httpx.URL, error: Exception) -> Unreachable:
    """What to say where nothing answers under a URL."""
    return Unreachable(
        f"no answer from {_shown(url)}: {error}; 'hamtune up' starts a service, "
        "Client(URL) or HAMTUNE_SERVER names another"
    )


def _shown(url: httpx.URL) -> str:
    """A URL without the name and the password that may stand in it."""
    return str(url.copy_with(userinfo=b""))


Archived = Literal["exclude", "include", "only"]
Deleted = Literal["exclude", "only"]


def list_jobs(
    state: str | None,
    search: str | None,
    tag: str | None,
    archived: Archived,
    deleted: Deleted,
    cursor: str | None,
) -> Call[tuple[list[JobRecord], str | None]]:
    """A page of jobs, and the cursor of the next."""
    params = {
        "state": state,
        "search": search,
        "tag": tag,
        "archived": archived,
        "deleted": deleted,
        "cursor": cursor,
        "limit": PAGE,
    }
    return Call("GET", "/jobs", _page_of_jobs, params)


def get_job(job_id: str) -> Call[JobRecord]:
    """One job."""
    return Call("GET", f"/jobs/{quote(job_id, safe='')}", _job)


def create(document: Mapping[str, Any]) -> Call[JobRecord]:
    """Create a job; sent again after a broken connection it does not create a second one.

    Args:
        document: The job file's content.
    """
    content = json.dumps(dict(document)).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
    return Call("POST", "/jobs", _job, headers=headers, content=content)


def steer(job_id: str, verb: str, changes: Mapping[str, Any] | None = None) -> Call[JobRecord]:
    """Pause, resume, cancel, restore or clone a job; each may be repeated."""
    path = f"/jobs/{quote(job_id, safe='')}/{verb}"
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


def delete(job_id: str, now: bool) -> Call[Deletion]:
    """Delete a job that is paused or has ended, with `now` for good."""
    path = f"/jobs/{quote(job_id, safe='')}"
    return Call(
        "DELETE",
        path,
        lambda r: Deletion.model_validate(r.json()),
        {"now": True if now else None},
        safe=False,
    )


def best(job_id: str) -> Call[Best]:
    """The best configuration."""
    return Call("GET", f"/jobs/{job_id}/best", lambda r: Best.model_validate(r.json()))


def importance(job_id: str) -> Call[Importance]:
    """How much each parameter matters."""
    return Call("GET", f"/jobs/{job_id}/importance", lambda r: Importance.model_validate(r.json()))


def front(job_id: str, by: str | None, reference: tuple[float, float] | None) -> Call[Front]:
    """What no other trial beats in both time and price."""
    seconds, price = reference or (None, None)
    params = {"by": by, "reference_seconds": seconds, "reference_price": price}
    return Call("GET", f"/jobs/{job_id}/front", lambda r: Front.model_validate(r.json()), params)


def statistics(job_id: str) -> Call[Statistics]:
    """Counts of all trials."""
    return Call("GET", f"/jobs/{job_id}/statistics", lambda r: Statistics.model_validate(r.json()))


def trial(job_id: str, number: int) -> Call[Trial]:
    """One trial with what was measured."""
    return Call("GET", f"/jobs/{job_id}/trials/{number}", lambda r: Trial.model_validate(r.json()))


def list_trials(
    job_id: str, state: str | Sequence[str] | None, after: int
) -> Call[tuple[list[Trial], int | None]]:
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


def table(job_id: str, form: str, state: str | Sequence[str] | None) -> Call[bytes]:
    """All trials, or those of some states, as a file: csv, parquet, optuna."""
    path = f"/jobs/{job_id}/table/{quote(form, safe='')}"
    return Call("GET", path, lambda r: r.content, {"state": state})


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


def export(job_id: str, form: str, options: Mapping[str, Any]) -> Call[bytes]:
    """A configuration as a zip archive of files, or one of them with `name`.

    Args:
        job_id: The job.
        form: The format.
        options: `name`, and what `POST /jobs/{job_id}/exports/{format}` takes: `hosts`, `fabric`,
            `target`, `nearest`, `trial`.
    """
    path = f"/jobs/{job_id}/exports/{quote(form, safe='')}"
    asked = {name: value for name, value in options.items() if name != "name" and value is not None}
    headers = {"Content-Type": "application/json"}
    content = json.dumps(asked).encode()
    query = {"name": options.get("name")}
    return Call("POST", path, lambda r: r.content, query, headers=headers, content=content)


def propose(job_id: str, configuration: Mapping[str, Any], key: str, wait: float) -> Call[Proposal]:
    """Have a configuration evaluated; with the same key it is the same proposal."""
    document = {"configuration": dict(configuration), "wait": wait}
    return _scripted(f"/jobs/{job_id}/proposals", document, _proposal, key)


def proposal(job_id: str, place: int, wait: float) -> Call[Proposal]:
    """A configuration that was proposed, once its outcome is known or so many seconds are over."""
    path = f"/jobs/{job_id}/proposals/{place}"
    return Call("GET", path, _proposal, {"wait": wait}, tries=SCRIPT_TRIES)


def ask(
    job_id: str, asker: str, seconds: float, key: str, wait: float
) -> Call[tuple[Asked | None, str]]:
    """A trial to measure, if there is one, and the state of the job."""

    def read(response: httpx.Response) -> tuple[Asked | None, str]:
        answer = response.json()
        asked = [Asked.model_validate(item) for item in answer["items"]]
        return (asked[0] if asked else None), str(answer["job_state"])

    document = {"asker": asker, "seconds": seconds, "wait": wait}
    return _scripted(f"/jobs/{job_id}/ask", document, read, key)


def tell(
    job_id: str, asked: Asked, status: str, value: float | None, reason: str | None
) -> Call[Trial]:
    """Tell what a trial came to; told again, it changes nothing."""
    document: dict[str, Any] = {"attempt": asked.attempt, "status": status}
    document |= {} if value is None else {"value": value}
    document |= {} if reason is None else {"reason": reason}
    path = f"/jobs/{job_id}/trials/{asked.trial}/tell"
    return _scripted(path, document, lambda r: Trial.model_validate(r.json()))


def release(job_id: str, asked: Asked) -> Call[Trial]:
    """Hand a trial back unmeasured; again, it changes nothing."""
    path = f"/jobs/{job_id}/trials/{asked.trial}/release"
    return _scripted(path, {"attempt": asked.attempt}, lambda r: Trial.model_validate(r.json()))


def _scripted(
    path: str,
    document: Mapping[str, Any],
    read: Callable[[httpx.Response], T],
    key: str | None = None,
) -> Call[T]:
    """A request of a script; JSON has no numbers that are none, which the service would refuse."""
    headers = {"Content-Type": "application/json"}
    if key is not None:
        if not key.isascii() or not key.isprintable():
            raise HamtuneClientError(f"{key!r} is no key: take letters, digits and signs of ASCII")
        headers["Idempotency-Key"] = key
    content = json.dumps(document).encode()
    return Call("POST", path, read, headers=headers, content=content, tries=SCRIPT_TRIES)


def _proposal(response: httpx.Response) -> Proposal:
    return Proposal.model_validate(response.json())


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
