"""Request bodies: read with a limit while they arrive, JSON or YAML by content type."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator
from typing import Any, NoReturn

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from searchspace import documents
from searchspace.errors import InvalidInput
from searchspace.units import format_size
from service.problems import ProblemError

__all__ = [
    "JSON_TYPES",
    "YAML_TYPES",
    "limited",
    "media_type",
    "parse_json",
    "parse_yaml",
    "read_document",
    "read_text",
    "too_large",
]

JSON_TYPES = ("application/json",)
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")

_MOST_LEVELS = 64  # far more than any description has; answers can be written to about 250


def media_type(request: Request) -> str:
    """The media type of the body without its parameters, in lower case."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def limited(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    """The body in chunks, as long as it stays within `limit` bytes.

    The declared length only serves to refuse early: what arrives is counted.

    Raises:
        ProblemError: 413, the body is larger.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit:
        too_large(limit)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            too_large(limit)
        yield chunk


async def read_text(request: Request, limit: int) -> tuple[str, str]:
    """The body as text, and its format: `json` or `yaml`.

    Raises:
        ProblemError: 413 too large, 415 neither JSON nor YAML, 400 not UTF-8.
    """
    given = media_type(request)
    if given not in JSON_TYPES + YAML_TYPES:
        raise ProblemError(
            415,
            f"content type {given or '(none)'} is not accepted here; "
            "send application/json or application/yaml",
            headers={"Accept": ", ".join(JSON_TYPES + YAML_TYPES)},
        )
    content = bytearray()
    async for chunk in limited(request, limit):
        content += chunk
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProblemError(
            400, f"the body is not UTF-8 text (byte {error.start} cannot be read)"
        ) from None
    return text, "json" if given in JSON_TYPES else "yaml"


async def read_document(request: Request, limit: int, *, optional: bool = False) -> Any:
    """The body as plain values: what JSON or YAML holds.

    Args:
        request: Its content type says which of the two.
        limit: Largest body in bytes.
        optional: Without a body, answer None.

    Raises:
        ProblemError: 413 too large, 415 neither JSON nor YAML, 400 malformed.
    """
    if optional and "content-type" not in request.headers and await _is_empty(request):
        return None
    text, form = await read_text(request, limit)
    return await run_in_threadpool(parse_json if form == "json" else parse_yaml, text)


async def _is_empty(request: Request) -> bool:
    async for chunk in request.stream():
        if chunk:
            return False
    return True


def parse_yaml(text: str) -> Any:
    """Parse YAML as the command line does: no aliases, no tags, no key twice.

    Raises:
        ProblemError: 400 with where and what, also where it is nested more than 64 levels deep.
    """
    try:
        value = documents.read_document(text)
    except InvalidInput as error:
        raise ProblemError(400, f"not acceptable YAML: {error}") from None
    _check_depth(value, "YAML")
    return value


def parse_json(text: str) -> Any:
    """Parse strict JSON: no NaN, no infinities, no key twice, nothing that is not Unicode.

    Raises:
        ProblemError: 400 with where and what, also where it is nested more than 64 levels deep.
    """
    try:
        value = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique
        )
        if "\\u" in text:
            # Escapes can spell half a character, which no database and no answer could hold.
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ProblemError(
            400, f"not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except UnicodeEncodeError:
        raise ProblemError(400, "not acceptable JSON: a surrogate without its other half") from None
    except RecursionError:
        _too_deep("JSON")
    except ValueError:
        raise ProblemError(400, "not acceptable JSON: a number has too many digits") from None
    _check_depth(value, "JSON")
    return value


def _check_depth(value: Any, form: str) -> None:
    """Refuse what could be read and stored, but not be written into an answer any more."""
    level = [value]
    for _ in range(_MOST_LEVELS + 1):
        groups = [one for one in level if isinstance(one, dict | list)]
        if not groups:
            return
        level = [
            part
            for group in groups
            for part in (group.values() if isinstance(group, dict) else group)
        ]
    _too_deep(form)


def _too_deep(form: str) -> NoReturn:
    message = f"not acceptable {form}: nested too deeply; use at most {_MOST_LEVELS} levels"
    raise ProblemError(400, message) from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ProblemError(400, f"not acceptable JSON: {text} is beyond all numbers")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ProblemError(400, f"not JSON: {name} is not a number that JSON knows")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ProblemError(400, f"not acceptable JSON: the key {key!r} is there twice")
            seen.add(key)
    return result


def too_large(limit: int) -> NoReturn:
    """Refuse a body larger than `limit` bytes (413)."""
    raise ProblemError(413, f"the body is larger than the {format_size(limit)} accepted here")
