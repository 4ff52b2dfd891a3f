"""The processes of the service: everything in one, or API, coordinator and workers apart."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import threading
from collections.abc import Callable, Sequence

import uvicorn
from fastapi import FastAPI

from searchspace.errors import HamtuneError, InvalidInput
from service.app import create_app
from service.binding import LOOPBACK_NAMES, check_host
from service.registration import registered
from service.runtime import Runtime, coordinator_for, open_storage, process_name
from service.settings import Settings
from service.slow_clients import TimedConnection, close_slow
from service.subscriptions.sender import sending
from service.trash.emptying import emptying
from storage.messages import QUEUES
from workers import process
from workers.celery_app import await_broker, make_app
from workers.simulator_client import simulator_version

__all__ = ["run_api", "run_coordinator", "run_worker", "serve"]

GRACE_SECONDS = 5
_TICKS_A_SECOND = 10  # of Uvicorn

log = logging.getLogger("hamtune.service")


def serve(
    runtime: Runtime,
    host: str,
    port: int,
    *,
    on_ready: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Serve a started runtime over HTTP until SIGINT or SIGTERM, which it handles meanwhile.

    Args:
        runtime: Started; the caller stops it.
        host: Address to listen on; only loopback, unless the settings ask for keys.
        port: Port to listen on; 0 takes a free one.
        on_ready: Called with the URL once requests are answered.
        stop: If it is set already, nothing is served: a signal came before.

    Raises:
        InvalidInput: The address is not loopback or the port is out of range.
        HamtuneError: The port is taken.
    """
    auth = runtime.settings.auth
    check_host(host, authenticates=auth.required)
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listener.getsockname()[1]}"
    app = create_app(runtime, hosts=auth.hosts if auth.required else LOOPBACK_NAMES)
    configuration = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        http=TimedConnection,
        ws="none",
        # Only a proxy that was named says who its callers are; anybody here could say so.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS") or [],
    )
    with listener:
        ready = (lambda: on_ready(url)) if on_ready else (lambda: None)
        _Server(configuration, app, ready, stop).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Uvicorn that tells when it is ready, drops slow clients, and ends streams as it ends."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        ready: Callable[[], None],
        stop: threading.Event | None,
    ) -> None:
        super().__init__(config)
        self._app = app
        self._ready = ready
        self._stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # From here on it hears signals itself.
        if self._stop is not None and self._stop.is_set():
            self.should_exit = True
            return
        # What is loaded stays; to look through it for garbage would hold up requests every now and
        # then by a quarter of a second.
        gc.freeze()
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_A_SECOND == 0:
            now = asyncio.get_running_loop().time()
            closed = close_slow(list(self.server_state.connections), now)
            if closed:
                log.info("closed %d connections of slow clients", closed)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.feed.close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InvalidInput(f"{port} is not a port; use 0 to 65535", field="port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise HamtuneError(f"cannot listen on {host} port {port}: {error.strerror}") from None


def run_api(
    settings: Settings,
    host: str,
    port: int,
    *,
    stop: threading.Event,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the REST interface alone; coordinators and workers run elsewhere.

    Args:
        settings: Where things are.
        host: See `serve`.
        port: See `serve`.
        stop: Set by a signal that comes before it serves.
        on_ready: See `serve`.

    Raises:
        Stopped: A signal came before the database was there.
        InvalidInput: There is no broker URL, or the address cannot be used.
    """
    _need_broker(settings)
    with (
        Runtime(settings, until=stop) as runtime,
        registered(runtime.storage, "api", until=stop),
    ):
        serve(runtime, host, port, on_ready=on_ready, stop=stop)


def run_coordinator(settings: Settings, stop: threading.Event) -> None:
    """Drive jobs until told to stop; any number of coordinators may run.

    Raises:
        Stopped: It was told so before the database was there.
        InvalidInput: There is no broker URL.
    """
    broker = _need_broker(settings)
    storage = open_storage(settings, until=stop)
    try:
        with registered(storage, "coordinator", until=stop, metrics_port=settings.metrics_port):
            app = make_app(broker)
            await_broker(app, stop)
            log.info("waiting for jobs")
            with emptying(storage), sending(storage, settings.notify, process_name()):
                coordinator_for(storage, app, settings.worker_silence).serve(stop)
    finally:
        storage.close()


def run_worker(
    settings: Settings,
    stop: threading.Event,
    *,
    concurrency: int | None = None,
    queues: Sequence[str] = tuple(QUEUES),
) -> None:
    """Evaluate trials until told to stop; any number of workers may run.

    Args:
        settings: Where things are.
        stop: Tells it.
        concurrency: Evaluations at once; by default of the settings, or one a core.
        queues: Of `storage.messages.QUEUES`, those that it listens to.

    Raises:
        Stopped: It was told so before the database was there.
        InvalidInput: There is no broker URL.
        SimulatorError: There is no simulator of this version.
        Conflict: It does not fit the workers that are there.
    """
    broker = _need_broker(settings)
    version = simulator_version()
    storage = open_storage(settings, until=stop)
    at_once = concurrency or settings.concurrency or os.cpu_count() or 1
    try:
        with registered(
            storage,
            "worker",
            until=stop,
            simulator=version,
            concurrency=at_once,
            metrics_port=settings.metrics_port,
        ):
            process.run_worker(
                storage,
                broker,
                stop,
                concurrency=at_once,
                policy=settings.captures,
                queues=[QUEUES[queue] for queue in queues],
            )
    finally:
        storage.close()


def _need_broker(settings: Settings) -> str:
    if settings.broker_url is None:
        raise InvalidInput(
            "separate processes meet at a broker: set HAMTUNE_BROKER_URL, such as "
            "redis://localhost:6379/0, or run everything in one process with `hamtune up`",
        )
    return settings.broker_url
