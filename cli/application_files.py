"""Applications that read a file: what is named in a job file is put in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from searchspace.builtins import BUILTINS
from searchspace.formats.plain_file import check_file

__all__ = ["with_files"]


def with_files(application: Any, folder: Path) -> Any:
    """Puts the files that a built-in program reads in the place of their names.

    Args:
        application: What a job file has under `application`, or several applications; anything
            that names no file is returned as it is.
        folder: Where relative names begin.

    Raises:
        InvalidInput: There is no such file.
    """
    if not isinstance(application, Mapping):
        return application
    several = application.get("applications")
    if isinstance(several, list):
        return {**application, "applications": [_part(part, folder) for part in several]}
    smaller = application.get("extrapolate")
    if isinstance(smaller, Mapping) and isinstance(smaller.get("captures"), list):
        captures = [with_files(capture, folder) for capture in smaller["captures"]]
        return {**application, "extrapolate": {**smaller, "captures": captures}}
    program = BUILTINS.get(str(application.get("builtin")))
    if program is None:
        return application
    return {
        name: _text(value, name, folder) if name in program.files else value
        for name, value in application.items()
    }


def _part(part: Any, folder: Path) -> Any:
    if not isinstance(part, Mapping) or "application" not in part:
        return part
    return {**part, "application": with_files(part["application"], folder)}


def _text(value: Any, name: str, folder: Path) -> Any:
    """The text of a file; text of several lines is taken for what it is."""
    if not isinstance(value, str) or "\n" in value.strip():
        return value
    path = folder / value
    check_file(path, field=f"application.{name}")
    return path.read_text(encoding="utf-8-sig", errors="replace")
