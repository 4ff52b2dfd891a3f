"""The calls for programs, machines, job files, keys and projects, as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from hamtune_client.calls import Archived, Call
from hamtune_client.models import JobRecord
from hamtune_client.records import (
    ApplicationRecord,
    AuditEntry,
    Check,
    Key,
    MachineFiles,
    MachineRecord,
    NewKey,
    ProjectRecord,
    Session,
)

__all__ = [
    "add_machine",
    "application",
    "application_file",
    "application_files",
    "application_log",
    "audit",
    "catalogue",
    "change_project",
    "check",
    "create_key",
    "curves",
    "deleted_jobs_named",
    "jobs_named",
    "keys",
    "list_applications",
    "list_machines",
    "machine",
    "project",
    "projects",
    "read_job_file",
    "revoke_key",
    "rotate_key",
    "schema",
    "session",
    "upload_machine",
    "upload_source",
    "upload_trace",
]

M = TypeVar("M", bound=BaseModel)
PAGE = 200
NAMESAKES = 20
"""Jobs of one name that are asked for at once."""
UPLOAD_SECONDS = 600.0
JSON = {"Content-Type": "application/json"}


def jobs_named(name: str, archived: Archived) -> Call[list[JobRecord]]:
    """The newest jobs with a name, `NAMESAKES` at most."""
    query = {"name": name, "archived": archived, "limit": NAMESAKES}
    return Call("GET", "/jobs", _items(JobRecord), query)


def deleted_jobs_named(name: str) -> Call[list[JobRecord]]:
    """The newest deleted jobs with a name, `NAMESAKES` at most."""
    query = {"name": name, "deleted": "only", "limit": NAMESAKES}
    return Call("GET", "/jobs", _items(JobRecord), query)


def read_job_file(text: str) -> Call[Any]:
    """What a job file in YAML says, unchecked."""
    headers = {"Content-Type": "application/yaml"}
    content = text.encode()
    return Call(
        "POST", "/jobs/read", lambda r: r.json()["document"], headers=headers, content=content
    )


def check(document: Mapping[str, Any]) -> Call[Check]:
    """What a job file would become."""
    return _post("/jobs/check", document, _one(Check))


def upload_trace(name: str, content: BinaryIO, title: str | None) -> Call[ApplicationRecord]:
    """Store a trace; the same content is stored once."""
    return Call(
        "POST",
        "/applications",
        _one(ApplicationRecord),
        form={} if title is None else {"name": title},
        files={"trace": (name, content)},
        patience=UPLOAD_SECONDS,
    )


def upload_source(archive: BinaryIO, recipe: Mapping[str, Any]) -> Call[ApplicationRecord]:
    """Store a source tree with how it is built and run."""
    return Call(
        "POST",
        "/applications",
        _one(ApplicationRecord),
        form={name: str(value) for name, value in recipe.items() if value is not None},
        files={"source": ("source.tar.gz", archive)},
        patience=UPLOAD_SECONDS,
    )


def list_applications(cursor: str | None) -> Call[tuple[list[ApplicationRecord], str | None]]:
    """A page of applications, and the cursor of the next."""
    return Call("GET", "/applications", _page(ApplicationRecord), _from(cursor))


def application(identifier: str) -> Call[ApplicationRecord]:
    """One application."""
    return Call("GET", f"/applications/{_part(identifier)}", _one(ApplicationRecord))


def application_log(identifier: str, log: str, offset: int) -> Call[str]:
    """What building or running it printed."""
    path = f"/applications/{_part(identifier)}/logs/{_part(log)}"
    return Call("GET", path, lambda r: r.text, {"offset": offset})


def application_files(identifier: str) -> Call[dict[str, int]]:
    """The files that runs left: their bytes, by path."""
    return Call(
        "GET",
        f"/applications/{_part(identifier)}/files",
        lambda r: {one["path"]: int(one["bytes"]) for one in r.json()["files"]},
    )


def application_file(identifier: str, path: str) -> Call[bytes]:
    """One of these files."""
    return Call(
        "GET", f"/applications/{_part(identifier)}/files/{quote(path)}", lambda r: r.content
    )


def add_machine(name: str, description: Mapping[str, Any]) -> Call[MachineRecord]:
    """Store a machine under a name; the same again is the first one."""
    return _post(
        "/machines", {"name": name, "machine": dict(description)}, _one(MachineRecord), safe=True
    )


def upload_machine(
    files: Mapping[str, tuple[str, BinaryIO]], said: Mapping[str, Any]
) -> Call[MachineFiles]:
    """Store the machine that files of a cluster tell of."""
    return Call(
        "POST",
        "/machines/files",
        _one(MachineFiles),
        form={name: str(value) for name, value in said.items() if value is not None},
        files=files,
        patience=UPLOAD_SECONDS,
    )


def list_machines(cursor: str | None) -> Call[tuple[list[MachineRecord], str | None]]:
    """A page of machines, and the cursor of the next."""
    return Call("GET", "/machines", _page(MachineRecord), _from(cursor))


def machine(identifier: str) -> Call[MachineRecord]:
    """One machine."""
    return Call("GET", f"/machines/{_part(identifier)}", _one(MachineRecord))


def schema(kind: str) -> Call[dict[str, Any]]:
    """The JSON schema of job or machine files."""
    return Call("GET", f"/schema/{_part(kind)}.json", _plain)


def catalogue() -> Call[dict[str, Any]]:
    """All names that a job file may use."""
    return Call("GET", "/catalogue", _plain)


def curves(job_ids: Sequence[str]) -> Call[list[dict[str, Any]]]:
    """How several jobs converged, as steps."""
    return Call("GET", "/curves", lambda r: list(r.json()["items"]), {"job": list(job_ids)})


def session() -> Call[Session]:
    """Who one is."""
    return Call("GET", "/session", _one(Session))


def projects() -> Call[list[ProjectRecord]]:
    """The projects that one sees."""
    return Call("GET", "/projects", _items(ProjectRecord))


def project(name: str) -> Call[ProjectRecord]:
    """One project."""
    return Call("GET", f"/projects/{_part(name)}", _one(ProjectRecord))


def change_project(name: str, changes: Mapping[str, Any]) -> Call[ProjectRecord]:
    """Set share, priority and quotas; only an operator may."""
    content = json.dumps(dict(changes)).encode()
    path = f"/projects/{_part(name)}"
    return Call("PATCH", path, _one(ProjectRecord), headers=JSON, content=content)


def keys(cursor: str | None) -> Call[tuple[list[Key], str | None]]:
    """A page of keys, and the cursor of the next."""
    return Call("GET", "/keys", _page(Key), _from(cursor))


def create_key(body: Mapping[str, Any]) -> Call[NewKey]:
    """Make a key; not sent twice, for each time makes one."""
    return _post("/keys", body, _one(NewKey))


def rotate_key(identifier: str, body: Mapping[str, Any]) -> Call[NewKey]:
    """Give a key another secret."""
    return _post(f"/keys/{_part(identifier)}/rotate", body, _one(NewKey))


def revoke_key(identifier: str) -> Call[Key]:
    """End a key for good."""
    return Call("DELETE", f"/keys/{_part(identifier)}", _one(Key))


def audit(cursor: str | None) -> Call[tuple[list[AuditEntry], str | None]]:
    """A page of the audit log, and the cursor of the next."""
    return Call("GET", "/audit", _page(AuditEntry), _from(cursor))


def _post(
    path: str,
    document: Mapping[str, Any],
    read: Callable[[httpx.Response], Any],
    safe: bool = False,
) -> Call[Any]:
    content = json.dumps(dict(document)).encode()
    return Call("POST", path, read, headers=JSON, content=content, safe=safe)


def _part(text: str) -> str:
    return quote(text, safe="")


def _from(cursor: str | None) -> dict[str, Any]:
    return {"cursor": cursor, "limit": PAGE}


def _plain(response: httpx.Response) -> dict[str, Any]:
    return dict(response.json())


def _one(model: type[M]) -> Callable[[httpx.Response], M]:
    return lambda response: model.model_validate(response.json())


def _items(model: type[M]) -> Callable[[httpx.Response], list[M]]:
    return lambda response: [model.model_validate(item) for item in response.json()["items"]]


def _page(model: type[M]) -> Callable[[httpx.Response], tuple[list[M], str | None]]:
    def read(response: httpx.Response) -> tuple[list[M], str | None]:
        return _items(model)(response), response.json()["cursor"]

    return read
