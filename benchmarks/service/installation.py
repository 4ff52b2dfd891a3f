"""PostgreSQL, Redis, API, coordinators and workers on this machine, and what they use of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from deploy import servers
from storage.storage import Storage

ROOT = Path(__file__).resolve().parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")
_STOP_SECONDS = 30.0


@dataclass
class Part:
    """A process of the product, with those that it starts."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds used until now, of processes that are gone as well."""
        return cpu_seconds(self.process.pid)

    def stop(self) -> None:
        """Ask it to end and wait for that."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Installation:
    """A whole installation in a directory. All that it started ends with its context."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self._directory = directory
        self._stack = stack
        self.postgresql = stack.enter_context(servers.PostgreSQL(durable=True))
        self.redis = stack.enter_context(servers.Redis())
        artifacts = (directory / "artifacts").as_uri()
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HAMTUNE_")
        } | {
            "PYTHONPATH": str(ROOT),
            "HAMTUNE_DATA": str(directory / "data"),
            "HAMTUNE_DATABASE_URL": self.postgresql.url,
            "HAMTUNE_BROKER_URL": self.redis.url,
            "HAMTUNE_ARTIFACTS_URL": artifacts,
        }
        self.storage = Storage.open(self.postgresql.url, artifacts)
        stack.callback(self.storage.close)
        self.storage.upgrade()
        port = stack.enter_context(servers.ReservedPort()).number
        self.url = f"http://127.0.0.1:{port}/api/v1"
        self.api = self.start("api", "--port", str(port))
        self.wait_for(self._answers, "the API did not start")

    def start(self, *command: str, prefix: Sequence[str] = ()) -> Part:
        """Start `hamtune COMMAND` beside the servers, or where a prefix leads."""
        log = self._directory / f"{command[0]}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "cli", *command],
                cwd=self._directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        part = Part(process, log)
        self._stack.callback(part.stop)
        return part

    def workers(
        self,
        count: int,
        *,
        queues: str = "evaluate,prepare",
        prefixes: Sequence[Sequence[str]] = (),
    ) -> list[Part]:
        """Start workers and wait until they are registered; those with a prefix where it leads."""
        before = self._living("worker")
        command = ("worker", "--concurrency", "1", "--queues", queues)
        places = [*prefixes, *[()] * (count - len(prefixes))]
        parts = [self.start(*command, prefix=place) for place in places]
        self.wait_for(lambda: self._living("worker") >= before + count, "the workers did not start")
        return parts

    def _living(self, kind: str) -> int:
        return sum(one.kind == kind for one in self.storage.processes.living())

    def submit(self, job: dict[str, Any]) -> str:
        """Create a job; its id."""
        answer = httpx.post(f"{self.url}/jobs", json=job, timeout=60.0)
        answer.raise_for_status()
        return str(answer.json()["id"])

    def finish(self, job_ids: Sequence[str], seconds: float = 120.0) -> None:
        """Wait until jobs have completed.

        Raises:
            RuntimeError: One failed, or they take too long.
        """

        def completed() -> bool:
            jobs = [self.storage.jobs.get(job_id) for job_id in job_ids]
            for job in jobs:
                if job.state in ("failed", "cancelled"):
                    raise RuntimeError(f"job {job.name} {job.state}: {job.error}")
            return all(job.state == "completed" for job in jobs)

        self.wait_for(completed, "the jobs do not end", seconds)

    def wait_for(self, happened: Callable[[], bool], failure: str, seconds: float = 60.0) -> None:
        """Look every 50 ms until something has happened.

        Raises:
            RuntimeError: It takes too long.
        """
        deadline = time.monotonic() + seconds
        while not happened():
            if time.monotonic() > deadline:
                raise RuntimeError(failure)
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/jobs").is_success
        except httpx.TransportError:
            return False


@contextmanager
def installation(directory: Path) -> Iterator[Installation]:
    """An installation with an API; coordinators and workers are started by who needs them."""
    with ExitStack() as stack:
        yield Installation(directory, stack)


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and its descendants, also of those that were waited for."""
    total = 0
    for one in _tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree
