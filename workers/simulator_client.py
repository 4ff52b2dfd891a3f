"""The client of `hamtune-simulator`: one server process with its traces in memory."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

from workers.back_end import Progress
from workers.engine import BUILT, SimulatorError, engine

__all__ = [
    "BINARY",
    "Simulator",
    "SimulatorError",
    "engine_in_use",
    "simulator_version",
]

BINARY = Path(os.environ.get("HAMTUNE_SIMULATOR") or BUILT)
"""The simulator; the environment may name another one, which is taken as it is."""

_PROTOCOL = "7"  # kSimulatorVersion of simulator/main.cpp
_IDLE_SECONDS = 0.2
_MORE_NICENESS = 10
_MOST_NICENESS = 19  # the kernel's
_VERSION_TRIES = 3
_BUILD_DIGITS = 12  # of the library's build, enough to tell two apart


_PAGE = struct.Struct("=dQQQ")  # `Page` of simulator/progress.hpp


def _program() -> Path:
    """What to start: of those that were built the one whose engine may run here."""
    return engine().program if BINARY == BUILT else BINARY


def engine_in_use() -> str:
    """Which engine evaluates, on which SimGrid, and why not ours; in a line.

    Raises:
        SimulatorError: No simulator starts.
    """
    return str(engine()) if BINARY == BUILT else f"{BINARY} (HAMTUNE_SIMULATOR)"


class Simulator:
    """A simulator server, started at its first evaluation and started again if it died.

    For one thread at a time, except `close`, which ends an evaluation under way from another one.

    Args:
        traces: Trace files; requests name them by their position.
        gives_way: Whether the rest of the service goes first where there are too few cores.

    Example:
        >>> with Simulator([Path("cg.ht")]) as simulator:  # doctest: +SKIP
        ...     simulator.evaluate(resolved.simulator_request())["simulated_time"]
        0.0712
    """

    def __init__(self, traces: Sequence[Path], *, gives_way: bool = False) -> None:
        self._traces = list(traces)
        self._gives_way = gives_way
        self._lock = threading.Lock()  # of the two below
        self._server: subprocess.Popen[str] | None = None
        self._closed = False
        self._log: IO[bytes] | None = None
        self._asked = 0
        # The server writes how far it is into a page that both have mapped: asking is free.
        self._progress = os.fdopen(os.memfd_create("progress"), "r+b")
        self._progress.truncate(mmap.PAGESIZE)
        self._page = mmap.mmap(self._progress.fileno(), mmap.PAGESIZE)

    @staticmethod
    def version() -> str:
        """See `simulator_version`."""
        return simulator_version()

    @staticmethod
    def engine() -> str:
        """See `engine_in_use`."""
        return engine_in_use()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def evaluate(
        self,
        request: Mapping[str, Any],
        *,
        cutoff: float | None = None,
        memory_bytes: int | None = None,
        wall_seconds: float | None = None,
        messages: int | None = None,
    ) -> dict[str, Any]:
        """Run one evaluation: see `BackEnd.evaluate`.

        Args:
            request: As `searchspace.platform.Resolved.simulator_request` makes it.
            cutoff: Simulated seconds after which the run is given up as censored.
            memory_bytes: Limit of the evaluation's own memory.
            wall_seconds: Limit of its wall time.
            messages: The most messages that ranks may send, those of collectives with them.

        Returns:
            The simulator's answer. A child that crashed or met a limit is an answer with status
            `failed`.

        Raises:
            SimulatorError: The server cannot be started (also: a trace cannot be read), ended, or
                was closed meanwhile.
        """
        self._asked += 1
        line = json.dumps(
            {
                **request,
                "id": str(self._asked),
                "cutoff": cutoff,
                "memory_bytes": memory_bytes,
                "wall_seconds": wall_seconds,
                "messages": messages,
            }
        )
        self._page[: _PAGE.size] = bytes(_PAGE.size)
        server = self._running()
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write(line + "\n")
            server.stdin.flush()
            answer = server.stdout.readline()
        except (OSError, ValueError) as error:
            raise SimulatorError(self._why_dead(server)) from error
        if not answer.endswith("\n"):
            raise SimulatorError(self._why_dead(server))
        result: dict[str, Any] = json.loads(answer)
        return result

    @property
    def progress(self) -> Progress:
        """How far the evaluation under way has come; from any thread."""
        return Progress(*_PAGE.unpack_from(self._page))

    def close(self) -> None:
        """End the server and what it runs; the object is of no use afterwards."""
        with self._lock:
            self._closed = True
            server, self._server = self._server, None
        if server is not None:
            _end(server)
        if self._log is not None:
            self._log.close()
        self._progress.close()

    def _running(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise SimulatorError("the simulator was closed")
            if self._server is not None and self._server.poll() is None:
                return self._server
            if self._server is not None:
                _end(self._server)
            # Lives as long as this object.
            self._log = self._log or tempfile.TemporaryFile()  # noqa: SIM115
            progress = self._progress.fileno()
            command = [str(_program()), "--server", "--progress", str(progress)]
            for trace in self._traces:
                command += ["--trace", str(trace)]
            try:
                self._server = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    pass_fds=[progress],
                    # Ctrl-C goes to all in front of the terminal; only the client is to act on it.
                    # No session of its own: kernels share the time out between sessions first.
                    process_group=0,
                    # Each evaluation is a fork, and would look up what it calls of SimGrid anew.
                    env={**os.environ, "LD_BIND_NOW": "1"},
                    text=True,
                )
            except OSError as error:
                raise _not_started(error.strerror) from error
            if self._gives_way:
                _lower_priority(self._server.pid)
            return self._server

    def _why_dead(self, server: subprocess.Popen[str]) -> str:
        """One line about a server that gave no answer."""
        with self._lock:
            if self._closed or self._log is None:
                return "the simulator was closed"
            _end(server)
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").strip().splitlines()
        status = server.returncode
        return lines[-1] if lines and status > 0 else f"the simulator ended {_ending(status)}"


@cache
def simulator_version() -> str:
    """The versions of our simulator and of SimGrid under it, part of the key of cached results.

    Of SimGrid it names the release and the build: distributions build one release differently.

    Raises:
        SimulatorError: The simulator was not built, or for another version of Hamtune.
    """
    versions = json.loads(_ask_version())
    if versions["simulator"] != _PROTOCOL:
        raise SimulatorError(
            f"the simulator {_program()} is of version {versions['simulator']}, and this Hamtune "
            f"needs {_PROTOCOL}; run ./setup.sh to build it"
        )
    library = f"{versions['simgrid']}.{versions['library'][:_BUILD_DIGITS]}"
    return f"{versions['simulator']}+simgrid-{library.rstrip('.')}"


def _ask_version() -> bytes:
    for _ in range(_VERSION_TRIES):
        try:
            done = subprocess.run([str(_program()), "--version"], capture_output=True, check=False)
        except OSError as error:
            raise _not_started(error.strerror) from error
        if done.returncode == 0:
            return done.stdout
        if done.returncode > 0:
            break
        # It was killed, such as for want of memory, and that once should end no worker.
    raise _not_started(f"it ended {_ending(done.returncode)}")


def _not_started(why: str | None) -> SimulatorError:
    return SimulatorError(f"the simulator does not start ({why}); run ./setup.sh to build it")


def _ending(status: int) -> str:
    return f"by signal {-status}" if status < 0 else f"with status {status}"


def _lower_priority(pid: int) -> None:
    """Let a process, and what it will start, wait for those with something to do."""
    niceness = min(_MOST_NICENESS, os.getpriority(os.PRIO_PROCESS, 0) + _MORE_NICENESS)
    with contextlib.suppress(OSError):  # it has ended
        os.setpriority(os.PRIO_PROCESS, pid, niceness)


def _end(server: subprocess.Popen[str]) -> None:
    """End a server; its child dies with it (it asks the kernel for that).

    An idle one ends with its input, and waits for its child then: so is the time that the child
    spent charged to this process.
    """
    _close(server.stdin)
    try:
        server.wait(_IDLE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    _close(server.stdout)


def _close(stream: IO[str] | None) -> None:
    if stream is not None:
        # What was buffered for a dead server has nowhere to go.
        with contextlib.suppress(OSError, ValueError):
            stream.close()
