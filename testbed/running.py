"""A run on an emulated cluster: processes on its hosts that all end together.

The run has a process namespace of its own, whose first process starts the program on the first
host, and what launchers ask for on the others. When the program ends, or whoever asked for the run
goes away, the kernel ends all that is left of it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.descriptors import limit_as_started
from testbed.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUTS,
    mount,
    setns,
    unshare,
)
from testbed.messages import listen, receive, send

__all__ = ["Host", "keep_run", "serve_run"]

_NOT_STARTED = 127
_BY_SIGNAL = 128


@dataclass(frozen=True)
class Host:
    """Descriptors of the namespaces that make a host."""

    network: int
    name: int


def serve_run(
    client: socket.socket,
    request: Mapping[str, Any],
    descriptors: Sequence[int],
    hosts: Mapping[str, Host],
    path: Path,
) -> None:
    """Run what a client asked for and tell it how it ended; in a process of its own.

    Args:
        client: Who asked; the run ends when it goes away.
        request: `host`, `command`, `environment` and `directory` of the first process.
        descriptors: Its standard files.
        hosts: By name.
        path: Where the sockets of this run may be.
    """
    unshare(CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        client.close()
        keep_run(request, descriptors, hosts, path)
    for descriptor in descriptors:
        os.close(descriptor)
    ended = os.pidfd_open(child)
    with selectors.DefaultSelector() as selector:
        selector.register(ended, selectors.EVENT_READ)
        selector.register(client, selectors.EVENT_READ)
        ready = {key.fd for key, _ in selector.select()}
    if ended not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.suppress(OSError):
        send(
            client,
            {"status": _code(status), "cpu_seconds": used.ru_utime + used.ru_stime},
        )


def keep_run(
    request: Mapping[str, Any],
    descriptors: Sequence[int],
    hosts: Mapping[str, Host],
    path: Path,
) -> None:
    """Be the first process of a run; never returns."""
    try:
        os._exit(_Keeper(hosts, path).run(request, descriptors))
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(descriptors[2], f"testbed: {error}\n".encode())
        os._exit(_NOT_STARTED)


class _Keeper:
    """Starts processes on hosts and waits for all of them."""

    def __init__(self, hosts: Mapping[str, Host], path: Path) -> None:
        self._hosts = hosts
        self._path = path
        self._server = listen(path)
        self._asked_by: dict[int, socket.socket] = {}
        self._woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def run(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """Start the first process, serve the others, and return how the first ended."""
        first = self._start(request, descriptors)
        with selectors.DefaultSelector() as selector:
            selector.register(self._server, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    self._see_to(key.fileobj)
                ended = self._reap(first)
                if ended is not None:
                    return ended

    def _see_to(self, source: object) -> None:
        """See to one that can be read."""
        if source is self._server:
            self._accept()
        else:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 4096)

    def _accept(self) -> None:
        connection, _ = self._server.accept()
        try:
            request, descriptors = receive(connection)
        except (EOFError, OSError, ValueError):
            connection.close()
            return
        try:
            process = self._start(request, descriptors)
        except (KeyError, OSError) as error:
            why = f"there is no host {error}" if isinstance(error, KeyError) else str(error)
            send(connection, {"status": _NOT_STARTED, "error": why})
            connection.close()
        else:
            self._asked_by[process] = connection

    def _reap(self, first: int) -> int | None:
        """Take note of all that ended; how the first process did, once it has."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if process == 0:
                return None
            if process == first:
                return _code(status)
            connection = self._asked_by.pop(process, None)
            if connection is not None:
                with contextlib.suppress(OSError):
                    send(connection, {"status": _code(status)})
                connection.close()

    def _start(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        host = self._hosts[request["host"]]
        process = os.fork()
        if process == 0:
            try:
                _become(host, request, descriptors)
            except BaseException as error:
                os.write(descriptors[2], f"{request['command'][0]}: {error}\n".encode())
            os._exit(_NOT_STARTED)
        for descriptor in descriptors:
            os.close(descriptor)
        return process


def _become(host: Host, request: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Turn into a command on a host."""
    setns(host.network, CLONE_NEWNET)
    setns(host.name, CLONE_NEWUTS)
    unshare(CLONE_NEWNS | CLONE_NEWIPC)
    # What tells of processes and devices is that of this run and of this host, and no memory is
    # shared with other hosts: libraries that look for it would go around the cables.
    for kind, target in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/dev/shm")):  # noqa: S108
        with contextlib.suppress(OSError):
            mount(kind, target, kind)
    os.setsid()
    os.chdir(request["directory"])
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    limit_as_started()  # last, for by now more files may be open than that allows
    command = request["command"]
    os.execvpe(command[0], command, request["environment"])  # noqa: S606 (no shell is meant)


def _code(status: int) -> int:
    """How a process ended, as shells say it."""
    if os.WIFSIGNALED(status):
        return _BY_SIGNAL + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)
