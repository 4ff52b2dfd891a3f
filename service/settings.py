"""Where the service keeps its things and what it accepts, from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.units import parse_duration, parse_size
from service.auth.settings import AuthSettings
from service.subscriptions.settings import NotifySettings
from workers.capture_limits import CapturePolicy, Limits

__all__ = ["SECRETS", "Settings", "with_secrets"]

SECRETS = (
    "HAMTUNE_DATABASE_URL", "HAMTUNE_BROKER_URL", "HAMTUNE_ARTIFACTS_URL", "HAMTUNE_API_KEY",
    "HAMTUNE_SMTP_URL",
)  # fmt: skip
"""Variables that may hold secrets: `<name>_FILE` names a file to read in their place."""

DEFAULT_UPLOAD_LIMIT = 512 * 1024 * 1024
DEFAULT_BODY_LIMIT = 1024 * 1024
DEFAULT_WORKER_SILENCE = 30.0
DEFAULT_KEEP_DELETED = 30 * 86400.0
_LONGEST_KEEPING = 36500 * 86400.0
_DATA = "~/.local/share/hamtune"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a process of the service needs to know before it starts.

    Args:
        data: The data directory: database, artifacts and lock of the embedded mode.
        database_url: `sqlite:///path` or `postgresql+psycopg://...`.
        artifacts_url: Where traces are stored, as fsspec spells it.
        broker_url: The Celery broker; None runs workers and coordinator in this process.
        concurrency: Evaluations at once in an embedded pool; None means one a core.
        upload_limit: Largest trace archive accepted, in bytes.
        body_limit: Largest JSON or YAML body accepted, in bytes.
        worker_silence: Seconds without a sign of life after which a worker is given up.
        keep_deleted: Seconds for which a deleted job can be restored; 0 means that it is gone at
            once.
        captures: What captures of users' programs may do.
        cache: Where copies of artifacts of a remote store are kept; None for a default place.
        cache_size: How many bytes of them; None for 10 GiB.
        metrics_port: Where coordinators and workers serve metrics on loopback; None for nowhere.
        auth: Whether and how the service asks who is there.
        notify: How messages about jobs are sent.
    """

    data: Path
    database_url: str
    artifacts_url: str
    broker_url: str | None = None
    concurrency: int | None = None
    upload_limit: int = DEFAULT_UPLOAD_LIMIT
    body_limit: int = DEFAULT_BODY_LIMIT
    worker_silence: float = DEFAULT_WORKER_SILENCE
    keep_deleted: float = DEFAULT_KEEP_DELETED
    captures: CapturePolicy = field(default_factory=CapturePolicy)
    cache: Path | None = None
    cache_size: int | None = None
    metrics_port: int | None = None
    auth: AuthSettings = field(default_factory=AuthSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)

    @property
    def embedded(self) -> bool:
        """Whether workers and coordinator live in this process."""
        return self.broker_url is None

    @property
    def private(self) -> bool:
        """Whether who holds the data directory is the only one to run jobs of the database."""
        return self.embedded and self.keeps_database_in_data

    @property
    def keeps_database_in_data(self) -> bool:
        """Whether the database is a file in the data directory."""
        return self.database_url.startswith(f"sqlite:///{self.data}/")

    @classmethod
    def under(cls, data: Path) -> Settings:
        """Settings of an embedded service that keeps everything below `data`."""
        return cls.from_environment({"HAMTUNE_DATA": str(data)})

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, data: Path | None = None
    ) -> Settings:
        """Read `HAMTUNE_*`; what is not set lies under the data directory.

        Args:
            environment: Taken instead of the process's own.
            data: Taken instead of `HAMTUNE_DATA`.

        Raises:
            InvalidInput: A variable holds something unusable; the message names it.
        """
        values = with_secrets(os.environ if environment is None else environment)
        home = _data_directory(data or Path(values.get("HAMTUNE_DATA") or _DATA))
        return cls(
            data=home,
            database_url=values.get("HAMTUNE_DATABASE_URL") or f"sqlite:///{home / 'hamtune.db'}",
            artifacts_url=values.get("HAMTUNE_ARTIFACTS_URL") or f"file://{home / 'artifacts'}",
            broker_url=values.get("HAMTUNE_BROKER_URL") or None,
            concurrency=_positive(values, "HAMTUNE_CONCURRENCY"),
            upload_limit=_size(values, "HAMTUNE_UPLOAD_LIMIT", DEFAULT_UPLOAD_LIMIT),
            worker_silence=_seconds(values, "HAMTUNE_WORKER_SILENCE", DEFAULT_WORKER_SILENCE),
            keep_deleted=_keep_deleted(values),
            captures=_captures(values),
            cache=Path(values["HAMTUNE_CACHE"]) if values.get("HAMTUNE_CACHE") else None,
            cache_size=_size(values, "HAMTUNE_CACHE_SIZE", 0) or None,
            metrics_port=_positive(values, "HAMTUNE_METRICS_PORT"),
            auth=AuthSettings.from_environment(values),
            notify=NotifySettings.from_environment(values),
        )


def _data_directory(named: Path) -> Path:
    try:
        return named.expanduser().absolute()
    except RuntimeError:
        raise InvalidInput(
            f"{named} is under no home directory that is known here; name a data directory, "
            "or set HOME",
            field="HAMTUNE_DATA",
        ) from None


def with_secrets(values: Mapping[str, str]) -> Mapping[str, str]:
    """An environment in which the secrets kept in files are read.

    Raises:
        InvalidInput: A file cannot be read, or the secret is there twice.
    """
    read = dict(values)
    for name in SECRETS:
        file = f"{name}_FILE"
        if not values.get(file):
            continue
        if values.get(name):
            raise InvalidInput(f"is set as well as {name}; set one of them", field=file)
        try:
            read[name] = Path(values[file]).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{values[file]} cannot be read ({error})", field=file) from None
    return read


def _captures(values: Mapping[str, str]) -> CapturePolicy:
    limits = Limits()
    sandbox = values.get("HAMTUNE_CAPTURE_SANDBOX") or "on"
    if sandbox not in ("on", "off"):
        raise InvalidInput(f"{sandbox!r} is neither on nor off", field="HAMTUNE_CAPTURE_SANDBOX")
    return CapturePolicy(
        Limits(
            wall_seconds=_seconds(values, "HAMTUNE_CAPTURE_WALL", limits.wall_seconds),
            cpu_seconds=_seconds(values, "HAMTUNE_CAPTURE_CPU", limits.cpu_seconds),
            memory_bytes=_size(values, "HAMTUNE_CAPTURE_MEMORY", limits.memory_bytes),
            disk_bytes=_size(values, "HAMTUNE_CAPTURE_DISK", limits.disk_bytes),
            processes=_positive(values, "HAMTUNE_CAPTURE_PROCESSES") or limits.processes,
        ),
        sandbox=sandbox == "on",
    )


def _keep_deleted(values: Mapping[str, str]) -> float:
    if values.get("HAMTUNE_KEEP_DELETED", "").strip() == "0":
        return 0.0
    seconds = _seconds(values, "HAMTUNE_KEEP_DELETED", DEFAULT_KEEP_DELETED)
    if seconds > _LONGEST_KEEPING:
        raise InvalidInput("jobs are kept for 36500d at most", field="HAMTUNE_KEEP_DELETED")
    return seconds


def _seconds(values: Mapping[str, str], name: str, default: float) -> float:
    text = values.get(name)
    if not text:
        return default
    try:
        seconds = parse_duration(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=name) from error
    if seconds <= 0:
        raise InvalidInput(f"{text!r} is not a time above zero, such as 30min", field=name)
    return seconds


def _positive(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InvalidInput(f"{text!r} is not a whole number above zero", field=name)
    return int(text)


def _size(values: Mapping[str, str], name: str, default: int) -> int:
    text = values.get(name)
    if not text:
        return default
    try:
        size = parse_size(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=name) from error
    if size < 1:
        raise InvalidInput(f"{text!r} is not a size above zero, such as 512MiB", field=name)
    return size
