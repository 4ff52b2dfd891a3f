"""The command line as its users have it: the launcher, a data directory of its own, job files."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.machines import designed
from cli.client import connect
from service.settings import Settings
from storage.records import FINAL_JOB_STATES
from tests.cli.forking import Forker
from tests.processes import ended_with_us

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300.0
"""How long any command may take before its test fails."""


FRESH = {"run", "map", "order", "study", "topology"}
"""Commands that search: each has an interpreter of its own, with the hashes of its own, so that
nothing can depend on them. What others take is mostly the time of their imports."""
READ_WHEN_IMPORTED = {"HAMTUNE_SIMULATOR"}


@cache
def _forker() -> Forker:
    forker = Forker()
    atexit.register(forker.close)
    return forker


@dataclass(frozen=True)
class Running:
    """A command that was started, and what it has said so far."""

    process: subprocess.Popen[str]
    said: str

    @property
    def url(self) -> str:
        """Where it serves."""
        return self.said.partition("serving ")[2].split()[0].rstrip(",")


@dataclass
class Hamtune:
    """Runs `./hamtune` in a directory, over a data directory in it."""

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def whole_environment(self) -> dict[str, str]:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HAMTUNE_")
        }
        return environment | {"HAMTUNE_DATA": str(self.data), **self.environment}

    def start(self, *arguments: str | Path, **more: Any) -> subprocess.Popen[str]:
        words = [str(ROOT / "hamtune"), *map(str, arguments)]
        return subprocess.Popen(
            # Others clean up, such as networks of a testbed.
            ended_with_us(*words, by="KILL" if arguments[0] == "up" else "TERM"),
            cwd=self.directory,
            env=self.whole_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **more,
        )

    def __call__(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        if words[0] in FRESH or not READ_WHEN_IMPORTED.isdisjoint(self.environment):
            done = self._run(words)
        else:
            done = self._fork(words)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            _end(process)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def _fork(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as output:
            status = _forker().run(
                words,
                directory=self.directory,
                environment=self.whole_environment(),
                output=Path(output),
                seconds=SECONDS,
            )
            out, err = ((Path(output) / name).read_text() for name in ("out", "err"))
        return subprocess.CompletedProcess(words, status, out, err)

    def json(self, *arguments: str | Path) -> Any:
        """The JSON document of a command that succeeds."""
        end = arguments.index("--") if "--" in arguments else len(arguments)
        done = self(*arguments[:end], "--json", *arguments[end:])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refused(self, *arguments: str | Path, status: int = 2) -> str:
        """The one line with which a command refuses."""
        done = self(*arguments)
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        return line

    @contextmanager
    def running(self, *arguments: str | Path, ready: str = "") -> Iterator[Running]:
        """A command that runs until the block ends; `ready` is in what it says once it works."""
        process = self.start(*arguments)
        try:
            said = ""
            while ready not in said:
                assert process.stderr is not None
                line = process.stderr.readline()
                assert line, f"{arguments} did not start: {said}"
                said += line
            yield Running(process, said)
        finally:
            _end(process)

    def service(self) -> AbstractContextManager[Running]:
        """`hamtune up` on a free port."""
        return self.running("up", "--port", "0", ready="serving http://")

    def job_file(self, job: dict[str, Any], name: str = "job.yaml") -> Path:
        path = self.directory / name
        path.write_text(yaml.safe_dump(job))
        return path

    def trials(self, job_id: str, server: str | None = None) -> list[dict[str, Any]]:
        """What decides the outcome of a job: its trials, without when, where and at what cost."""
        keys = ("number", "kind", "label", "configuration", "technique", "state", "cutoff", "value")
        with connect(server, Settings.under(self.data)) as client:
            page = client.get(f"/jobs/{job_id}/trials", limit=500)
        return [{key: trial[key] for key in keys} for trial in page["items"]]

    def wait_for_trials(self, count: int, job_id: str | None = None) -> str:
        """Wait until a job (or the first one) runs and has so many finished trials; its id."""
        deadline = time.monotonic() + SECONDS
        with connect(None, Settings.under(self.data)) as client:
            while time.monotonic() < deadline:
                for job in client.get("/jobs", limit=200)["items"]:
                    if job_id in (None, job["id"]):
                        assert job["state"] not in FINAL_JOB_STATES, job
                        if job["state"] == "running" and job["progress"]["finished"] >= count:
                            return str(job["id"])
                time.sleep(0.02)
        raise AssertionError(f"no job came to {count} trials")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@pytest.fixture
def hamtune(tmp_path: Path) -> Hamtune:
    """The command, over an empty data directory."""
    return Hamtune(tmp_path)


@pytest.fixture
def another(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Hamtune]:
    """Makes the command over further data directories."""
    return lambda: Hamtune(tmp_path_factory.mktemp("hamtune"))


@pytest.fixture
def job() -> dict[str, Any]:
    """A job of seconds, to be changed at will."""
    return tiny_job()


def tiny_job() -> dict[str, Any]:
    """A job of seconds."""
    return {
        "name": "tiny",
        "application": {"builtin": "mg", "class": "S", "ranks": 4},
        "machine": designed(8, 4, network="fluid"),
        "search": {
            "topology": ["random", "mesh-2d"],
            "ordering": ["original", "hamorder"],
            "mpi": ["mpich", "ompi"],
            "collectives": {"allreduce": "all", "bcast": "all"},
        },
        "budget": {"trials": 12},
        "seed": 7,
    }
