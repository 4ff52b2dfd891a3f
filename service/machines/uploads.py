"""The files of a cluster as they come in, in a form: read while they arrive, up to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from service.bodies import media_type, too_large
from service.forms import FORM_TYPE, bad_field, read_form
from service.problems import ProblemError

__all__ = ["FILES", "MAX_FILES", "NUMBERS", "TEXTS", "MachineFiles", "receive"]

MAX_FILES = 16 * 1024 * 1024
"""Bytes of all files of a machine; twice what `ibnetdiscover` prints of the largest machine."""
FILES = ("fabric", "host")
NUMBERS = (
    "host_speed", "cores_per_host", "link_bandwidth", "host_link_bandwidth", "link_latency",
    "switch_latency",
)  # fmt: skip
"""Fields of a machine that may be said beside its files."""
TEXTS = ("name", "base", *NUMBERS)
_MAX_TEXT = 1024
_LONGEST_NAME = 100


@dataclass(frozen=True)
class MachineFiles:
    """What arrived.

    Attributes:
        files: Name and content of each file, by its field.
        texts: The text fields, without those that are empty.
    """

    files: Mapping[str, tuple[str, bytes]]
    texts: Mapping[str, str] = field(default_factory=dict)


async def receive(request: Request, limit: int) -> MachineFiles:
    """Receive the form with the files of a machine.

    Args:
        request: Its body.
        limit: Largest sum of its files in bytes.

    Raises:
        ProblemError: 413 too large, 415 no form, 400 a form that cannot be read, 422 a field that
            is not known, there twice, or text where a file is needed.
    """
    given = media_type(request)
    if given != FORM_TYPE:
        raise ProblemError(
            415,
            f"content type {given or '(none)'} is not accepted here; send {FORM_TYPE} with the "
            "file field 'fabric', 'host', or both",
            headers={"Accept": FORM_TYPE},
        )
    form = await read_form(
        request,
        limit,
        files=len(FILES),
        fields=len(TEXTS) + len(FILES),
        longest_text=_MAX_TEXT,
    )
    try:
        return await _read(form, limit)
    finally:
        await form.close()


async def _read(form: FormData, limit: int) -> MachineFiles:
    files: dict[str, tuple[str, bytes]] = {}
    texts: dict[str, str] = {}
    for name, value in form.multi_items():
        if name not in FILES + TEXTS:
            raise bad_field(_plain(name), f"unknown; allowed: {', '.join(FILES + TEXTS)}")
        if name in files or name in texts:
            raise bad_field(name, "is there twice")
        if (name in FILES) != isinstance(value, UploadFile):
            raise bad_field(name, f"must be {'a file' if name in FILES else 'text, not a file'}")
        if isinstance(value, UploadFile):
            files[name] = (_plain(value.filename or name), await value.read())
        elif value.strip():
            texts[name] = value.strip()
    if sum(len(content) for _, content in files.values()) > limit:
        too_large(limit)
    return MachineFiles(files, texts)


def _plain(name: str) -> str:
    """The name of a file as messages can hold it: the end of a path, without what no line shows."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(c for c in last if c.isprintable())[:_LONGEST_NAME] or "file"
