"""Trace archives as they come in: streamed to a file that has no name and so is never left over."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from service.bodies import limited, media_type, too_large
from service.problems import ProblemError

__all__ = ["RAW_TYPE", "Upload", "receive"]

RAW_TYPE = "application/octet-stream"
FORM_TYPE = "multipart/form-data"
FILE_FIELD = "trace"
NAME_FIELD = "name"
_FORM_OVERHEAD = 64 * 1024  # boundaries, part headers and the name


@dataclass(frozen=True)
class Upload:
    """What arrived; `path` can be read until the context that gave it ends."""

    path: Path
    name: str | None


@asynccontextmanager
async def receive(request: Request, limit: int) -> AsyncIterator[Upload]:
    """Receive the body of `request`, raw or as a form with the file field `trace`.

    Args:
        request: Its content type decides how it is read.
        limit: Largest archive in bytes.

    Raises:
        ProblemError: 413 too large, 415 another content type, 400 a form that cannot be read,
            422 a form without the file.
    """
    given = media_type(request)
    # The file has no entry in any directory: whatever kills this process, nothing is left.
    with tempfile.TemporaryFile() as file:
        if given == RAW_TYPE:
            async for chunk in limited(request, limit):
                await run_in_threadpool(file.write, chunk)
            name = None
        elif given == FORM_TYPE:
            name = await _receive_form(request, limit, file)
        else:
            raise ProblemError(
                415,
                f"content type {given or '(none)'} is not accepted here; send the trace as "
                f"{RAW_TYPE}, or as the file field {FILE_FIELD!r} of {FORM_TYPE}",
                headers={"Accept": f"{RAW_TYPE}, {FORM_TYPE}"},
            )
        file.flush()
        yield Upload(Path(f"/proc/self/fd/{file.fileno()}"), name)


async def _receive_form(request: Request, limit: int, target: IO[bytes]) -> str | None:
    """Copy the file of a form to `target`; its name field, if there is one."""
    parser = MultiPartParser(
        request.headers,
        limited(request, limit + _FORM_OVERHEAD),
        max_files=1,
        max_fields=1,
        max_part_size=1024,
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise ProblemError(400, f"the form cannot be read: {error.message}") from None
    try:
        trace, name = form.get(FILE_FIELD), form.get(NAME_FIELD)
        unknown = sorted(set(form) - {FILE_FIELD, NAME_FIELD})
        if unknown:
            raise _bad_field(unknown[0], f"unknown; allowed: {FILE_FIELD}, {NAME_FIELD}")
        if not isinstance(trace, UploadFile):
            raise _bad_field(FILE_FIELD, "the trace must be sent in this field, as a file")
        if name is not None and not isinstance(name, str):
            raise _bad_field(NAME_FIELD, "must be text, not a file")
        await run_in_threadpool(shutil.copyfileobj, trace.file, target, 1 << 20)
        if target.seek(0, os.SEEK_CUR) > limit:
            too_large(limit)
        return name
    finally:
        await form.close()


def _bad_field(field: str, message: str) -> ProblemError:
    return ProblemError(422, f"{field}: {message}", errors=[(field, message)])
