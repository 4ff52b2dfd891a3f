"""Traces and source trees as they come in: in a file that has no name and so is never left over."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from searchspace.jobspec import SourceApplication
from service.bodies import limited, media_type, too_large
from service.forms import FORM_TYPE, bad_field, read_form
from service.problems import ProblemError

__all__ = ["RAW_TYPE", "Upload", "receive"]

RAW_TYPE = "application/octet-stream"
TRACE_FIELD = "trace"
SOURCE_FIELD = "source"
NAME_FIELD = "name"
RECIPE_FIELDS = tuple(name for name in SourceApplication.model_fields if name != SOURCE_FIELD)
_FIELDS = (TRACE_FIELD, SOURCE_FIELD, NAME_FIELD, *RECIPE_FIELDS)
_MAX_TEXT = 16 * 1024


@dataclass(frozen=True)
class Upload:
    """What arrived.

    Attributes:
        path: The file; it can be read until the context that gave the upload ends.
        is_source: Whether it is a source tree and not a trace.
        fields: The text fields of the form by name. `source` is among them where it is no file.
    """

    path: Path
    is_source: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """What to call the application."""
        return self.fields.get(NAME_FIELD)


@asynccontextmanager
async def receive(request: Request, limit: int) -> AsyncIterator[Upload]:
    """Receive the body of `request`: a raw trace, or a form with the file `trace` or `source`.

    Args:
        request: Its content type decides how it is read.
        limit: Largest archive in bytes.

    Raises:
        ProblemError: 413 too large, 415 another content type, 400 a form that cannot be read,
            422 a form without the file.
    """
    given = media_type(request)
    # The file has no entry in any directory: whatever kills this process, nothing is left.
    is_source, fields = False, dict[str, str]()
    with tempfile.TemporaryFile() as file:
        if given == RAW_TYPE:
            async for chunk in limited(request, limit):
                await run_in_threadpool(file.write, chunk)
        elif given == FORM_TYPE:
            is_source, fields = await _receive_form(request, limit, file)
        else:
            raise ProblemError(
                415,
                f"content type {given or '(none)'} is not accepted here; send the trace as "
                f"{RAW_TYPE}, or as the file field {TRACE_FIELD!r} of {FORM_TYPE}",
                headers={"Accept": f"{RAW_TYPE}, {FORM_TYPE}"},
            )
        file.flush()
        yield Upload(Path(f"/proc/self/fd/{file.fileno()}"), is_source, fields)


async def _receive_form(
    request: Request, limit: int, target: IO[bytes]
) -> tuple[bool, dict[str, str]]:
    """Copy the file of a form to `target`; whether it is a source tree, and the text fields."""
    form = await read_form(request, limit, files=1, fields=len(_FIELDS), longest_text=_MAX_TEXT)
    try:
        unknown = sorted(set(form) - set(_FIELDS))
        if unknown:
            raise bad_field(unknown[0], f"unknown; allowed: {', '.join(_FIELDS)}")
        is_source = SOURCE_FIELD in form
        sent = form.get(SOURCE_FIELD if is_source else TRACE_FIELD)
        if not is_source and not isinstance(sent, UploadFile):
            raise bad_field(TRACE_FIELD, "the trace must be sent in this field, as a file")
        if isinstance(sent, UploadFile):
            await run_in_threadpool(shutil.copyfileobj, sent.file, target, 1 << 20)
            if target.seek(0, os.SEEK_CUR) > limit:
                too_large(limit)
        return is_source, _texts(form, is_source)
    finally:
        await form.close()


def _texts(form: FormData, is_source: bool) -> dict[str, str]:
    """The text fields of a form, each of which must be there once and belong to its file."""
    texts: dict[str, str] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if name not in (TRACE_FIELD, SOURCE_FIELD):
                raise bad_field(name, "must be text, not a file")
            continue
        if name in texts:
            raise bad_field(name, "is there twice")
        if name == TRACE_FIELD or (name in RECIPE_FIELDS and not is_source):
            raise bad_field(name, f"belongs to a {SOURCE_FIELD}, and this form has none")
        texts[name] = value
    return texts
