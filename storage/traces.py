"""The trace files of stored applications."""

from __future__ import annotations

from pathlib import Path

from storage.records import Application
from storage.view import StorageView

__all__ = ["traces_of"]


def traces_of(storage: StorageView, application: Application) -> tuple[Path, ...]:
    """The traces of a stored application, one for each that runs.

    Raises:
        NotFound: One is not stored.
        ArtifactDamaged: One was altered.
    """
    digests = [application.trace_sha256]
    if application.kind == "workload":
        digests = [part["trace_sha256"] for part in application.summary["applications"]]
    return tuple(storage.artifacts.path(digest) for digest in digests)
