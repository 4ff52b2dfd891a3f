"""Writes traces whose ranks are known to share their calls, without writing out any rank's own."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from searchspace.formats.trace import CallBlock, PlainBlock, TraceHeader, write_blocks

__all__ = ["SharedRank", "write_shared_trace"]


@dataclass(frozen=True)
class SharedRank:
    """What a rank has.

    Attributes:
        calls: The number of its calls.
        flops: The number of its list of flops.
        parties: Whom it names, by place.
    """

    calls: int
    flops: int
    parties: NDArray[np.int64]


def write_shared_trace(
    path: Path,
    header: TraceHeader,
    calls: Sequence[tuple[bytes, int]],
    flops: Sequence[NDArray[np.float64]],
    ranks: Sequence[SharedRank],
) -> TraceHeader:
    """Write a trace of what ranks share and what each has of it.

    Args:
        path: The trace; it appears whole or not at all.
        header: Its blocks are replaced.
        calls: Encoded operations with places of parties, and how many they are; equal ones are
            written once.
        flops: Lists of flops, all above 0; empty for ranks that compute nothing.
        ranks: What each rank has of both.

    Returns:
        The header as written.

    Raises:
        InvalidInput: It is too large for a trace.
    """
    call_numbers, distinct = _numbered([encoded for encoded, _ in calls])
    flops_numbers, lists = _numbered([amounts.tobytes() for amounts in flops])
    filled = [number for number, amounts in enumerate(lists) if amounts]
    numbers = {number: place + 1 for place, number in enumerate(filled)}
    operations = dict(calls)
    users = np.bincount([call_numbers[rank.calls] for rank in ranks], minlength=len(distinct))
    table = bytearray()
    for number, rank in enumerate(ranks):
        table += _varints([call_numbers[rank.calls]])
        table += _varints([numbers.get(flops_numbers[rank.flops], 0), len(rank.parties)])
        table += _varints([_zigzag(int(party) - number) for party in rank.parties])
    packed = [zlib.compress(block, 6) for block in distinct]
    packed_flops = [zlib.compress(lists[number], 6) for number in filled]
    packed_table = zlib.compress(bytes(table), 6)
    update = {
        "blocks": (),
        "calls": tuple(
            CallBlock(
                compressed=len(block),
                bytes=len(encoded),
                operations=operations[encoded],
                ranks=int(count),
            )
            for block, encoded, count in zip(packed, distinct, users, strict=True)
        ),
        "flops": tuple(
            PlainBlock(compressed=len(block), bytes=len(lists[number]))
            for block, number in zip(packed_flops, filled, strict=True)
        ),
        "table": PlainBlock(compressed=len(packed_table), bytes=len(table)),
    }
    written = header.model_copy(update=update)
    with (
        tempfile.TemporaryFile(dir=path.parent) as body,
        tempfile.TemporaryFile(dir=path.parent) as of_flops,
    ):
        body.writelines(packed)
        of_flops.writelines(packed_flops)
        write_blocks(path, written, body, of_flops, packed_table)
    return written


def _numbered(blocks: Sequence[bytes]) -> tuple[list[int], list[bytes]]:
    """Each block by the number of the first that equals it, and those."""
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(block, len(known)) for block in blocks]
    return numbers, list(known)


def _zigzag(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def _varints(numbers: Sequence[int]) -> bytes:
    out = bytearray()
    for number in numbers:
        rest = number
        while rest >= 0x80:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        out.append(rest)
    return bytes(out)
