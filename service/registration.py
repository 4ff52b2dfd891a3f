"""The handshake of the processes of a service: who does not fit the others does not serve."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from searchspace.errors import HamtuneError
from service.operations.tracing import traced
from service.retry import retrying
from service.version import VERSION
from storage.identifiers import new_id
from storage.messages import CONTRACT
from storage.processes import PROCESS_SILENCE_SECONDS
from storage.records import ProcessKind
from storage.storage import Storage

__all__ = ["registered"]

_BEAT_SECONDS = PROCESS_SILENCE_SECONDS / 3

log = logging.getLogger("hamtune.service")


@contextmanager
def registered(
    storage: Storage,
    kind: ProcessKind,
    *,
    until: threading.Event,
    simulator: str | None = None,
    concurrency: int | None = None,
    metrics_port: int | None = None,
) -> Iterator[None]:
    """Within the block, this process is known to serve the database.

    Args:
        storage: The database.
        kind: What it is.
        until: Wait for a database that is away until this is set.
        simulator: The version with which a worker simulates.
        concurrency: How many evaluations a worker makes at once.
        metrics_port: Where a process without an HTTP interface serves its metrics, on loopback.

    Raises:
        Stopped: It was set before.
        Conflict: It does not fit a process that serves already.
    """
    name = f"{socket.gethostname()}-{os.getpid()}-{new_id()}"
    retrying(
        partial(
            storage.processes.register,
            name,
            kind,
            version=VERSION,
            contract=CONTRACT,
            simulator=simulator,
            concurrency=concurrency,
        ),
        until=until,
    )
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(_BEAT_SECONDS):
            try:
                storage.processes.beat(name)
            except HamtuneError as error:
                log.debug("cannot say that this process lives: %s", error)
            except Exception:  # a process that said nothing any more would count as gone
                log.exception("cannot say that this process lives")

    thread = threading.Thread(target=beat, name="registration", daemon=True)
    thread.start()
    try:
        with traced(kind, os.environ), _metrics(metrics_port):
            yield
    finally:
        ended.set()
        thread.join()
        try:
            storage.processes.forget(name)
        except HamtuneError as error:
            log.debug("cannot say that this process ends: %s", error)


@contextmanager
def _metrics(port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    from service.operations.metrics import serve_metrics

    try:
        server = serve_metrics(port)
    except OSError as error:
        raise HamtuneError(f"metrics cannot be served on port {port}: {error.strerror}") from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
