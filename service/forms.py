"""Forms with files: read while they arrive, up to a limit."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser

from service.bodies import limited
from service.problems import ProblemError

__all__ = ["FORM_TYPE", "bad_field", "read_form"]

FORM_TYPE = "multipart/form-data"
_OVERHEAD = 64 * 1024  # boundaries, part headers and text fields


async def read_form(
    request: Request, limit: int, *, files: int, fields: int, longest_text: int
) -> FormData:
    """The fields of a form, whose files are closed with it.

    Args:
        request: Its body.
        limit: Largest sum of its files in bytes; a form somewhat larger is read.
        files: How many files it may have.
        fields: How many fields it may have in all.
        longest_text: Bytes of a text field.

    Raises:
        ProblemError: 413 too large, 400 a form that cannot be read.
    """
    parser = MultiPartParser(
        request.headers,
        limited(request, limit + _OVERHEAD),
        max_files=files,
        max_fields=fields,
        max_part_size=longest_text,
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise ProblemError(400, f"the form cannot be read: {error.message}") from None


def bad_field(field: str, message: str) -> ProblemError:
    """A field of a form that is refused (422)."""
    return ProblemError(422, f"{field}: {message}", errors=[(field, message)])
