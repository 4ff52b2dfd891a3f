"""`hamtune run`: a job to its end in this process, by the same code as the service."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli.agent import measuring_on_testbed
from cli.client import Client, connect, in_process, live_server
from cli.curves import POINTS, Curve
from cli.follow import follow
from cli.job_names import JobName
from cli.job_words import by_both_models, decided, describe, gained, timed
from cli.jobfile import JOB_FILE, create_job, read_job
from cli.loading import loading
from cli.options import data_option, example, json_option, print_json, say, target_option
from cli.text_charts import curve_text
from searchspace.errors import HamtuneError
from service.settings import Settings
from tuner.search_process import start_server

__all__ = ["COMMANDS"]

_PARTS = ("applications", "jobs", "results", "trials", "agents")
"""Of the service, what this command speaks to."""


@click.command(
    epilog=example(
        "hamtune run examples/quick.yaml",
        "hamtune run job.yaml --json > result.json     progress goes to stderr",
        "hamtune run --resume quick                    after Ctrl-C or a crash",
    )
)
@click.argument("job_file", type=JOB_FILE, metavar="JOB.yaml", required=False)
@target_option
@click.option(
    "--resume", metavar="J", type=JobName(), help="Continue this job instead of creating one."
)
@json_option
@data_option
def run(
    job_file: Path | None,
    target: str | None,
    resume: str | None,
    as_json: bool,
    settings: Settings,
) -> int:
    """Run a job to its end, without a server.

    Ctrl-C stops cleanly; `--resume` continues with the same trials as if nothing had happened.
    """
    if (job_file is None) == (resume is None):
        raise click.UsageError("give a job file, or --resume with a job, and not both")
    if target is not None and job_file is None:
        raise click.UsageError("--target goes with a job file")
    spec = None if job_file is None else read_job(job_file, target=target)
    if spec is not None:
        _refuse_scripts(spec.external)
    with _service(settings) as (client, drive, wait):
        if job_file is not None and spec is not None:
            job = create_job(client, spec, job_file.parent, job_file)
        else:
            job = client.find_job(str(resume))
            _refuse_scripts(job["spec"].get("external"))
            if job["state"] in ("paused", "pausing"):
                job = client.post(f"/jobs/{job['id']}/resume")
        drive(job["id"])
        try:
            with measuring_on_testbed(client, job):
                job = follow(client, job["id"], wait=wait)
        except KeyboardInterrupt:
            say(
                f"hamtune: stopped; continue with 'hamtune run --resume {job['id']}"
                f" --data {settings.data}'"
            )
            return 130
        return _report(client, job, as_json)


COMMANDS = [run]


@contextmanager
def _service(
    settings: Settings,
) -> Iterator[tuple[Client, Callable[[str], None], Callable[[float], object]]]:
    """A service over the data directory, what makes it run a job, and what waits for changes.

    It is the one that lives there, which runs its jobs by itself, or our own, which runs the job
    that it is asked to, and no other that may wait there.
    """
    if live_server(settings.data) is not None:
        with connect(None, settings) as client:
            say(
                f"hamtune: the service at {client.url} runs this data directory; the job goes there"
            )
            yield client, lambda _job_id: None, time.sleep
        return
    start_server()  # which imports OpenTuner while this process imports the service
    with loading():
        from service.runtime import Runtime
        from storage.notifications import Wakeup

        runtime = Runtime(settings, run=True, only_asked=True)
        client = in_process(runtime, parts=_PARTS)
    wakeup = Wakeup(lambda notification: notification.kind == "job")
    try:
        with runtime.storage.notifications.subscribed(wakeup.hear):
            yield client, runtime.drive, wakeup.wait
    finally:
        client.close()


def _refuse_scripts(external: str | None) -> None:
    """Refuse a job whose script would have nothing to talk to."""
    if external is not None:
        raise HamtuneError(
            f"external: {external} needs a service that a script can reach: 'hamtune up', then "
            "'hamtune submit' or 'hamtune resume'"
        )


def _report(client: Client, job: dict[str, Any], as_json: bool) -> int:
    best = client.get(f"/jobs/{job['id']}/best") if job["progress"]["best"] else None
    if as_json:
        print_json({"job": job, "best": best})
    elif best is not None:
        if not sys.stderr.isatty():  # where it was drawn all along
            convergence = client.get(f"/jobs/{job['id']}/convergence", points=POINTS)
            click.echo(curve_text(Curve.of(job["name"], convergence)) + "\n")
        click.echo(f"best  {timed(best)}, trial {best['trial']}")
        click.echo(f"      {gained(best)}")
        for line in decided(best):
            click.echo(f"      {line}")
        click.echo(f"      {describe(best['configuration'])}")
        for line in by_both_models(best):
            click.echo(f"      {line}")
    if job["state"] == "failed":
        raise HamtuneError(f"job {job['id']} failed: {job['error']}")
    if job["state"] == "completed" and best is None:
        raise HamtuneError(
            f"job {job['id']} ended without a single completed trial; "
            f"'hamtune show {job['id']}' shows what became of them"
        )
    return 0 if job["state"] == "completed" else 1
