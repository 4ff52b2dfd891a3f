"""A machine of its own for a worker: a network namespace, joined to some servers by a cable.

The cable ends in this process, which passes on what comes through it. It can be pulled: the only
interface of the namespace goes down, and the kernel drops every packet and tells neither end.

Run as a program, it is what holds the namespace.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Self

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_UP, _DOWN, _DONE = b"u", b"d", b"."


class Remote:
    """A network of its own, in which some ports of this machine are reached on loopback.

    Args:
        ports: Of servers on loopback here, which are found under the same numbers there.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = list(ports)
        self._control, far = socket.socketpair()
        self._listeners: list[socket.socket] = []
        # Who is not root may have a network in a user namespace, as its sandboxes do.
        self._whose = [] if os.geteuid() == 0 else ["--user"]
        with far:
            mapped = [*self._whose, "--map-current-user", "--keep-caps"] if self._whose else []
            held = [sys.executable, __file__, str(far.fileno()), *map(str, ports)]
            self._holder = subprocess.Popen(
                ["unshare", "--net", *mapped, *held], pass_fds=[far.fileno()]
            )

    def __enter__(self) -> Self:
        _, files, _, _ = socket.recv_fds(self._control, 1, len(self._ports))
        assert len(files) == len(self._ports), "there is no network namespace"
        for file, port in zip(files, self._ports, strict=True):
            listener = socket.socket(fileno=file)
            self._listeners.append(listener)
            threading.Thread(target=_accept, args=(listener, port), daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._control.close()
        self._holder.wait()
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    @property
    def prefix(self) -> tuple[str, ...]:
        """What to write before a command for it to run there; it keeps its process id."""
        kept = [*self._whose, "--preserve-credentials"] if self._whose else []
        return ("nsenter", f"--target={self._holder.pid}", "--net", *kept, "--")

    def cut(self) -> None:
        """Let no packet pass from now on."""
        self._ask(_DOWN)

    def mend(self) -> None:
        """Let packets pass again, repeated ones as well."""
        self._ask(_UP)

    def _ask(self, wish: bytes) -> None:
        self._control.sendall(wish)
        assert self._control.recv(1) == _DONE


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        try:
            near, _ = listener.accept()
        except OSError:
            return
        try:
            far = socket.create_connection(("127.0.0.1", port), timeout=30.0)
        except OSError:
            near.close()
            continue
        far.settimeout(None)
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=_pass, args=(source, sink), daemon=True).start()


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _hold(control: socket.socket, ports: Sequence[int]) -> None:
    """In the namespace: open its ports, pass them out, and pull and mend the cable as asked."""
    _set_loopback(_IFF_UP)
    listeners = [socket.create_server(("127.0.0.1", port)) for port in ports]
    socket.send_fds(control, [_DONE], [listener.fileno() for listener in listeners])
    while wish := control.recv(1):
        _set_loopback(_IFF_UP if wish == _UP else 0)
        control.sendall(_DONE)


def _set_loopback(flags: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags))


if __name__ == "__main__":
    _hold(socket.socket(fileno=int(sys.argv[1])), [int(port) for port in sys.argv[2:]])
