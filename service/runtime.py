"""What runs behind the service: storage always; workers and coordinator when embedded."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from contextlib import ExitStack

from celery import Celery

from service.datalock import DataLock
from service.retry import retrying
from service.settings import Settings
from service.trash.emptying import emptying
from storage.identifiers import new_id
from storage.storage import Storage
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence
from workers.celery_app import make_app, waiting_messages
from workers.embedded import EmbeddedPool

__all__ = ["Runtime", "coordinator_for", "open_storage", "process_name"]

log = logging.getLogger("hamtune.service")


class Runtime:
    """Storage and, when the settings have no broker, a pool of workers and a coordinator.

    Jobs that an earlier process left unfinished go on when an embedded runtime starts.

    Attributes:
        instance: What it is called, and no other one: commands know the service over a data
            directory by it.

    Args:
        settings: Where things are.
        run: Whether to run jobs; by default if the settings are embedded. False leaves that to
            another process and only opens the storage.
        only_asked: Run no other jobs than those that `drive` is called for.
        until: Wait for a database that is away at the start until this is set.

    Example:
        >>> with Runtime(Settings.under(Path("data"))) as runtime:
        ...     runtime.storage.jobs.page()
    """

    def __init__(
        self,
        settings: Settings,
        *,
        run: bool | None = None,
        only_asked: bool = False,
        until: threading.Event | None = None,
    ) -> None:
        self.settings = settings
        self.instance = uuid.uuid4().hex
        self._run = settings.embedded if run is None else run
        self._only_asked = only_asked
        self._until = until
        self._storage: Storage | None = None
        self._coordinator: Coordinator | None = None
        self._coordinating: list[threading.Thread] = []
        self._stop = threading.Event()
        self._resources = ExitStack()

    @property
    def started(self) -> bool:
        """Whether it is at work."""
        return self._storage is not None

    @property
    def storage(self) -> Storage:
        """The open storage."""
        assert self._storage is not None, "the runtime is not started"
        return self._storage

    def start(self) -> None:
        """Open the storage, bring its tables up to date, and go to work.

        Raises:
            DataDirectoryInUse: Another embedded runtime works on the data directory.
            Stopped: `until` was set before the database was there.
        """
        with ExitStack() as started:
            if self._run:
                started.enter_context(DataLock(self.settings.data))
            storage = open_storage(self.settings, until=self._until)
            started.callback(storage.close)
            if self._run:
                self._start_workers(storage, started)
            self._storage = storage
            self._resources = started.pop_all()

    def stop(self) -> None:
        """Stop cleanly: open trials stay open and go on at the next start."""
        self._resources.close()
        self._storage = None

    def drive(self, job_id: str) -> None:
        """Run this job whenever it is active, until the runtime stops (see `only_asked`)."""
        self._coordinate(job_id)

    def _start_workers(self, storage: Storage, started: ExitStack) -> None:
        if self.settings.private:
            storage.preparations.void()  # of earlier processes, which are dead
            storage.deliveries.void_claims()
        app = make_app("memory://")
        pool = EmbeddedPool(
            app,
            self.settings.concurrency,
            storage=storage,
            policy=self.settings.captures,
            only_named=self._only_asked,
        )
        pool.start()
        started.callback(pool.stop)
        self._coordinator = coordinator_for(
            storage, app, self.settings.worker_silence, embedded=self.settings.private
        )
        self._stop.clear()
        started.callback(self._end_coordinating, storage)
        if not self._only_asked:
            self._coordinate(None)
            # What speaks TLS and SMTP takes its time to load, which `hamtune run` need not pay.
            from service.subscriptions.sender import sending

            started.enter_context(sending(storage, self.settings.notify, process_name()))
            started.enter_context(emptying(storage))

    def _coordinate(self, only: str | None) -> None:
        assert self._coordinator is not None, "the runtime runs no jobs"
        thread = threading.Thread(
            target=self._coordinator.serve,
            args=(self._stop,),
            kwargs={"only": only},
            name="coordinator",
            daemon=True,
        )
        thread.start()
        self._coordinating.append(thread)

    def _end_coordinating(self, storage: Storage) -> None:
        self._stop.set()
        storage.notifications.announce([None])  # which ends their waiting for notifications
        for thread in self._coordinating:
            thread.join()
        self._coordinating.clear()
        self._coordinator = None

    def __enter__(self) -> Runtime:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()


def open_storage(settings: Settings, *, until: threading.Event | None = None) -> Storage:
    """Open the storage that the settings name, its tables brought up to date.

    Args:
        settings: Where it is.
        until: Wait for a database that is away until this is set, instead of a moment.

    Raises:
        Unavailable: The database is away.
        Stopped: `until` was set before the database was there.
    """
    storage = Storage.open(
        settings.database_url,
        settings.artifacts_url,
        cache=settings.cache,
        cache_bytes=settings.cache_size,
    )
    try:
        retrying(storage.upgrade, until=until)
    except BaseException:
        storage.close()
        raise
    return storage


def coordinator_for(
    storage: Storage, app: Celery, worker_silence: float, *, embedded: bool = False
) -> Coordinator:
    """A coordinator that dispatches through Celery; its name tells host and process.

    Args:
        storage: Where jobs are.
        app: From `make_app`.
        worker_silence: Seconds without a sign of life after which a worker is given up.
        embedded: All coordinators and workers live in this process.
    """

    def dispatch(task: str, identifier: str) -> None:
        app.send_task(task, args=(identifier,))

    def backlog() -> int:
        return waiting_messages(app)

    silence = Silence(running_seconds=worker_silence)
    return Coordinator(
        storage, dispatch, process_name(), silence=silence, backlog=backlog, embedded=embedded
    )


def process_name() -> str:
    """A name that nobody else has; process numbers come again, in containers at once."""
    return f"{socket.gethostname()}-{os.getpid()}-{new_id()}"
