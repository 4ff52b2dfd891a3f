"""The process in which OpenTuner searches, as a session holds it.

It is a fork of `tuner.opentuner_server`: to import OpenTuner takes a second or two of CPU, as much
as a search of a hundred trials. That server is started with the first search, or ahead of it by who
knows that there will be one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

__all__ = ["SearchProcess", "end_server", "start_server"]

_ROOT = Path(__file__).resolve().parent.parent
_AT_IMPORTS = 1.0
"""Seconds in which a server ends, unless it still imports OpenTuner."""


class SearchProcess:
    """A process that speaks JSON lines (`tuner.opentuner_conversation`). It dies with this one.

    Not waited for: requests may be sent while OpenTuner is imported.
    """

    def __init__(self) -> None:
        # A file rather than a pipe: nobody has to read it for the process to go on.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        with theirs:
            _Server.fork_with(theirs.fileno(), self._complaints.fileno())
        self._requests, self._answers = ours.makefile("w"), ours.makefile("r")
        ours.close()  # once both are
        self._pid: int | None = None
        self._status: int | None = None

    @property
    def pid(self) -> int:
        """Its number, which is waited for.

        Raises:
            EOFError: It has ended, or did not begin.
        """
        while self._pid is None:
            self._hear()
        return self._pid

    def send(self, request: dict[str, Any]) -> None:
        """Send a request, at the latest with the next `flush`.

        Raises:
            BrokenPipeError: It has ended.
        """
        self._requests.write(json.dumps(request, allow_nan=False) + "\n")

    def flush(self) -> None:
        """Have it hear all that was sent.

        Raises:
            BrokenPipeError: It has ended.
        """
        self._requests.flush()

    def receive(self) -> dict[str, Any]:
        """Its next answer.

        Raises:
            EOFError: It has ended.
        """
        while (answer := self._hear()) is None:
            pass
        return answer

    def close(self) -> None:
        """End it, whatever it is at."""
        for stream in (self._requests, self._answers):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._complaints.close()

    def last_words(self) -> str:
        """How it ended, which is waited for, and the last line that it had to say of it."""
        with contextlib.suppress(EOFError):
            while True:
                self._hear()
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else _Server.last_words()
        return f"ended with status {self._status}: {last}"

    def _hear(self) -> dict[str, Any] | None:
        """What it says next; None of its number, and of what was cut by its end."""
        try:
            line = self._answers.readline()
        except ConnectionResetError:
            line = ""
        if not line:
            raise EOFError
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:
            return None
        if "pid" in said:
            self._pid = said["pid"]
            return None
        if "status" in said and len(said) == 1:
            self._status = said["status"]
            raise EOFError
        return said


class _Server:
    """The server of this process, started when it is wanted."""

    _lock = threading.Lock()
    _one: _Server | None = None

    def __init__(self) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        self._is_used = False
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: nothing is imported from its working directory, where anybody may write.
                [sys.executable, "-P", "-m", "tuner.opentuner_server"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env={**os.environ, "PYTHONPATH": _search_path()},
                cwd=tempfile.gettempdir(),
                # Ctrl-C goes to all in front of the terminal; only the coordinator acts on it.
                process_group=0,
            )

    @classmethod
    def start(cls) -> None:
        """Start that of this process, unless it has one."""
        with cls._lock:
            if cls._one is None:
                cls._one = _Server()

    @classmethod
    def fork_with(cls, connection: int, complaints: int) -> None:
        """Have a process forked that converses over a socket and complains to a file."""
        with cls._lock:
            if cls._one is not None:
                try:
                    cls._one._fork_with(connection, complaints)
                    return
                except (BrokenPipeError, ConnectionResetError):  # it has died meanwhile
                    cls._one.close()
            cls._one = _Server()
            cls._one._fork_with(connection, complaints)

    def _fork_with(self, connection: int, complaints: int) -> None:
        self._is_used = True
        socket.send_fds(self._control, [b"f"], [connection, complaints])

    @classmethod
    def last_words(cls) -> str:
        """The last line that it had to say; of a search whose process never was."""
        with cls._lock:
            if cls._one is None:
                return "it said nothing"
            cls._one._complaints.seek(0)
            lines = cls._one._complaints.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """End it, and all searches with it."""
        self._control.close()
        if not self._is_used:
            self._process.kill()
        try:
            self._process.wait(_AT_IMPORTS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    @classmethod
    def end(cls) -> None:
        """End that of this process, if there is one."""
        with cls._lock:
            if cls._one is not None:
                cls._one.close()
                cls._one = None

    @classmethod
    def forget(cls) -> None:
        """In a fork: the server is the parent's, and hears nothing of this process."""
        cls._lock = threading.Lock()
        if cls._one is not None:
            cls._one._control.close()
            cls._one = None


def start_server() -> None:
    """Start the server ahead of the first search, to import OpenTuner while other work is done."""
    _Server.start()


def end_server() -> None:
    """End the server, and all searches with it; the next search has another.

    What they took counts from then on as that of this process's children.
    """
    _Server.end()


atexit.register(end_server)
os.register_at_fork(after_in_child=_Server.forget)


def _search_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return f"{_ROOT}{os.pathsep}{inherited}" if inherited else str(_ROOT)
