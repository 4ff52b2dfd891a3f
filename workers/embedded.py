"""A Celery worker inside a process: threads that evaluate, without signal handlers or logging."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery import Celery
from celery.concurrency.thread import TaskPool
from celery.exceptions import WorkerShutdown
from celery.worker import WorkController, state
from celery.worker.consumer import Consumer
from celery.worker.loops import synloop

from storage.storage import Storage
from workers import memory_broker
from workers.capture_limits import CapturePolicy
from workers.tasks import Work, register

__all__ = ["EmbeddedPool"]

_LISTEN_SECONDS = 0.5  # after which one looks up that was woken just before it began to wait


class EmbeddedPool:
    """Evaluates what an application's queue brings, in threads of this process.

    One evaluation keeps one core busy with its simulator process, so there are as many threads as
    cores by default.

    Args:
        app: From `make_app`; with `memory://`, the very object that the coordinator sends with.
        concurrency: Evaluations at once; None for the number of cores.
        storage: Where attempts and jobs are read and outcomes are written.
        policy: What captures may do.
        queues: Which queues it listens to (`storage.messages.QUEUES`); None for all.
        only_named: Evaluate only trials of the jobs that messages name, and of no others that wait.

    Example:
        >>> with EmbeddedPool(make_app("memory://"), storage=storage):
        ...     coordinator.run_job(job)
    """

    def __init__(
        self,
        app: Celery,
        concurrency: int | None = None,
        *,
        storage: Storage,
        policy: CapturePolicy | None = None,
        queues: Sequence[str] | None = None,
        only_named: bool = False,
    ) -> None:
        self._app = app
        self._queues = None if queues is None else list(queues)
        self._concurrency = concurrency or os.cpu_count() or 1
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._storage = storage
        self._policy = policy
        self._only_named = only_named
        self._work: Work | None = None
        self._worker: WorkController | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Begin to listen; returns at once, also while the broker cannot be reached yet."""
        assert self._thread is None, "the pool has been started"
        self._stopping.clear()
        self._work = register(
            self._app,
            self._storage,
            self._name,
            self._concurrency,
            self._policy,
            only_named=self._only_named,
        )
        self._worker = WorkController(
            app=self._app,
            hostname=f"{self._name}@{socket.gethostname()}",
            pool=_Threads,
            concurrency=self._concurrency,
            queues=self._queues,
            consumer_cls=_listening_until(self._stopping),
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self._thread = threading.Thread(target=self._worker.start, name="workers", daemon=True)
        self._thread.start()

    @property
    def listens(self) -> bool:
        """Whether it still takes work; no more once its consumer has failed for good."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self, *, grace_seconds: float = 0.0) -> None:
        """End: take no more, and hand back what is under way, so that others do it.

        Args:
            grace_seconds: Time in which evaluations under way may still come to their end.
        """
        if self._thread is None:
            return
        assert self._work is not None
        assert self._worker is not None
        self._work.stop(abandon=grace_seconds <= 0.0)
        self._stopping.set()
        memory_broker.wake()
        if self._worker.hub is not None:
            state.should_stop = 0  # also heard while the broker cannot be reached
            self._worker.hub.call_soon(lambda: None)
        self._thread.join(max(0.0, grace_seconds))
        self._work.stop(abandon=True)
        self._thread.join()
        state.should_stop = None
        self._work.close()
        self._thread = None

    def __enter__(self) -> EmbeddedPool:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class _Threads(TaskPool):  # type: ignore[misc]
    """Threads that look tasks up in the application of their own worker.

    Celery's look in the current application, of which a new thread has none.
    """

    def __init__(self, *positional: Any, **options: Any) -> None:
        super().__init__(*positional, **options)
        self.executor = ThreadPoolExecutor(self.limit, "worker", initializer=self.app.set_current)


def _listening_until(stopping: threading.Event) -> type[Consumer]:
    """A consumer whose thread ends itself soon after the event is set.

    Celery's own ways to end a worker are signals and a flag that all workers of a process share,
    which will do for a process of its own. Embedded ones are woken (`memory_broker.wake`) and end
    one by one.
    """

    class Connection:
        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def drain_events(self, timeout: float) -> Any:
            if stopping.is_set():
                raise WorkerShutdown(0)
            return self._connection.drain_events(timeout=min(timeout, _LISTEN_SECONDS))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

    def listen(obj: Any, connection: Any, *rest: Any, **options: Any) -> None:
        synloop(obj, Connection(connection), *rest, **options)

    class EndingConsumer(Consumer):  # type: ignore[misc]
        def __init__(self, *positional: Any, **options: Any) -> None:
            if options.get("hub") is None:
                self.loop = listen
            super().__init__(*positional, **options)

    return EndingConsumer
