"""The service as a process of its own, and a client that watches it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.processes import ended_with_us

__all__ = ["Server", "started", "watch"]

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
"""How long a service may take to end."""
PROGRAM = """
import os
import sys
from dataclasses import replace
from pathlib import Path
from service.auth.settings import AuthSettings
from service.processes import serve
from service.runtime import Runtime
from service.settings import Settings
auth = AuthSettings.from_environment(os.environ)
said = Settings.from_environment(os.environ)
settings = replace(
    Settings.under(Path(sys.argv[1])), auth=auth, captures=said.captures, notify=said.notify
)
with Runtime(settings, run=sys.argv[2] == "run") as runtime:
    serve(runtime, "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True))
"""


@dataclass
class Server:
    """A service in a process of its own."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def started(
    data: Path, *, run: bool, keys: bool = False, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Start a service over a data directory, with workers or without; end it at the end.

    With `keys` it asks for one.
    """
    process = subprocess.Popen(
        ended_with_us(sys.executable, "-c", PROGRAM, str(data), "run" if run else "read"),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {}), "HAMTUNE_AUTH": "keys" if keys else "off"},
    )
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip(), process)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            process.communicate()


def watch(client: httpx.Client, job_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
    """The events of a job until its stream ends."""
    with client.stream("GET", f"/jobs/{job_id}/events", params={"after": after}) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))
