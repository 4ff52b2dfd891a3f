"""The operations of a trace, encoded and decoded from one table (docs/trace-format.md).

The C++ reader of `searchspace.kernels` is the fast one; this one serves writers of small traces,
tests, and people who want to look at a rank's operations.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from searchspace.errors import InvalidInput

__all__ = ["NONBLOCKING", "OPERATIONS", "Operation", "Value", "decode", "encode"]

Value: TypeAlias = int | float | Sequence[int]

NONBLOCKING = 64
"""Added to the code of a collective for its non-blocking form, whose first field is `slot`."""

_MESSAGE = "comm:n peer:z tag:z count:n size:n"
_BLOCKS = "send_count:n send_size:n recv_count:n recv_size:n flags:n"

# Kinds of fields: n varint, z zigzag varint, f double, N counted list of n, M list of n as long
# as the list before it, P counted list of pairs of n (flattened).
_BLOCKING: dict[str, tuple[int, str]] = {
    "compute": (1, "flops:f"),
    "send": (2, _MESSAGE),
    "ssend": (3, _MESSAGE),
    "recv": (4, _MESSAGE),
    "isend": (5, f"slot:n {_MESSAGE}"),
    "issend": (6, f"slot:n {_MESSAGE}"),
    "irecv": (7, f"slot:n {_MESSAGE}"),
    "sendrecv": (
        8,
        "comm:n to:z send_tag:z send_count:n send_size:n "
        "from:z recv_tag:z recv_count:n recv_size:n",
    ),
    "wait": (9, "slot:n"),
    "waitall": (10, "slots:N"),
    "match": (11, "slot:n peer:z tag:z"),
    "probe": (12, "comm:n peer:z tag:z"),
    "wtime": (13, ""),
    "pcontrol": (14, "level:z"),
    "finalize": (15, ""),
    "request_free": (16, "slot:n"),
    "bsend": (17, _MESSAGE),
    "comm_dup": (20, "comm:n"),
    "comm_split": (21, "comm:n color:z key:z"),
    "comm_create": (22, "comm:n ranks:N"),
    "cart_create": (23, "comm:n dims:P reorder:n"),
    "cart_sub": (24, "comm:n remain:N"),
    "comm_free": (25, "comm:n"),
    "comm_create_group": (26, "comm:n ranks:N"),
}
_COLLECTIVES: dict[str, tuple[int, str]] = {
    "barrier": (32, "comm:n"),
    "bcast": (33, "comm:n root:n count:n size:n"),
    "reduce": (34, "comm:n root:n count:n size:n flags:n"),
    "allreduce": (35, "comm:n count:n size:n flags:n"),
    "gather": (36, f"comm:n root:n {_BLOCKS}"),
    "scatter": (37, f"comm:n root:n {_BLOCKS}"),
    "allgather": (38, f"comm:n {_BLOCKS}"),
    "alltoall": (39, f"comm:n {_BLOCKS}"),
    "gatherv": (40, "comm:n root:n send_count:n send_size:n recv_size:n flags:n recv_counts:N"),
    "scatterv": (41, "comm:n root:n send_size:n recv_count:n recv_size:n flags:n send_counts:N"),
    "allgatherv": (42, "comm:n send_count:n send_size:n recv_size:n flags:n recv_counts:N"),
    "alltoallv": (43, "comm:n send_size:n recv_size:n flags:n send_counts:N recv_counts:M"),
    "alltoallw": (44, "comm:n flags:n send_bytes:N recv_bytes:M"),
    "reduce_scatter": (45, "comm:n size:n flags:n counts:N"),
    "reduce_scatter_block": (46, "comm:n count:n size:n flags:n"),
    "scan": (47, "comm:n count:n size:n flags:n"),
    "exscan": (48, "comm:n count:n size:n flags:n"),
}


def _layout(fields: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, kind) for name, _, kind in (f.partition(":") for f in fields.split()))


OPERATIONS: dict[str, tuple[int, tuple[tuple[str, str], ...]]] = {
    name: (code, _layout(fields)) for name, (code, fields) in (_BLOCKING | _COLLECTIVES).items()
} | {
    f"i{name}": (code + NONBLOCKING, _layout(f"slot:n {fields}"))
    for name, (code, fields) in _COLLECTIVES.items()
}
"""Opcode and fields (name, kind) of every operation, by name."""

_BY_CODE = {code: (name, layout) for name, (code, layout) in OPERATIONS.items()}


@dataclass(frozen=True)
class Operation:
    """One operation of a rank: its name and its fields by name."""

    name: str
    fields: Mapping[str, Value]


def encode(name: str, **fields: Value) -> bytes:
    r"""Encode one operation; fields that are not given are 0 (lists: empty).

    Example:
        >>> encode("send", peer=1, count=10, size=8) + encode("finalize")
        b'\x02\x00\x02\x00\n\x08\x0f'

    Raises:
        InvalidInput: There is no such operation or field, or a value is out of range.
    """
    if name not in OPERATIONS:
        raise InvalidInput(f"there is no operation {name!r}; allowed: {', '.join(OPERATIONS)}")
    code, layout = OPERATIONS[name]
    unknown = fields.keys() - {field for field, _ in layout}
    if unknown:
        raise InvalidInput(f"operation {name} has no field {', '.join(sorted(unknown))}")
    out = bytearray([code])
    expected = 0
    for field, kind in layout:
        value = fields.get(field, () if kind in "NMP" else 0)
        if isinstance(value, Sequence):
            wrong = (kind == "M" and len(value) != expected) or (kind == "P" and len(value) % 2)
            if kind not in "NMP" or wrong:
                raise InvalidInput(f"field {field} of operation {name} has the wrong length")
            expected = len(value)
            if kind != "M":
                out += _varint(expected // 2 if kind == "P" else expected, field)
            for item in value:
                out += _varint(item, field)
        elif kind == "f":
            out += struct.pack("<d", value)
        else:
            number = int(value)
            out += _varint(_zigzag(number) if kind == "z" else number, field)
    return bytes(out)


def decode(data: bytes, *, shared: bool = False) -> Iterator[Operation]:
    """Decode the operations of one rank, or those that ranks share.

    Args:
        data: What is encoded.
        shared: Whether they are shared: computations have no flops there.

    Raises:
        InvalidInput: The bytes are not whole, known operations.
    """
    at = 0
    while at < len(data):
        entry = _BY_CODE.get(data[at])
        if entry is None:
            raise InvalidInput(f"unknown operation code {data[at]} at byte {at}")
        name, layout = entry
        at += 1
        if shared and name == "compute":
            layout = ()
        fields: dict[str, Value] = {}
        length = 0
        for field, kind in layout:
            if kind == "f":
                if at + 8 > len(data):
                    raise InvalidInput(f"operation {name} runs past the end")
                fields[field] = float(struct.unpack_from("<d", data, at)[0])
                at += 8
            elif kind in "NMP":
                if kind != "M":
                    length, at = _read_varint(data, at)
                    length *= 2 if kind == "P" else 1
                if length > len(data) - at:
                    raise InvalidInput(f"operation {name} runs past the end")
                items = []
                for _ in range(length):
                    item, at = _read_varint(data, at)
                    items.append(item)
                fields[field] = items
            else:
                number, at = _read_varint(data, at)
                fields[field] = _unzigzag(number) if kind == "z" else number
        yield Operation(name, fields)


def _zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def _unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _varint(value: int, field: str) -> bytes:
    if not 0 <= value < 1 << 64:
        raise InvalidInput("must be a whole number from 0 that fits 64 bits", field=field)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >= 1 << 64:
                break
            return value, at
        shift += 7
    raise InvalidInput(f"a number at byte {at} does not end or does not fit 64 bits")
