"""Idle cores that wake at once, while a program runs on a testbed.

A cable lets frame after frame pass by timers, and a core that sleeps deeply may take a tenth of a
millisecond to wake for each, above all in a virtual machine: large messages then go at nine tenths
of the rate. Linux bounds what idle cores may take as long as somebody holds `/dev/cpu_dma_latency`
open (Linux, "PM Quality Of Service Interface"), which is root's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["awake"]

_DEVICE = Path("/dev/cpu_dma_latency")
_AT_ONCE = struct.pack("i", 0)  # microseconds


@contextmanager
def awake(device: Path = _DEVICE) -> Iterator[bool]:
    """Keep idle cores from states that take time to leave; gives whether this host allows it."""
    try:
        file = device.open("r+b", buffering=0)
    except OSError:
        yield False
        return
    with file:
        allowed = True
        try:
            file.write(_AT_ONCE)
        except OSError:
            allowed = False
        yield allowed
