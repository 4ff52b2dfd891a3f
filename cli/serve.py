"""The processes of the service: all in one, or API, coordinators and workers apart."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from cli.client import SERVER_FILE
from cli.logs import log_level_option, log_to_stderr
from cli.options import data_option, example, say
from service.settings import Settings
from storage.messages import QUEUES

__all__ = ["COMMANDS"]

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)
port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)


@click.command(
    epilog=example(
        "hamtune up --data /srv/hamtune",
        "hamtune submit job.yaml --watch      (from another terminal)",
    )
)
@host_option
@port_option
@log_level_option("warning")
@data_option
def up(host: str, port: int, log_level: str, settings: Settings) -> int:
    """Start the service: API and workers in one process, over a data directory.

    Jobs that an earlier process left unfinished go on. Stop it with Ctrl-C; nothing is lost.
    """
    from service.processes import serve
    from service.runtime import Runtime
    from workers.scratch import scratch

    log_to_stderr(log_level)
    if not settings.embedded:
        say("hamtune: HAMTUNE_BROKER_URL is set; 'hamtune up' runs its own workers without it")
    runtime = Runtime(settings, run=True)
    with _graceful_termination() as serving:
        try:
            with runtime, scratch(), _announced(settings.data) as announce:

                def ready(url: str) -> None:
                    serving.set()
                    announce(url)

                serve(runtime, host, port, on_ready=ready)
        except KeyboardInterrupt:
            say(f"hamtune: stopped; unfinished jobs go on with 'hamtune up --data {settings.data}'")
            return 130
    return 0


@click.command(
    epilog=example(
        "export HAMTUNE_DATABASE_URL=postgresql+psycopg://hamtune@db/hamtune",
        "export HAMTUNE_BROKER_URL=redis://broker:6379/0 HAMTUNE_ARTIFACTS_URL=file:///shared",
        "hamtune api --port 8080",
    )
)
@host_option
@port_option
@log_level_option("info")
@data_option
def api(host: str, port: int, log_level: str, settings: Settings) -> int:
    """Start the REST interface alone; coordinators and workers are processes of their own.

    Database, broker and artifacts are named by HAMTUNE_DATABASE_URL, HAMTUNE_BROKER_URL and
    HAMTUNE_ARTIFACTS_URL.
    """
    from service.processes import run_api

    log_to_stderr(log_level)
    with _graceful_termination() as serving:

        def ready(url: str) -> None:
            serving.set()
            say(f"hamtune: serving {url}")

        try:
            run_api(settings, host, port, on_ready=ready)
        except KeyboardInterrupt:
            say("hamtune: stopped; coordinators and workers go on without the API")
            return 130
    return 0


@click.command(epilog=example("hamtune coordinator"))
@log_level_option("info")
@data_option
def coordinator(log_level: str, settings: Settings) -> int:
    """Drive jobs over a shared database and broker; any number of coordinators may run.

    Another coordinator takes over the jobs of one that dies. Set the same URLs as for
    'hamtune api'.
    """
    from service.processes import run_coordinator

    log_to_stderr(log_level)
    run_coordinator(settings)
    say("hamtune: coordinator stopped; its jobs go on with another one")
    return 0


def _queues(_context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    unknown = [name for name in names if name not in QUEUES]
    if unknown:
        allowed = ", ".join(QUEUES)
        message = f"'{unknown[0]}' is no queue; allowed: {allowed}"
        raise click.BadParameter(message, param=parameter)
    return names


@click.command(epilog=example("hamtune worker --concurrency 16 --queues evaluate"))
@click.option(
    "--concurrency",
    type=click.IntRange(1, 4096),
    help="Evaluations at once; one a core by default.",
)
@click.option(
    "--queues",
    metavar="NAMES",
    default=",".join(QUEUES),
    show_default=True,
    callback=_queues,
    help="What it does: evaluate trials, prepare jobs (which captures programs), or both.",
)
@log_level_option("info")
@data_option
def worker(
    concurrency: int | None, queues: tuple[str, ...], log_level: str, settings: Settings
) -> int:
    """Evaluate trials over a shared database and broker; any number of workers may run.

    Set the same URLs as for 'hamtune api'.
    """
    from service.processes import run_worker

    log_to_stderr(log_level)
    run_worker(settings, concurrency=concurrency, queues=queues)
    say("hamtune: worker stopped; trials it had not finished go to another one")
    return 0


COMMANDS = [up, api, coordinator, worker]


class _Announcer:
    """Says where the service is, to people and, in the data directory, to other commands."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, url: str) -> None:
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
        draft.replace(self._path)
        say(f"hamtune: serving {url}, data in {self._path.parent}; Ctrl-C stops")


@contextmanager
def _announced(data: Path) -> Iterator[_Announcer]:
    path = data / SERVER_FILE
    try:
        yield _Announcer(path)
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _graceful_termination() -> Iterator[threading.Event]:
    """Let SIGTERM, which uvicorn raises again once it has stopped, end the command in order.

    Yields:
        What to set once uvicorn hears the signal; before, it interrupts as Ctrl-C does.
    """
    serving = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        if not serving.is_set():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield serving
    finally:
        signal.signal(signal.SIGTERM, before)
