"""How much of a network this host can play, and what its rates are divided by for that.

Two things cost the host time: every byte on every cable, and every message of every rank. Both are
measured on the wired cluster itself, with cables much faster than they will be.
"""

from __future__ import annotations

import math
import os
import socket
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from testbed.namespaces import Namespaces
from testbed.plan import Plan

__all__ = ["PROBING_RATE", "Capacity", "measure_capacity", "scale_for"]

PROBING_RATE = 1.25e9
"""Bytes/s of cables while they are tried."""
BYTES_SHARE = 0.25
"""Of the bytes that the host can carry, how much all cables together may carry at their rates."""
MESSAGES_SHARE = 0.5
"""Of the time that a packet takes on a cable, how much the host may need to play a message of every
host."""
_PACKET = 1500
_BURST_SECONDS = 0.15
_BURSTS = 3
_CHUNK = 1 << 18
_BOUNCES = 100
_PORT = 7070
_SECONDS = 20.0


@dataclass(frozen=True)
class Capacity:
    """What was measured.

    Attributes:
        bytes: Bytes/s, each counted on each cable it crosses, that this host carries.
        message: Seconds that a small message takes from one process to another.
        cores: Cores it was measured with.
    """

    bytes: float
    message: float
    cores: int


def measure_capacity(plan: Plan, namespaces: Namespaces) -> Capacity:
    """Measure the host, over the longest way of a wired cluster; takes about a second."""
    source, target = plan.most_hops
    hops = len(plan.routes.path(source, target))
    carried = max(
        _between(plan, namespaces, (source, target), _burst) * hops for _ in range(_BURSTS)
    )
    message = _between(plan, namespaces, (source, target), _bounce)
    return Capacity(carried, message, len(os.sched_getaffinity(0)))


def scale_for(plan: Plan, capacity: Capacity) -> float:
    """What the rates of a plan of scale 1 are divided by, so that the host is never the limit.

    The least factor, rounded up to two digits, under which all cables full in both directions take
    `BYTES_SHARE` of what the host carries, and a message of every host takes it `MESSAGES_SHARE` of
    the time of a packet on the fastest cable.
    """
    flowing = sum(2 * cable.rate for cable in plan.cables)
    by_bytes = flowing / (BYTES_SHARE * capacity.bytes)
    packet = _PACKET / max(cable.rate for cable in plan.cables)
    busy = plan.network.hosts * capacity.message / capacity.cores
    by_messages = busy / (MESSAGES_SHARE * packet)
    least = max(1.0, by_bytes, by_messages)
    step = 10.0 ** (math.floor(math.log10(least)) - 1)
    return math.ceil(least / step - 1e-9) * step


def _between(
    plan: Plan,
    namespaces: Namespaces,
    pair: tuple[int, int],
    work: Callable[[socket.socket, bool], float],
) -> float:
    """Have two hosts do something over a connection; what it gave at the first one."""
    source, target = pair
    with namespaces.node(target):
        server = socket.create_server((plan.address(target), _PORT))
    child = os.fork()
    if child == 0:
        status = 1
        with suppress(OSError), server:
            server.settimeout(_SECONDS)
            connection, _ = server.accept()
            with connection:
                _set_up(connection)
                work(connection, False)
            status = 0
        os._exit(status)
    server.close()
    try:
        with namespaces.node(source):
            connection = socket.create_connection((plan.address(target), _PORT), _SECONDS)
        with connection:
            _set_up(connection)
            return work(connection, True)
    finally:
        os.waitpid(child, 0)


def _set_up(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(_SECONDS)


def _burst(connection: socket.socket, first: bool) -> float:
    """Bytes/s from the first to the other."""
    if not first:
        received = 0
        buffer = bytearray(_CHUNK)
        while count := connection.recv_into(buffer):
            received += count
        return 0.0
    chunk: Any = memoryview(bytes(_CHUNK))
    sent, begun = 0, time.monotonic()
    while time.monotonic() - begun < _BURST_SECONDS:
        sent += connection.send(chunk)
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)  # the end of the other, after all has come
    return sent / (time.monotonic() - begun)


def _bounce(connection: socket.socket, first: bool) -> float:
    """Seconds of a byte from one to the other, the median."""
    if not first:
        while byte := connection.recv(1):
            connection.send(byte)
        return 0.0
    seconds = []
    for _ in range(_BOUNCES):
        begun = time.monotonic()
        connection.send(b"x")
        connection.recv(1)
        seconds.append((time.monotonic() - begun) / 2)
    return statistics.median(seconds)
