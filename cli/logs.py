"""The log of the service on stderr: a line a message, which names the job and trial it is about."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from searchspace.errors import InvalidInput
from storage.log_context import add_context

__all__ = ["LEVELS", "blotted", "log_level_option", "log_to_stderr"]

F = TypeVar("F", bound=Callable[..., Any])

LEVELS = ("debug", "info", "warning", "error")

_KEY = re.compile(r"\b(ht_[0-9a-z]{16}_)[\w-]+")
_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]*://[^\s:/@]*:)[^\s/@]+@", re.IGNORECASE)


def log_level_option(default: str) -> Callable[[F], F]:
    """`--log-level`, handed over as `log_level`."""
    return click.option(
        "--log-level",
        type=click.Choice(LEVELS),
        default=default,
        show_default=True,
        help="The least that is logged on stderr.",
    )


def log_to_stderr(level: str | int) -> None:
    """Let the log appear on stderr, from this level on; all of it with `HAMTUNE_DEBUG`.

    `HAMTUNE_LOG_FORMAT=json` writes a JSON object a line.

    Libraries are heard from warnings on. Handlers that they put in place are taken away.
    """
    as_json = _format() == "json"
    number = logging.getLevelNamesMapping()[level.upper()] if isinstance(level, str) else level
    if os.environ.get("HAMTUNE_DEBUG"):
        number = logging.DEBUG
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(add_context)
    handler.setFormatter(_Json() if as_json else _OneLine())
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)
    ours = logging.getLogger("hamtune")
    ours.handlers.clear()
    ours.propagate = True
    ours.setLevel(number)


def blotted(text: str) -> str:
    """A text without the secrets that it may hold: keys, and passwords of URLs."""
    return _PASSWORD.sub(r"\1***@", _KEY.sub(r"\1***", text))


def _format() -> str:
    name = os.environ.get("HAMTUNE_LOG_FORMAT") or "text"
    if name not in ("text", "json"):
        raise InvalidInput(f"{name!r} is neither text nor json", field="HAMTUNE_LOG_FORMAT")
    return name


class _Json(logging.Formatter):
    """An object a line: `time` (UTC), `level`, `logger`, `job`, `trial`, `message`, `error`."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            **{name: value for name in ("job", "trial") if (value := getattr(record, name, ""))},
            "message": blotted(record.getMessage()),
        }
        if record.exc_info:
            entry["error"] = blotted(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False)


class _OneLine(logging.Formatter):
    """`time LEVEL logger job=... trial=...: message`, with line breaks shown as ` | `."""

    def format(self, record: logging.LogRecord) -> str:
        ids = "".join(
            f" {name}={value}" for name in ("job", "trial") if (value := getattr(record, name, ""))
        )
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        text = blotted(text)
        text = " | ".join(line.strip() for line in text.splitlines() if line.strip())
        when = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
        return f"{when} {record.levelname} {record.name}{ids}: {text}"
