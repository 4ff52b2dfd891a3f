"""Our traces as the time-independent traces that `smpirun -replay` of SimGrid reads.

The stock format knows less than ours: collectives of all ranks only, plain datatypes, requests
named by (source, target, tag). What it cannot express is refused by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from searchspace.errors import HamtuneError
from searchspace.formats.operations import Operation, Value

__all__ = ["NotConvertible", "time_independent"]

BYTE = 6
DATATYPES = {1: BYTE, 2: 3, 4: 1, 8: 0, 16: 43}
"""SMPI's id of a datatype by its bytes: BYTE, SHORT, INT, DOUBLE, COMPLEX16."""
SENT_WHOLE = frozenset(
    ["alltoall", "allgather", "scatter", "alltoallv", "gatherv", "scatterv", "scan", "exscan"]
)
"""Collectives of which no algorithm of SMPI cuts a rank's part into pieces, or chooses by how many
elements it has: they take as long with other datatypes of as many bytes."""
MOST = 2**31 - 1
"""Bytes of a call, counted in bytes: MPI's counts, and where parts begin, are of type int."""
WTIME_SECONDS = "1e-08"
"""What SMPI charges for a call of MPI_Wtime (its option `smpi/wtime`)."""

WORLD = 0
PROC_NULL = -1
IN_PLACE, NOT_COMMUTATIVE = 1, 2
SEND_SLOT, RECEIVE_SLOT = -1, -2
"""Slots of the two halves of a sendrecv; those of requests count from 0."""

Fields = Mapping[str, Value]
Words = Sequence[Any]
_Key = tuple[int, int, int]  # source, target, tag


class NotConvertible(HamtuneError):
    """The trace holds what a stock time-independent trace cannot express."""


def time_independent(rank: int, ranks: int, operations: Iterable[Operation]) -> Iterator[str]:
    """The lines of one rank.

    Args:
        rank: Whose operations they are.
        ranks: How many ranks the trace has.
        operations: All operations of the rank.

    Raises:
        NotConvertible: An operation that the stock format does not know; the message names it.
    """
    yield f"{rank} init\n"
    requests = _Requests(rank)
    for operation in _with_matches(operations):
        for words in _words(operation, rank, ranks, requests):
            yield f"{rank} {' '.join(map(str, words))}\n"
    yield f"{rank} finalize\n"


def _words(operation: Operation, rank: int, ranks: int, requests: _Requests) -> Iterator[Words]:
    fields = operation.fields
    makes_another = operation.name.startswith(("comm_", "cart_"))
    if makes_another or fields.get("comm", WORLD) != WORLD:
        raise NotConvertible("it uses other communicators than MPI_COMM_WORLD")
    match operation.name:
        case "compute":
            yield "compute", repr(fields["flops"])
        case "wtime":
            yield "sleep", WTIME_SECONDS
        case "send" | "recv" if fields["peer"] != PROC_NULL:
            yield operation.name, _known(fields["peer"]), fields["tag"], *_bytes(fields)
        case "isend" | "irecv":
            yield from requests.start(operation.name, fields)
        case "sendrecv":
            # The stock action has no tags; a send and a receive that are waited for are the same.
            yield from requests.start("isend", _half(fields, SEND_SLOT, "to", "send"))
            yield from requests.start("irecv", _half(fields, RECEIVE_SLOT, "from", "recv"))
            yield from requests.wait([SEND_SLOT, RECEIVE_SLOT])
        case "wait":
            yield from requests.wait([_int(fields["slot"])])
        case "waitall":
            yield from requests.wait(_ints(fields["slots"]))
        case "send" | "recv" | "match" | "pcontrol" | "finalize":
            return
        case _:
            yield _collective(operation, rank, ranks)


def _collective(operation: Operation, rank: int, ranks: int) -> Words:
    fields = _in_known_types(operation, ranks)
    flags = _int(fields.get("flags", 0))
    in_place = bool(flags & IN_PLACE)
    if flags & NOT_COMMUTATIVE:
        raise NotConvertible("a reduction has an operator that does not commute")
    root = (fields["root"],) if "root" in fields else ()
    words: Words
    match operation.name:
        case "barrier":
            words = ()
        case "bcast":
            words = fields["count"], *root, _datatype(fields["size"])
        case "reduce" | "allreduce" | "scan" | "exscan":
            words = fields["count"], 0, *root, _datatype(fields["size"])
        case "gather" | "scatter" | "allgather" | "alltoall":
            # Off the root, too, some of SMPI's algorithms look at what is the root's to give.
            sending = "send" if fields["send_size"] else "recv"
            receiving = "recv" if fields["recv_size"] else "send"
            counts = fields[f"{sending}_count"], fields[f"{receiving}_count"]
            words = *counts, *root, *_datatypes(fields)
        case "gatherv" | "allgatherv":
            parts = _ints(fields["recv_counts"]) or [0] * ranks
            count = parts[rank] if in_place else fields["send_count"]
            words = count, *parts, *root, *_datatypes(fields)
        case "scatterv":
            parts = _ints(fields["send_counts"]) or [0] * ranks
            count = parts[rank] if in_place else fields["recv_count"]
            words = *parts, count, *root, *_datatypes(fields)
        case "alltoallv":
            received = _ints(fields["recv_counts"])
            sent = received if in_place else _ints(fields["send_counts"])
            words = sum(sent), *sent, sum(received), *received, *_datatypes(fields)
        case "reduce_scatter":
            words = *_ints(fields["counts"]), 0, _datatype(fields["size"])
        case _:
            raise NotConvertible(f"it has the operation {operation.name}")
    return operation.name.replace("_", ""), *words


class _Requests:
    """The open requests of a rank: our slots, and the keys that the stock format waits by."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._started = 0
        self._open: dict[int, tuple[int, _Key | None]] = {}
        self._waiting: dict[_Key, deque[int]] = {}  # of each key, oldest first

    def start(self, name: str, fields: Fields) -> Iterator[Words]:
        peer, tag = _known(fields["peer"]), _int(fields["tag"])
        key = (self._rank, peer, tag) if name == "isend" else (peer, self._rank, tag)
        self._open[_int(fields["slot"])] = self._started, None if peer == PROC_NULL else key
        if peer != PROC_NULL:
            self._waiting.setdefault(key, deque()).append(self._started)
        self._started += 1
        if peer != PROC_NULL:
            yield name, peer, tag, *_bytes(fields)

    def wait(self, slots: Sequence[int]) -> Iterator[Words]:
        """Wait for the requests, oldest first, so that equal keys stay in order."""
        for slot in sorted(slots, key=lambda slot: self._open[slot]):
            started, key = self._open.pop(slot)
            if key is None:
                continue
            if self._waiting[key].popleft() != started:
                raise NotConvertible(
                    "it waits for messages with equal partner and tag out of order"
                )
            if not self._waiting[key]:
                del self._waiting[key]
            yield "wait", *key


def _with_matches(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations, with receives from any source naming what they got.

    The trace tells it in a `match` that follows the receive.
    """
    listed = list(operations)
    receives: dict[int, int] = {}
    for index, operation in enumerate(listed):
        if operation.name == "irecv":
            receives[_int(operation.fields["slot"])] = index
        elif operation.name == "match":
            at = receives[_int(operation.fields["slot"])]
            listed[at] = Operation("irecv", {**listed[at].fields, **operation.fields})
    yield from listed


def _half(fields: Fields, slot: int, peer: str, half: str) -> Fields:
    return {"slot": slot, "peer": fields[peer]} | {
        name: fields[f"{half}_{name}"] for name in ("tag", "count", "size")
    }


def _known(peer: Value) -> int:
    if _int(peer) < PROC_NULL:
        raise NotConvertible("it receives from any source without saying from which")
    return _int(peer)


def _bytes(fields: Fields) -> tuple[int, int]:
    size = _int(fields["count"]) * _int(fields["size"])
    if size > MOST:
        raise NotConvertible(f"it has a message of {size} bytes, more than an int can count")
    return size, BYTE


def _in_known_types(operation: Operation, ranks: int) -> Fields:
    """The fields of a collective, counted in bytes if its datatype has no id and that is the same.

    Raises:
        NotConvertible: It may take another time with as many bytes, or they are too many.
    """
    fields = operation.fields
    sizes = {name: _int(value) for name, value in fields.items() if name.endswith("size")}
    unknown = [size for size in sizes.values() if size and size not in DATATYPES]
    if not unknown:
        return fields
    if operation.name not in SENT_WHOLE:
        raise NotConvertible(
            f"a collective ({operation.name}) uses a datatype of {unknown[0]} bytes, which that "
            "format does not have, and counted in bytes it would be cut into other pieces"
        )
    counted = dict(fields)
    for name, size in sizes.items():
        for count in (name.replace("size", "count"), name.replace("size", "counts")):
            if count in fields:
                counted[count] = _times(fields[count], size, ranks)
        counted[name] = 1 if size else 0
    return counted


def _times(counts: Value, size: int, ranks: int) -> Value:
    """Counts of elements of so many bytes, in bytes."""
    each = [counts] * ranks if isinstance(counts, int) else counts
    assert isinstance(each, Sequence)
    if sum(_ints(each)) * size > MOST:
        raise NotConvertible(f"a collective of elements of {size} bytes has more than 2 GiB")
    return counts * size if isinstance(counts, int) else [count * size for count in _ints(counts)]


def _datatypes(fields: Fields) -> tuple[int, int]:
    """Of what is sent and received.

    The side that a call in place or off the root leaves out is recorded as 0; it is as the other.
    """
    sent, received = fields["send_size"], fields["recv_size"]
    return _datatype(sent or received), _datatype(received or sent)


def _datatype(size: Value) -> int:
    return DATATYPES[_int(size)]


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _ints(value: Value) -> list[int]:
    assert isinstance(value, Sequence)
    return list(value)
