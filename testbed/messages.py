"""Messages between the processes of an emulated cluster: JSON over a socket, with descriptors."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testbed.kernel import short_path

__all__ = ["connect", "listen", "receive", "send"]

_LENGTH = struct.Struct("=I")
_LONGEST = 1 << 24
_MOST_DESCRIPTORS = 3


def listen(path: Path) -> socket.socket:
    """A socket that takes connections at a path, whatever its length."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with short_path(path) as name:
        server.bind(name)
    server.listen(256)
    return server


def connect(path: Path) -> socket.socket:
    """A connection to who listens at a path.

    Raises:
        OSError: Nobody does.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(path) as name:
            client.connect(name)
    except OSError:
        client.close()
        raise
    return client


def send(connection: socket.socket, document: Any, descriptors: Sequence[int] = ()) -> None:
    """Send a document, and descriptors that the receiver gets of its own."""
    text = json.dumps(document).encode()
    header = _LENGTH.pack(len(text))
    if descriptors:
        socket.send_fds(connection, [header], list(descriptors))
    else:
        connection.sendall(header)
    connection.sendall(text)


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Receive what `send` sent.

    Raises:
        EOFError: The other end is gone.
    """
    header, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, _MOST_DESCRIPTORS)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    header += _exactly(connection, _LENGTH.size - len(header))
    (length,) = _LENGTH.unpack(header)
    if length > _LONGEST:
        raise EOFError
    return json.loads(_exactly(connection, length)), descriptors


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
