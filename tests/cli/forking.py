"""Runs commands in processes forked off one that has imported them: most of their time is imports.

As a program: takes commands from a socket. Each runs in a child, by the code of `python -m cli`,
with the arguments, folder, environment and files that it is given, and in a session of its own.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

__all__ = ["Forker"]

ROOT = Path(__file__).resolve().parents[2]
_MOST_BYTES = 1 << 20
_ALSO = (
    "alembic.command",
    "service.app",
    "service.processes",
    "service.runtime",
    "workers.process",
)


class Forker:
    """A process that runs commands of `hamtune`, one at a time."""

    def __init__(self) -> None:
        self._socket, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_BYTES)
        # What a command finds in its environment is not yet there when its modules are imported.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HAMTUNE_")
        }
        with far:
            self._process = subprocess.Popen(
                [str(ROOT / ".venv/bin/python"), "-P", __file__, str(far.fileno())],
                env=environment | {"PYTHONPATH": str(ROOT)},
                pass_fds=[far.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()

    def run(
        self,
        arguments: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        output: Path,
        seconds: float,
    ) -> int:
        """Run a command to its end; returns its exit status.

        Args:
            arguments: After `hamtune`.
            directory: Where it runs.
            environment: All of it.
            output: Where the files `out` and `err` are written.
            seconds: How long it may take.

        Raises:
            subprocess.TimeoutExpired: It took longer, and was killed.
        """
        order = {"arguments": arguments, "directory": str(directory), "environment": environment}
        with (
            Path(os.devnull).open("rb") as nothing,
            (output / "out").open("wb") as out,
            (output / "err").open("wb") as err,
        ):
            files = [nothing.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._socket, [json.dumps(order).encode()], files)
        pid = json.loads(self._socket.recv(64))
        self._socket.settimeout(seconds)
        try:
            status = json.loads(self._socket.recv(64))
        except TimeoutError:
            os.killpg(pid, signal.SIGKILL)
            self._socket.settimeout(None)
            self._socket.recv(64)
            raise subprocess.TimeoutExpired(list(arguments), seconds) from None
        return int(os.waitstatus_to_exitcode(status))


def _serve(control: socket.socket) -> None:
    """Run what is asked for until nobody is there to ask; returns in each child, to run it."""
    while True:
        data, files, _, _ = socket.recv_fds(control, _MOST_BYTES, 3)
        if not data:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            control.close()
            _become(json.loads(data), files)
            return
        for file in files:
            os.close(file)
        control.send(json.dumps(pid).encode())
        control.send(json.dumps(os.waitpid(pid, 0)[1]).encode())


def _become(order: Mapping[str, Any], files: Sequence[int]) -> None:
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(order["directory"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["hamtune", *order["arguments"]]


def _import() -> None:
    """Load what commands will; as `cli.__main__` has it."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.modules["httpx._main"] = cast(ModuleType, None)
    import cli
    import service

    names = [name for _, name, _ in pkgutil.iter_modules(cli.__path__, "cli.")]
    names += [
        name
        for _, name, _ in pkgutil.walk_packages(service.__path__, "service.")
        if name.endswith(".endpoints")
    ]
    for name in (*names, *_ALSO):
        if name != "cli.__main__":
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("cli", run_name="__main__", alter_sys=True)
