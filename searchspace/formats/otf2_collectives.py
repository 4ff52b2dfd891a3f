"""Collective operations of OTF2 archives: from the bytes that each rank sent and received.

An archive tells of a collective its operation, its root, and two numbers a rank. What they count is
Score-P's convention: an allreduce sends its vector to every rank, a broadcast's root sends it to
every rank and each receives it, and so on. In-place forms leave the rank itself out, and are not
told apart. How the bytes of an alltoallv spread over the ranks is not told; they are spread in
proportion to what each rank sends and receives in all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Value

__all__ = ["OPERATIONS", "Call", "fields_of"]


@dataclass(frozen=True)
class Call:
    """One collective call of all ranks of a communicator.

    Attributes:
        name: The operation (`allreduce`).
        root: Rank in the communicator, where there is one.
        sent: Bytes that each rank sent, shape (ranks of the communicator,).
        received: Bytes that each rank received, likewise.
    """

    name: str
    root: int
    sent: Sequence[int]
    received: Sequence[int]

    @property
    def ranks(self) -> int:
        """Ranks of the communicator."""
        return len(self.sent)


Fields = Mapping[str, Value]


def fields_of(call: Call, rank: int) -> Fields:
    """The fields of the operation of one rank, but for its communicator and slot.

    Raises:
        InvalidInput: A count exceeds what MPI can express.
    """
    fields = OPERATIONS[call.name](call, rank)
    for value in fields.values():
        counts = value if isinstance(value, Sequence) else [value]
        if any(count >= 1 << 31 for count in counts):
            raise InvalidInput(f"a {call.name} of {max(counts)} bytes; a trace has less than 2 GiB")
    return fields


def _share(total: int, ranks: int) -> int:
    """The part of one rank in what went to all ranks, or to all others."""
    if total % ranks and ranks > 1 and total % (ranks - 1) == 0:
        return total // (ranks - 1)
    return total // ranks


def _barrier(_call: Call, _rank: int) -> Fields:
    return {}


def _bcast(call: Call, rank: int) -> Fields:
    root_sent = _share(call.sent[call.root], call.ranks)
    return {"root": call.root, "count": max(call.received) or root_sent, "size": 1}


def _reduce(call: Call, _rank: int) -> Fields:
    return {"root": call.root, "count": max(call.sent), "size": 1}


def _reduction(call: Call, rank: int) -> Fields:
    return {"count": _share(call.sent[rank], call.ranks), "size": 1}


def _reduce_scatter(call: Call, _rank: int) -> Fields:
    return {"size": 1, "counts": [_share(total, call.ranks) for total in call.received]}


def _scan(call: Call, rank: int) -> Fields:
    return {"count": call.sent[rank] // (call.ranks - rank), "size": 1}


def _exscan(call: Call, rank: int) -> Fields:
    later = call.ranks - rank - 1
    count = call.sent[rank] // later if later else call.received[rank] // max(rank, 1)
    return {"count": count, "size": 1}


def _exchange(call: Call, rank: int) -> Fields:
    block = _share(call.sent[rank], call.ranks)
    return {"send_count": block, "send_size": 1, "recv_count": block, "recv_size": 1}


def _gather(call: Call, rank: int) -> Fields:
    block = max(call.sent)
    at_root = {"recv_count": block, "recv_size": 1} if rank == call.root else {}
    return {"root": call.root, "send_count": block, "send_size": 1, **at_root}


def _scatter(call: Call, rank: int) -> Fields:
    block = max(call.received)
    at_root = {"send_count": block, "send_size": 1} if rank == call.root else {}
    return {"root": call.root, "recv_count": block, "recv_size": 1, **at_root}


def _gatherv(call: Call, rank: int) -> Fields:
    fields: dict[str, Value] = {"root": call.root, "send_count": call.sent[rank], "send_size": 1}
    if rank == call.root:
        fields |= {"recv_size": 1, "recv_counts": list(call.sent)}
    return fields


def _scatterv(call: Call, rank: int) -> Fields:
    fields: dict[str, Value] = {"root": call.root, "recv_size": 1}
    fields["recv_count"] = call.received[rank]
    if rank == call.root:
        fields |= {"send_size": 1, "send_counts": list(call.received)}
    return fields


def _allgatherv(call: Call, rank: int) -> Fields:
    parts = [_share(total, call.ranks) for total in call.sent]
    return {"send_count": parts[rank], "send_size": 1, "recv_size": 1, "recv_counts": parts}


def _alltoallv(call: Call, rank: int) -> Fields:
    total = max(sum(call.received), 1)
    return {
        "send_size": 1,
        "recv_size": 1,
        "send_counts": [call.sent[rank] * theirs // total for theirs in call.received],
        "recv_counts": [theirs * call.received[rank] // total for theirs in call.sent],
    }


def _alltoallw(call: Call, rank: int) -> Fields:
    spread = _alltoallv(call, rank)
    return {"send_bytes": spread["send_counts"], "recv_bytes": spread["recv_counts"]}


OPERATIONS: dict[str, Callable[[Call, int], Fields]] = {
    "barrier": _barrier,
    "bcast": _bcast,
    "reduce": _reduce,
    "allreduce": _reduction,
    "gather": _gather,
    "scatter": _scatter,
    "allgather": _exchange,
    "alltoall": _exchange,
    "gatherv": _gatherv,
    "scatterv": _scatterv,
    "allgatherv": _allgatherv,
    "alltoallv": _alltoallv,
    "alltoallw": _alltoallw,
    "reduce_scatter": _reduce_scatter,
    "reduce_scatter_block": _reduction,
    "scan": _scan,
    "exscan": _exscan,
}
"""What a rank's operation says, by the name that the archive gives the collective (lower case)."""
