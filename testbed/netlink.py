"""Many requests to the kernel's network stack at once: compiled by pyroute2, sent in rows.

A network of 64 hosts has some twenty thousand routes. pyroute2 compiles the first of a kind; the
others are the same bytes but for the numbers that differ.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

from pyroute2 import IPBatch

from searchspace.errors import HamtuneError

__all__ = ["NetlinkFailed", "Requests", "Template", "send"]

_ROUTE = 0
_HEADER = struct.Struct("=IHHII")
_ERROR = struct.Struct("=i")
_NLMSG_ERROR = 2
_ROW = 128
_BUFFER = 4 << 20


class NetlinkFailed(HamtuneError):
    """The kernel refused a request, with which and why."""


class Requests:
    """Requests in the order in which they are to be made.

    Every method of pyroute2's `IPRoute` that changes something compiles its request:
    `requests.call("link", "set", index=1, state="up")`.
    """

    def __init__(self) -> None:
        self.compiled: list[tuple[bytes, str]] = []
        self._compiler = IPBatch()

    def __enter__(self) -> Requests:
        return self

    def __exit__(self, *raised: object) -> None:
        self._compiler.close()

    def reset(self) -> None:
        """Forget all requests."""
        self.compiled.clear()

    def call(self, method: str, *words: str, **settings: Any) -> None:
        """Add a request."""
        self.compiled.append((self.compile(method, *words, **settings), f"{method} {settings}"))

    def compile(self, method: str, *words: str, **settings: Any) -> bytes:
        """The bytes of a request."""
        self._compiler.reset()
        getattr(self._compiler, method)(*words, **settings)
        return bytes(self._compiler.asyncore.batch)

    def add(self, message: bytes, what: str) -> None:
        """Add a request that is compiled."""
        self.compiled.append((message, what))


class Template:
    """A compiled request with fields to fill in.

    Args:
        message: The request, in which each mark occurs once.
        marks: What is to be replaced, by name.

    Raises:
        NetlinkFailed: A mark does not occur, or more than once.
    """

    def __init__(self, message: bytes, marks: dict[str, bytes]) -> None:
        self._message = message
        self._places: dict[str, int] = {}
        for name, mark in marks.items():
            if message.count(mark) != 1:
                raise NetlinkFailed(f"pyroute2 compiles no request with one {name}")
            self._places[name] = message.index(mark)

    def fill(self, **values: bytes) -> bytes:
        """The request with these values, each as long as its mark."""
        made = bytearray(self._message)
        for name, value in values.items():
            place = self._places[name]
            made[place : place + len(value)] = value
        return bytes(made)


def send(requests: Sequence[tuple[bytes, str]]) -> None:
    """Make requests in the network namespace that the thread is in.

    Raises:
        NetlinkFailed: The kernel refused one.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _ROUTE) as kernel:
        kernel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        kernel.bind((0, 0))
        for start in range(0, len(requests), _ROW):
            _send_row(kernel, requests[start : start + _ROW], start)


def _send_row(kernel: socket.socket, row: Sequence[tuple[bytes, str]], start: int) -> None:
    numbered = []
    for number, (message, _) in enumerate(row, start):
        length, kind, flags, _, _ = _HEADER.unpack_from(message)
        numbered.append(_HEADER.pack(length, kind, flags, number, 0) + message[_HEADER.size :])
    kernel.send(b"".join(numbered))
    awaited = len(row)
    while awaited:
        answer = kernel.recv(_BUFFER)
        while answer:
            length, kind, _, number, _ = _HEADER.unpack_from(answer)
            if kind == _NLMSG_ERROR:
                (code,) = _ERROR.unpack_from(answer, _HEADER.size)
                if code:
                    raise NetlinkFailed(
                        f"the kernel refused {row[number - start][1]}: {os.strerror(-code)}"
                    )
                awaited -= 1
            answer = answer[(length + 3) & ~3 :]
