"""Environment files of libraries that are told of algorithms by variables."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from searchspace.collectives.equivalents import Target
from service.exports.choices import choices, forced, table
from service.exports.placement import text_file
from service.exports.result import ExportFile, Result
from service.exports.transport import settings_lines, transport_settings
from service.exports.wording import comment, origin_lines

__all__ = ["environment_file", "settings_of", "target_lines"]


def settings_of(result: Result, target: Target) -> dict[str, str]:
    """The variables that force the choices of a result, those of the transport last."""
    return {**forced(choices(result, target), target), **transport_settings(result, target)}


def target_lines(result: Result, target: Target) -> list[str]:
    """The release, whether it was tried, and what it offers for each choice."""
    checked = (
        f"the names and effects of these choices were checked on {target.checked_on}"
        if target.checked_on
        else "not verified, this library was not run; from its documents"
    )
    lines = [*table(choices(result, target)), *settings_lines(result, target)]
    return [f"For {target.title} ({checked}):", *lines]


def environment_file(
    name: str, result: Result, target: Target, more: Mapping[str, str] | None = None
) -> ExportFile:
    """Variables for the shell, to be read with `.`, with what they stand for as comments."""
    settings = {**settings_of(result, target), **(more or {})}
    head = comment([*origin_lines(result, target), *target_lines(result, target)])
    lines = (f"export {key}={shlex.quote(value)}\n" for key, value in settings.items())
    return text_file(name, head, *lines)
