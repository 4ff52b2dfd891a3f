"""The process that an emulated cluster lives in: `python -m testbed.holder DIRECTORY`.

It is the first process of a process namespace, and holds the namespaces of all hosts and switches
by open descriptors alone. So when it ends, however it does, the kernel takes down every process,
namespace and cable of the cluster; nothing has a name that could be left behind. Without the right
to make namespaces it makes a user namespace first, in which it has it.

Until the cluster is up it also ends when whoever started it does, whose pipe is its standard input.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testbed.counters import read_counts
from testbed.descriptors import raise_limit
from testbed.files import ADDRESSES, BUILD_LOG, HOSTS_FILE, NODES, SOCKET
from testbed.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    enter,
    mount,
    setns,
    unshare,
)
from testbed.messages import listen, receive, send
from testbed.running import Host, serve_run

__all__ = ["READY", "main"]

READY = b"up\n"
_ALL = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET
_CONTROL = 0


def main(directory: Path) -> int:
    """Make the namespaces, have them wired up, and serve until the end."""
    raise_limit()
    leave_for_new_namespaces()
    if os.fork():
        return 0
    os.setsid()
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    with contextlib.suppress(OSError):
        mount("proc", "/proc", "proc")
    mount(str(directory / ADDRESSES), HOSTS_FILE, None, MS_BIND)
    names = json.loads((directory / NODES).read_text())
    _Holder(directory, names).serve()
    return 0


def leave_for_new_namespaces() -> None:
    """Leave all namespaces of the host.

    Raises:
        OSError: The kernel does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        unshare(_ALL)
    except PermissionError:
        unshare(_ALL | CLONE_NEWUSER)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"0 {user} 1"),
            ("gid_map", f"0 {group} 1"),
        ):
            Path("/proc/self", name).write_text(text)


class _Holder:
    """Holds the namespaces of the nodes and serves who asks for something."""

    def __init__(self, directory: Path, names: Sequence[str]) -> None:
        self._directory = directory
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._hosts = _make_hosts(names)
        self._server = listen(directory / SOCKET)
        self._woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._runs = 0

    def serve(self) -> None:
        """Serve until the end."""
        builder = self._build()
        with selectors.DefaultSelector() as selector:
            for source in (self._server, self._woken, _CONTROL):
                selector.register(source, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    self._see_to(key.fileobj)
                status = self._reap(builder)
                if status == 0:
                    selector.unregister(_CONTROL)
                    with contextlib.suppress(OSError):
                        os.write(1, READY)
                    _forget_starter()
                elif status is not None:
                    os._exit(1)

    def _see_to(self, source: object) -> None:
        """See to one that can be read."""
        if source is self._server:
            self._accept()
        elif source == _CONTROL:
            os._exit(1)  # who started this is gone
        else:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 4096)

    def _build(self) -> int:
        """Start the process that wires the namespaces up."""
        descriptors = [self._home, *(host.network for host in self._hosts.values())]
        with (self._directory / BUILD_LOG).open("w") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "testbed.builder", str(self._directory)),
                    *map(str, descriptors),
                ],
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return process.pid

    def _reap(self, builder: int) -> int | None:
        """Take note of all that ended; how the builder did, when it has."""
        found = None
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return found
            if process == 0:
                return found
            if process == builder:
                found = os.waitstatus_to_exitcode(status)

    def _accept(self) -> None:
        client, _ = self._server.accept()
        with client:
            try:
                request, descriptors = receive(client)
            except (EOFError, OSError, ValueError):
                return
            if request["do"] == "run":
                self._start_run(client, request, descriptors)
            elif request["do"] == "counts":
                with contextlib.suppress(OSError):
                    send(client, self._counts())

    def _start_run(
        self, client: socket.socket, request: dict[str, Any], descriptors: Sequence[int]
    ) -> None:
        self._runs += 1
        if os.fork() == 0:
            try:
                signal.set_wakeup_fd(-1)
                path = Path(request["socket"])
                serve_run(client, request, descriptors, self._hosts, path)
            except BaseException as error:
                with contextlib.suppress(OSError):
                    send(client, {"status": 127, "error": str(error)})
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)

    def _counts(self) -> list[dict[str, Any]]:
        found = []
        for host in self._hosts.values():
            with enter(host.network, CLONE_NEWNET, self._home):
                found.append(read_counts())
        return found


def _make_hosts(names: Sequence[str]) -> dict[str, Host]:
    """New namespaces for each name, in which the host has that name."""
    home = Host(*(os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in ("net", "uts")))
    made = {}
    for name in names:
        unshare(CLONE_NEWNET | CLONE_NEWUTS)
        socket.sethostname(name)
        made[name] = Host(
            *(os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in ("net", "uts"))
        )
    setns(home.network, CLONE_NEWNET)
    setns(home.name, CLONE_NEWUTS)
    return made


def _forget_starter() -> None:
    """Let go of the files of whoever started this, who may wait for their end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.close(nothing)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except OSError as refused:
        if refused.errno not in (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EINVAL):
            raise
        print(f"the kernel refuses namespaces: {refused.strerror}", file=sys.stderr)
        sys.exit(1)
