"""Sequences of MPI calls whose time tells something of a cluster, timed by the clock of one rank.

One description serves both sides: `programs/calibration.c` goes through the calls on the cluster,
and the simulator plays the very same calls as a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from searchspace.formats.operations import encode

__all__ = [
    "Call",
    "Calls",
    "Experiment",
    "copy",
    "irecv",
    "isend",
    "rank_trace",
    "recv",
    "send",
    "sendrecv",
    "sleep",
    "start_clock",
    "wait_all",
    "work",
]

TRACE_SPEED = 1e9
"""Flop/s of hosts in simulated experiments: seconds of sleep become flops by it."""


class Call(NamedTuple):
    """One call of a rank.

    Attributes:
        code: The letter that `programs/calibration.c` knows it by.
        amount: Bytes of a message or copy, seconds of sleep, flops of a computation.
        peer: Where a message goes, or comes from.
        source: Of a sendrecv, where the other one comes from.
    """

    code: str
    amount: float = 0.0
    peer: int = 0
    source: int = 0

    @property
    def text(self) -> str:
        """The call as the program reads it."""
        match self.code:
            case "s" | "r" | "i" | "j":
                return f"{self.code}:{self.peer}:{int(self.amount)}"
            case "x":
                return f"x:{self.peer}:{self.source}:{int(self.amount)}"
            case "w" | "t":
                return self.code
            case _:
                return f"{self.code}:{self.amount!r}"


Calls = Sequence[Call]


def send(peer: int, size: int) -> Call:
    """A blocking send."""
    return Call("s", size, peer)


def recv(peer: int, size: int) -> Call:
    """A blocking receive."""
    return Call("r", size, peer)


def isend(peer: int, size: int) -> Call:
    """A send that does not block."""
    return Call("i", size, peer)


def irecv(peer: int, size: int) -> Call:
    """A receive that does not block."""
    return Call("j", size, peer)


def sendrecv(peer: int, source: int, size: int) -> Call:
    """A send and a receive at once, of as many bytes."""
    return Call("x", size, peer, source)


def wait_all() -> Call:
    """Waits for all calls that did not block."""
    return Call("w")


def sleep(seconds: float) -> Call:
    """Does nothing for a while."""
    return Call("z", seconds)


def work(flops: float) -> Call:
    """Computes."""
    return Call("c", flops)


def copy(size: int) -> Call:
    """Copies bytes within the memory of the host."""
    return Call("m", size)


def start_clock() -> Call:
    """What came before is not timed."""
    return Call("t")


@dataclass(frozen=True)
class Experiment:
    """What ranks call, and whose time it takes.

    Attributes:
        kind: What it is a measurement of.
        bytes: Of each message.
        detail: What tells it from others of the kind and size: hops, how many ranks.
        clock: The rank that is timed.
        calls: Of each rank that takes part. Those of all but `clock` begin with a receive.
        messages: How many bytes it brings onto cables, about; for a guess of its time.
    """

    kind: str
    bytes: int
    detail: str
    clock: int
    calls: Mapping[int, Calls] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Its name, of its own among all experiments of a plan."""
        return f"{self.kind} {self.detail} {self.bytes}"

    def text(self, number: int, repetitions: int, pause: float) -> str:
        """The experiment as the program reads it."""
        lines = [f"experiment {number} {self.clock} {repetitions} {pause!r}"]
        for rank, calls in self.calls.items():
            lines.append(" ".join((f"rank {rank}", *(call.text for call in calls))))
        return "\n".join((*lines, "end\n"))

    @cached_property
    def untimed(self) -> Experiment | None:
        """The part of it before its clock starts; None where that runs from the first call on."""
        mine = self.calls[self.clock]
        at = max((i for i, call in enumerate(mine) if call.code == "t"), default=0)
        if at == 0:
            return None
        calls = {
            rank: _up_to(calls, self.clock, sum(call.peer == rank for call in mine[:at]))
            for rank, calls in self.calls.items()
            if rank != self.clock
        }
        calls[self.clock] = mine[:at]
        return Experiment(self.kind, self.bytes, f"before {self.detail}", self.clock, calls)


def _up_to(calls: Calls, source: int, messages: int) -> Calls:
    """Calls up to the first receive from a rank that sends no more than so many messages."""
    for at, call in enumerate(calls):
        if call.code == "r" and call.peer == source:
            if messages == 0:
                return calls[:at]
            messages -= 1
    return calls


def rank_trace(calls: Iterable[Call]) -> bytes:
    """The operations of a rank that makes these calls, to its end."""
    operations = bytearray()
    slots: list[int] = []
    for call in calls:
        size = int(call.amount)
        message = {"peer": call.peer, "count": size, "size": 1}
        match call.code:
            case "s":
                operations += encode("send", **message)
            case "r":
                operations += encode("recv", **message)
            case "i" | "j":
                name = "isend" if call.code == "i" else "irecv"
                operations += encode(name, slot=len(slots), **message)
                slots.append(len(slots))
            case "x":
                operations += encode(
                    "sendrecv",
                    to=call.peer,
                    send_count=size,
                    send_size=1,
                    recv_count=size,
                    recv_size=1,
                    **{"from": call.source},
                )
            case "w":
                operations += encode("waitall", slots=slots)
                slots = []
            case "z":
                operations += encode("compute", flops=call.amount * TRACE_SPEED)
            case "c":
                operations += encode("compute", flops=call.amount)
            case _:
                pass
    if slots:
        operations += encode("waitall", slots=slots)
    return bytes(operations + encode("finalize"))
