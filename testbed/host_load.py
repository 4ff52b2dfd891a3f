"""How busy the cores of this host are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["HostLoad"]

_IDLE = (1, 3, 4)
"""Of the numbers in a line of `/proc/stat`: niced programs, idle, and waiting for a disk. What is
niced gives way to a run, so a core that has nothing else to do is free for it."""
_OF_CPU = 8
"""Numbers that are no part of others."""


@dataclass(frozen=True)
class HostLoad:
    """Ticks of all cores together: all, and those that a run could have had."""

    ticks: int
    idle: int

    @staticmethod
    def now() -> HostLoad:
        """Since the host was started."""
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        numbers = [int(word) for word in words[1 : 1 + _OF_CPU]]
        return HostLoad(sum(numbers), sum(numbers[at] for at in _IDLE))

    def since(self, earlier: HostLoad) -> HostLoad:
        """What there was in between."""
        return HostLoad(self.ticks - earlier.ticks, self.idle - earlier.idle)

    @property
    def busy(self) -> float:
        """The part of the time of all cores in which they had something to do."""
        return 1.0 - self.idle / self.ticks if self.ticks else 0.0
