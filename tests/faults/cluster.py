"""A whole installation on this machine: servers and processes that may be killed and come back."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy import servers
from deploy.remote import Remote

ROOT = Path(__file__).resolve().parents[2]
SILENCE_SECONDS = 7.0
"""After which a worker is given up; two heartbeats and more."""
MARK = "HAMTUNE_TEST_INSTALLATION"
"""A variable by which all processes of an installation are found, orphans as well."""


@dataclass
class Process:
    """A `hamtune` process that is started again whenever it has died."""

    name: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    directory: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    logged: int = 0
    """Bytes of the log from before its last start."""
    prefix: tuple[str, ...] = ()
    """What runs the command elsewhere."""
    may_end: bool = False
    """Whether a fault that it met before it had begun may end it, late as well."""
    in_hands: threading.Lock = field(default_factory=threading.Lock)
    """Of whoever ends it and starts it again: two that start it would leave one behind."""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def log(self) -> Path:
        return self.directory / f"{self.name}.log"

    def start(self) -> None:
        self.may_end = False
        with self.log.open("ab") as output:
            self.logged = output.tell()
            self.process = subprocess.Popen(
                [
                    *self.prefix,
                    *(str(ROOT / ".venv/bin/python"), "-X", "faulthandler", "-m", "cli"),
                    *self.arguments,
                ],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.starts += 1

    def says(self, words: str) -> bool:
        """Whether it has logged this since its last start."""
        return words.encode() in self.log.read_bytes()[self.logged :]

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self.process is not None and self.process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None and not self.has_ended():
            self.process.send_signal(number)

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def stop(self, seconds: float = 300.0) -> int:
        """Ask it to end; its exit status. One that does not end shows where it is."""
        assert self.process is not None
        if self.may_end and self.has_ended():
            return 0
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGABRT)
            self.process.wait()
            raise AssertionError(self.log.read_text()[-20_000:]) from None


@dataclass
class Installation:
    """PostgreSQL, Redis, an API, coordinators and workers."""

    directory: Path
    postgresql: servers.PostgreSQL
    redis: servers.Redis
    remote: Remote
    """Where the first worker runs."""
    api: Process
    coordinators: list[Process]
    workers: list[Process]
    url: str
    mark: str
    offset: Path
    """How far the clocks of some processes are off."""
    events: list[str] = field(default_factory=list)

    @property
    def processes(self) -> list[Process]:
        return [self.api, *self.coordinators, *self.workers]

    def start_again(self) -> None:
        """Start those that ended as they may, as whoever looks after them does."""
        for one in self.processes:
            if one.in_hands.acquire(blocking=False):
                try:
                    if one.may_end and one.has_ended():
                        one.start()
                finally:
                    one.in_hands.release()

    def set_clocks(self, seconds: int) -> None:
        """Put those clocks that may go wrong off by so much."""
        with self.offset.open("r+b") as file:
            file.write(struct.pack("q", seconds))

    def get(self, path: str, **query: Any) -> Any:
        """A document of the API, however often it must be asked."""
        return self._ask(lambda: httpx.get(f"{self.url}{path}", params=query, timeout=30.0))

    def submit(self, job: dict[str, Any]) -> str:
        """Create a job, once, however often the API must be asked; its id."""
        headers = {"Idempotency-Key": f"{self.mark}-{job['seed']}"}
        made = self._ask(
            lambda: httpx.post(f"{self.url}/jobs", json=job, headers=headers, timeout=30.0)
        )
        return str(made["id"])

    def _ask(self, request: Callable[[], httpx.Response], seconds: float = 600.0) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                answer = request()
                # A service whose database is away says so; all other refusals are mistakes.
                if answer.status_code not in (500, 502, 503):
                    assert answer.status_code < 300, answer.text
                    return answer.json()
                assert answer.status_code == 503, answer.text
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, "the API does not come back"
            time.sleep(0.1)

    def left_running(self, seconds: float = 120.0) -> list[str]:
        """The commands of all its processes that do not end within so many seconds."""
        deadline = time.monotonic() + seconds
        while (found := self._running()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def _running(self) -> list[str]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append(f"{folder.name} {command}")
            except OSError:
                continue
        return found


@contextmanager
def installation(
    directory: Path, *, workers: int = 2, coordinators: int = 2
) -> Iterator[Installation]:
    """Start everything in a directory; all is ended with the block."""
    mark = f"{os.getpid()}-{directory.name}"
    scratch = directory / "tmp"
    scratch.mkdir()
    offset = directory / "clock"
    offset.write_bytes(struct.pack("q", 0))
    with ExitStack() as stack:
        postgresql = stack.enter_context(servers.PostgreSQL())
        redis = stack.enter_context(servers.Redis())
        remote = stack.enter_context(Remote([postgresql.port, redis.port]))
        base = {
            name: value for name, value in os.environ.items() if not name.startswith("HAMTUNE_")
        }
        base |= {
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(scratch),
            MARK: mark,
            "HAMTUNE_DATA": str(directory / "data"),
            "HAMTUNE_DATABASE_URL": postgresql.url,
            "HAMTUNE_BROKER_URL": redis.url,
            "HAMTUNE_ARTIFACTS_URL": (directory / "artifacts").as_uri(),
            "HAMTUNE_WORKER_SILENCE": f"{SILENCE_SECONDS}s",
        }
        clock = {"LD_PRELOAD": str(_clock(directory)), "HAMTUNE_TEST_CLOCK": str(offset)}

        def process(name: str, *arguments: str, **more: str) -> Process:
            started = Process(name, arguments, base | more, directory)
            stack.callback(started.kill)
            return started

        port = stack.enter_context(servers.ReservedPort()).number
        made = Installation(
            directory=directory,
            postgresql=postgresql,
            redis=redis,
            remote=remote,
            api=process("api", "api", "--port", str(port)),
            coordinators=[
                process(f"coordinator-{i}", "coordinator", **(clock if i == 0 else {}))
                for i in range(coordinators)
            ],
            workers=[
                process(f"worker-{i}", "worker", "--concurrency", "1") for i in range(workers)
            ],
            url=f"http://127.0.0.1:{port}/api/v1",
            mark=mark,
            offset=offset,
        )
        # One worker is on a machine of its own; another's clock may go wrong.
        made.workers[0].prefix = remote.prefix
        made.workers[-1].environment = base | clock
        made.api.start()
        made.get("/jobs")  # which has brought the tables up to date
        for one in (*made.coordinators, *made.workers):
            one.start()
        yield made


def _clock(directory: Path) -> Path:
    library = directory / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library
