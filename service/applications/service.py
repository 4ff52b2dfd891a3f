"""Storing uploaded traces."""

from __future__ import annotations

from pathlib import Path

from searchspace import kernels
from searchspace.errors import InvalidInput
from searchspace.formats import trace
from storage.records import Application
from storage.storage import Storage

__all__ = ["MAX_NAME", "store"]

MAX_NAME = 200


def store(storage: Storage, path: Path, name: str | None) -> tuple[Application, bool]:
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
    if name is not None:
        name = name.strip()
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise InvalidInput(f"use 1 to {MAX_NAME} printable characters", field="name")
    try:
        header = trace.validate(path)
        summary = kernels.trace_summary(path)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="trace") from error
    sha256 = storage.put_artifact(path)
    key = f"trace:{sha256}"
    known = storage.find_application(key)
    application = known or storage.add_application(
        name=name or header.program,
        kind="trace",
        key=key,
        trace_sha256=sha256,
        ranks=header.ranks,
        summary=dict(summary),
    )
    return application, known is None
