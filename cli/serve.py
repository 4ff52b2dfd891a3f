"""The processes of the service: all in one, or API, coordinators and workers apart."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from cli.announced import SERVER_FILE, announce
from cli.interrupts import EndRequest, interruptible
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

    Jobs that an earlier process left unfinished go on. Stop it with Ctrl-C; nothing is lost. Ctrl-C
    again ends it at once: trials under way are evaluated anew.
    """
    with interruptible() as stop:
        from service.processes import serve
        from service.runtime import Runtime
        from workers.scratch import scratch

        log_to_stderr(log_level)
        if not settings.embedded:
            say("hamtune: HAMTUNE_BROKER_URL is set; 'hamtune up' runs its own workers without it")
        with (
            Runtime(settings, run=True) as runtime,
            scratch(),
            _announced(settings.data, runtime.instance) as on_ready,
        ):
            serve(runtime, host, port, on_ready=on_ready, stop=stop)
    say(f"hamtune: stopped; unfinished jobs go on with 'hamtune up --data {settings.data}'")
    return _status(stop)


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
    with interruptible() as stop:
        from service.processes import run_api
        from service.retry import Stopped

        log_to_stderr(log_level)
        with suppress(Stopped):
            run_api(
                settings, host, port, stop=stop, on_ready=lambda url: say(f"hamtune: serving {url}")
            )
    say("hamtune: stopped; coordinators and workers go on without the API")
    return _status(stop)


@click.command(epilog=example("hamtune coordinator"))
@log_level_option("info")
@data_option
def coordinator(log_level: str, settings: Settings) -> int:
    """Drive jobs over a shared database and broker; any number of coordinators may run.

    Another coordinator takes over the jobs of one that dies. Set the same URLs as for
    'hamtune api'.
    """
    with interruptible() as stop:
        from service.processes import run_coordinator
        from service.retry import Stopped

        log_to_stderr(log_level)
        with suppress(Stopped):
            run_coordinator(settings, stop)
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
    with interruptible() as stop:
        from service.processes import run_worker
        from service.retry import Stopped

        log_to_stderr(log_level)
        with suppress(Stopped):
            run_worker(settings, stop, concurrency=concurrency, queues=queues)
    say("hamtune: worker stopped; trials it had not finished go to another one")
    return 0


COMMANDS = [up, api, coordinator, worker]


@contextmanager
def _announced(data: Path, instance: str) -> Iterator[Callable[[str], None]]:
    """What says where the service is, to people and, in the data directory, to other commands."""

    def say_where(url: str) -> None:
        announce(data, url, instance)
        say(f"hamtune: serving {url}, data in {data}; Ctrl-C stops")

    try:
        yield say_where
    finally:
        (data / SERVER_FILE).unlink(missing_ok=True)


def _status(stop: EndRequest) -> int:
    """Zero for whoever looks after processes and ends them by SIGTERM."""
    return 130 if stop.number == signal.SIGINT else 0
