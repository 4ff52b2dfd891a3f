"""Storing uploaded traces and source trees, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from searchspace.errors import HamtuneError, InvalidInput
from searchspace.formats import trace
from searchspace.jobspec import SourceApplication
from searchspace.validation import check
from storage.errors import Unavailable
from storage.records import Application
from storage.traces import traces_of
from storage.view import StorageView
from workers.applications import add_source

__all__ = ["MAX_NAME", "complete", "store", "store_source"]

MAX_NAME = 200
_UPLOADED = "(uploaded)"


def store(storage: StorageView, path: Path, name: str | None) -> tuple[Application, bool]:
    """Check a trace archive and store it; the same bytes are stored once.

    Args:
        storage: Where to.
        path: The archive.
        name: What to call the application; by default the program's name.

    Returns:
        The application, and whether it is new.

    Raises:
        InvalidInput: It is no trace, or a damaged or hostile one; or the name cannot be used.
    """
    name = _checked(name)
    try:
        header = trace.validate(path)
        summary = trace.describe_trace(path)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="trace") from error
    storage.projects.admit_upload(path.stat().st_size)
    sha256 = storage.artifacts.put(path)
    key = f"trace:{sha256}"
    known = storage.applications.find(key)
    application = known or storage.applications.add(
        name=name or header.program,
        kind="trace",
        key=key,
        trace_sha256=sha256,
        ranks=header.ranks,
        summary=summary,
    )
    return application, known is None


def store_source(
    storage: StorageView, path: Path, fields: Mapping[str, str]
) -> tuple[Application, bool]:
    """Check a source tree and how it is built and run; it is captured once a job needs it.

    Args:
        storage: Where to.
        path: The archive, if one was sent.
        fields: Those of a job file's `application`, and `name`. With `source`, the SHA-256 of a
            tree that is stored already, no archive is needed.

    Returns:
        The application, and whether it is new.

    Raises:
        InvalidInput: What cannot be used, and why.
    """
    given = dict(fields)
    name = _checked(given.pop("name", None))
    known = given.pop("source", None)
    named = check(SourceApplication, {"source": _UPLOADED, **given})
    if known is None:
        storage.projects.admit_upload(path.stat().st_size)
        return add_source(storage, path, named, name=name)
    if not storage.applications.has_source(known):
        raise InvalidInput(f"there is no source tree {known}", field="source")
    tree = storage.artifacts.path(known)
    storage.projects.admit_upload(tree.stat().st_size)  # what refers to it counts for each
    return add_source(storage, tree, named, name=name)


def complete(storage: StorageView, applications: Iterable[Application]) -> list[Application]:
    """Add to applications what earlier versions did not note: whether their traces are truncated.

    The first time that somebody asks it is read from the traces and kept. Where that fails it stays
    unknown; once a store turns out to be away, no further trace is tried.
    """
    completed = []
    away = False
    for application in applications:
        found = application
        if not away and application.state == "ready" and "truncated" not in application.summary:
            try:
                found = storage.applications.add_to_summary(
                    application.id, truncated=_is_truncated(storage, application)
                )
            except Unavailable:
                away = True
            except (HamtuneError, OSError):
                pass  # who replays the trace is told what is wrong with it
        completed.append(found)
    return completed


def _is_truncated(storage: StorageView, application: Application) -> bool:
    """Whether times of an application are estimates: one of its traces at least is truncated."""
    headers = map(trace.read_header, traces_of(storage, application))
    return any(header.weights is not None for header in headers)


def _checked(name: str | None) -> str | None:
    if name is not None:
        name = name.strip()
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise InvalidInput(f"use 1 to {MAX_NAME} printable characters", field="name")
    return name
