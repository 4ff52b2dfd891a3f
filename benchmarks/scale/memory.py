"""What this process and all that it started hold in memory at once."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["PeakMemory"]

_SECONDS = 1.0
_KIB = 1024


class PeakMemory:
    """Looks every second for as long as its context lasts; shared pages count once.

    Attributes:
        bytes: The most that was seen.
        cpu_seconds: What looking took, once the context has ended.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.cpu_seconds = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self.bytes = max(self.bytes, sum(map(_shared_out, _family(os.getpid()))))
        self.cpu_seconds = time.thread_time()


def _family(process: int) -> list[int]:
    """A process and its descendants."""
    found = [process]
    for parent in found:
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _shared_out(process: int) -> int:
    """Bytes in memory, of what several processes share its part of each."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KIB
    return 0
