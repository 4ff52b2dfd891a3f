"""Whether what the service stands on is there: for `/readyz` and `hamtune doctor`."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from searchspace.errors import HamtuneError
from service.settings import Settings
from storage.errors import NotFound
from storage.storage import Storage
from workers.capture_sandbox import confinement_problem, temporary_files_problem
from workers.celery_app import make_app
from workers.simulator_client import engine_in_use, simulator_version

__all__ = ["Finding", "diagnose", "readiness"]

Status = Literal["ok", "warning", "failed"]

_LEAST_FREE = 1 << 30
_SECONDS = 3.0
_TOOLS = {
    "bwrap": "bubblewrap, to shut programs of users in",
    "smpicc": "SimGrid, to capture",
    "make": "to build programs of users",
    "gfortran": "to build Fortran programs",
}


class _Warn(Exception):
    """Something is missing that not everybody needs."""


@dataclass(frozen=True)
class Finding:
    """What a check found, in a line for people."""

    name: str
    status: Status
    text: str


def readiness(storage: Storage, settings: Settings) -> list[Finding]:
    """What has to be there before requests are worth sending: database, artifacts, broker."""
    return [
        _look("database", lambda: _database(storage)),
        _look("artifacts", lambda: _artifacts(storage)),
        _look("broker", lambda: _broker(settings)),
    ]


def diagnose(settings: Settings, open_storage: Callable[[Settings], Storage]) -> list[Finding]:
    """All that could be missing on this machine, for the settings of this process."""
    found = [
        _look("python", _python),
        _look("simulator", simulator_version),
        _look("engine", _engine),
        *(_look(name, lambda name=name: _tool(name)) for name in _TOOLS),  # type: ignore[misc]
        _look("sandbox", lambda: _sandbox(settings)),
        _look("disk", lambda: _disk(settings)),
        _look("authentication", lambda: _authentication(settings)),
    ]
    try:
        storage = open_storage(settings)
    except HamtuneError as error:
        return [
            *found,
            Finding("database", "failed", str(error)),
            _look("broker", lambda: _broker(settings)),
        ]
    try:
        return [
            *found,
            *readiness(storage, settings),
            _look("processes", lambda: _processes(storage, settings)),
        ]
    finally:
        storage.close()


def _look(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, "ok", check())
    except _Warn as lack:
        return Finding(name, "warning", str(lack))
    except (HamtuneError, OSError) as error:
        return Finding(name, "failed", str(error))


def _database(storage: Storage) -> str:
    return f"{storage.kind}, revision {storage.revision()}"


def _artifacts(storage: Storage) -> str:
    try:
        storage.artifacts.path("0" * 64)
    except NotFound:
        return "the store answers"
    return "the store answers"


def _broker(settings: Settings) -> str:
    if settings.broker_url is None:
        return "none: workers run in the process of the service"
    with make_app(settings.broker_url).connection_for_write(connect_timeout=_SECONDS) as broker:
        try:
            broker.connect()
        except (*broker.connection_errors, OSError) as error:
            raise HamtuneError(f"{broker.as_uri()} cannot be reached: {error}") from None
        return f"{broker.as_uri()} answers"


def _python() -> str:
    names: Sequence[str] = ("fastapi", "sqlalchemy", "celery", "opentuner", "uvicorn")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return f"{sys.version.split()[0]}; {versions}"


def _engine() -> str:
    used = engine_in_use()
    if "express off" in used:
        raise _Warn(f"{used}; evaluations cost 2 to 4 times the CPU, and packets are refused")
    return used


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise _Warn(f"{name} is missing: {_TOOLS[name]}; run ./setup.sh")
    return path


def _sandbox(settings: Settings) -> str:
    reason = temporary_files_problem()
    if reason:
        raise HamtuneError(reason)
    if not settings.captures.sandbox:
        raise _Warn("off: programs of users run as this user, and see what it sees")
    reason = confinement_problem()
    if reason:
        raise HamtuneError(f"programs of users cannot be captured: {reason}")
    return "bubblewrap"


def _disk(settings: Settings) -> str:
    lines = []
    for path in (settings.data, Path(tempfile.gettempdir())):
        nearest = next(one for one in (path, *path.parents) if one.exists())
        free = shutil.disk_usage(nearest).free
        if not os.access(nearest, os.W_OK):
            raise HamtuneError(f"{nearest} cannot be written")
        if free < _LEAST_FREE:
            raise _Warn(f"only {free >> 20} MiB are free in {nearest}")
        lines.append(f"{free >> 30} GiB free in {nearest}")
    return ", ".join(lines)


def _authentication(settings: Settings) -> str:
    if settings.auth.required:
        return "keys" + (" and tokens" if settings.auth.oidc is not None else "")
    return "off: loopback addresses only"


def _processes(storage: Storage, settings: Settings) -> str:
    living = storage.processes.living()
    if settings.embedded:
        return "all in one"
    kinds = [process.kind for process in living]
    missing = [kind for kind in ("coordinator", "worker") if kind not in kinds]
    if missing:
        raise _Warn(f"no {' and no '.join(missing)} is heard of")
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
