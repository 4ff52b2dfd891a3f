"""`hamtune measure`: a script of the user's measures what a job asks for."""

from __future__ import annotations

import platform
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from cli.client import Client, ConnectionBroken, connect, live_server
from cli.interrupts import EndRequest, interruptible
from cli.job_names import job_argument
from cli.keys import seconds_of
from cli.options import command_argument, example, json_option, print_json, say, server_option
from measuring.user_script import Measured
from measuring.user_script import measure as run_script
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.units import format_duration
from service.settings import Settings
from storage.records import FINAL_JOB_STATES

__all__ = ["COMMANDS"]

T = TypeVar("T")

_ASK_SECONDS = 2.0
"""For which the service keeps us waiting where there is no trial: Ctrl-C waits as long."""
_PATIENCE_SECONDS = 60.0
"""How long a service may be away before measuring ends."""
_PAUSE_SECONDS = 0.5
_LEASE_SECONDS = 3600.0


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=example(
        "hamtune measure cg-64 -- ./measure.sh --runs 3",
        "hamtune measure cg-64 --parallel 4 --timeout 10min -- python3 measure.py",
    ),
)
@job_argument()
@click.option(
    "--parallel", type=click.IntRange(1, 64), default=1, show_default=True,
    help="Configurations measured at once; the job's batch says how many there are.",
)  # fmt: skip
@click.option(
    "--timeout", metavar="TIME", callback=seconds_of,
    help="When a run of the script is ended, such as 10min: the trial has failed.",
)  # fmt: skip
@click.option(
    "--lease", metavar="TIME", callback=seconds_of,
    help="For how long nobody else is given what is being measured; 1h by default.",
)  # fmt: skip
@command_argument("hamtune measure J -- SCRIPT ARGUMENTS", metavar="-- SCRIPT...", required=True)
@json_option
@server_option
def measure(
    job: str,
    parallel: int,
    timeout: float | None,
    lease: float | None,
    command: tuple[str, ...],
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> int:
    """Have a script measure the configurations that a job asks for, until the job has ended.

    The job has 'external: measurements' in its file. SCRIPT is run for each configuration, which it
    has as JSON on standard input, and in the file that HAMTUNE_CONFIGURATION names. The last line
    that it prints is what the configuration took, in seconds; with another exit status than 0 the
    trial has failed. Ctrl-C hands back what is being measured: the same command goes on.
    """
    if shutil.which(command[0]) is None:
        raise click.UsageError(f"'{command[0]}' is no program that can be run here")
    if server is None and live_server(settings.data) is None:
        raise HamtuneError(
            f"no service runs over {settings.data}; start one with 'hamtune up', or name one with "
            "--server"
        )
    with connect(server, settings) as client, interruptible() as end:
        found = client.find_job(job)
        measuring = _Measuring(client, found["id"], command, end, timeout, lease or _LEASE_SECONDS)
        measuring.run(parallel)
        ended = _patiently(lambda: client.get(f"/jobs/{found['id']}"))
    return _report(ended, as_json, interrupted=end.number is not None)


COMMANDS = [measure]


@dataclass
class _Measuring:
    """Asks for trials of a job and measures them, until the job or the user has ended that."""

    client: Client
    job_id: str
    command: Sequence[str]
    end: EndRequest
    timeout: float | None
    lease: float

    def run(self, parallel: int) -> None:
        """Measure, so many trials at once.

        Raises:
            HamtuneError: The service refuses, or the script is none.
        """
        self._failures: list[Exception] = []
        self._over = threading.Event()  # nothing more is asked
        self._stop = threading.Event()  # and what is being measured is handed back
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                if self.end.number is not None:
                    self._over.set()
                    self._stop.set()
        if self._failures:
            raise self._failures[0]

    def _work(self) -> None:
        try:
            while not self._over.is_set():
                asked = self._ask()
                if asked is None:
                    return
                for trial in asked:
                    self._measure(trial)
        except Exception as error:  # or a thread would end without a word
            self._failures.append(error)
            self._over.set()
            if isinstance(error, InvalidInput):  # the script is none
                self._stop.set()

    def _ask(self) -> list[dict[str, Any]] | None:
        """A trial to measure, or none now; None where there is no other."""
        name = platform.node()
        body = {
            "most": 1,
            "asker": name if name and name.isascii() and name.isprintable() else "script",
            "seconds": self.lease,
            "wait": _ASK_SECONDS,
        }
        key = {"Idempotency-Key": uuid.uuid4().hex}  # asked again, it is the same trial
        path = f"/jobs/{self.job_id}/ask"
        answer = _patiently(lambda: self.client.post(path, body, headers=key))
        if not answer["items"] and answer["job_state"] in FINAL_JOB_STATES:
            return None
        return list(answer["items"])

    def _measure(self, trial: dict[str, Any]) -> None:
        here = f"/jobs/{self.job_id}/trials/{trial['trial']}"
        attempt = {"attempt": trial["attempt"]}
        environment = {
            "HAMTUNE_JOB": self.job_id,
            "HAMTUNE_TRIAL": str(trial["trial"]),
            "HAMTUNE_SERVER": self.client.url,  # the script may ask for the trial's files
        }
        if trial["cutoff"] is not None:
            environment["HAMTUNE_CUTOFF"] = repr(trial["cutoff"])
        told: Measured | None = None
        try:
            told = run_script(
                self.command,
                trial["configuration"],
                environment,
                self._stop,
                most_seconds=self.timeout,
            )
        finally:
            if told is None:  # stopped, or the script is none: nothing is known of the trial
                _patiently(lambda: self.client.post(f"{here}/release", attempt))
        if told is not None:
            self._tell(here, trial, told)

    def _tell(self, here: str, trial: dict[str, Any], told: Measured) -> None:
        outcome: dict[str, Any] = (
            {"status": "failed", "reason": told.reason}
            if told.seconds is None
            else {"status": "completed", "value": told.seconds}
        )
        document = {"attempt": trial["attempt"], **outcome}
        name = f"trial {trial['trial']}" + (f" ({trial['label']})" if trial["label"] else "")
        try:
            _patiently(lambda: self.client.post(f"{here}/tell", document))
        except ConnectionBroken:
            raise
        except HamtuneError as error:  # somebody else has it, or the job was cancelled
            say(f"hamtune: {name} does not count: {error}")
            return
        first = (told.reason or "").splitlines()
        say(f"{name}: {f'failed: {first[0]}' if first else format_duration(told.seconds or 0.0)}")


def _patiently(call: Callable[[], T]) -> T:
    """What a call answers that may be repeated; a service that is started again is waited for.

    Raises:
        HamtuneError: The service refuses, or has been away for a minute.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return call()
        except ConnectionBroken:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)


def _report(job: dict[str, Any], as_json: bool, *, interrupted: bool) -> int:
    if as_json:
        print_json(job)
    if job["state"] not in FINAL_JOB_STATES:
        say("hamtune: what was being measured was handed back; the same command goes on")
        return 130 if interrupted else 1
    best = job["progress"]["best"]
    if best is not None and not as_json:
        click.echo(f"best: {format_duration(best['value'])}, trial {best['trial']}")
    if job["state"] != "completed":
        why = f": {job['error']}" if job["error"] else ""
        say(f"hamtune: job {job['id']} is {job['state']}{why}")
    return 0 if job["state"] == "completed" else 1
