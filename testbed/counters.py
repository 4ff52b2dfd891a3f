"""What the kernel counts in each namespace: bytes on cables, segments that were sent again."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["SENT_AGAIN", "Counts", "combined", "read_counts"]

SENT_AGAIN = ("RetransSegs", "TCPSynRetrans", "TCPTimeouts")
"""What the kernel counts when a segment had to be sent again."""
_FILES = ("snmp", "netstat", "dev")
_SENT = 8
"""Which of the numbers of `/proc/net/dev` are the bytes sent."""


@dataclass(frozen=True)
class Counts:
    """What was counted since the cluster came up.

    Attributes:
        sent_again: `SENT_AGAIN`, over all hosts.
        cables: For each cable the bytes of frames sent from its first end, and from its second.
    """

    sent_again: Mapping[str, int]
    cables: tuple[tuple[int, int], ...]

    @property
    def bytes(self) -> int:
        """What was sent on cables, on each cable that a frame crosses anew."""
        return sum(itertools.chain.from_iterable(self.cables))

    def since(self, earlier: Counts) -> Counts:
        """What was counted in between."""
        again = {name: n - earlier.sent_again[name] for name, n in self.sent_again.items()}
        cables = tuple(
            (there - there_then, back - back_then)
            for (there, back), (there_then, back_then) in zip(
                self.cables, earlier.cables, strict=True
            )
        )
        return Counts(again, cables)


def read_counts() -> dict[str, Any]:
    """What was counted in the network namespace of the thread, as JSON: for `combined`."""
    tables = Path("/proc/thread-self/net")
    texts = {name: (tables / name).read_text() for name in _FILES}
    again: Counter[str] = Counter()
    for name in ("snmp", "netstat"):
        for names, values in itertools.pairwise(texts[name].splitlines()):
            if names.split(":")[0] == values.split(":")[0] in ("Tcp", "TcpExt"):
                row = dict(zip(names.split(), values.split(), strict=True))
                again.update({name: int(row[name]) for name in SENT_AGAIN if name in row})
    sent = {}
    for line in texts["dev"].splitlines():
        device, colon, numbers = line.strip().partition(":")
        if colon and device.startswith("c") and device[1:].isdigit():
            sent[device[1:]] = int(numbers.split()[_SENT])
    return {"sent_again": dict(again), "cables": sent}


def combined(nodes: Iterable[Mapping[str, Any]], ends: Iterable[tuple[int, int]]) -> Counts:
    """Puts together what was read at each node, in the order of the nodes.

    Args:
        nodes: As `read_counts` gave it.
        ends: The nodes at both ends of each cable.
    """
    rows = list(nodes)
    again: Counter[str] = Counter(dict.fromkeys(SENT_AGAIN, 0))
    for row in rows:
        again.update(row["sent_again"])
    cables = tuple(
        (rows[u]["cables"][str(number)], rows[v]["cables"][str(number)])
        for number, (u, v) in enumerate(ends)
    )
    return Counts(dict(again), cables)
