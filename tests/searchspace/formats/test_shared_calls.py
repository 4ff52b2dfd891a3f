"""Ranks that do alike share their calls in a trace, and nothing of any of them is lost."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import decode, encode
from searchspace.formats.trace import (
    TraceHeader,
    describe_trace,
    read_header,
    read_operations,
    validate,
    write_trace,
)
from searchspace.kernels import trace_summary

FINALIZE = encode("finalize")


def version_1(path: Path, ranks: list[bytes]) -> Path:
    """A trace as earlier Hamtunes wrote it: a block for each rank."""
    packed = [zlib.compress(rank) for rank in ranks]
    blocks = [
        {"compressed": len(p), "bytes": len(rank), "operations": len(list(decode(rank)))}
        for p, rank in zip(packed, ranks, strict=True)
    ]
    text = json.dumps({"ranks": len(ranks), "program": "old", "blocks": blocks}).encode()
    path.write_bytes(b"HAMTRACE" + struct.pack("<II", 1, len(text)) + text + b"".join(packed))
    return path


def version_2(path: Path, header: dict[str, object], body: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(b"HAMTRACE" + struct.pack("<II", 2, len(text)) + text + body)
    return path


def ring(ranks: int, iterations: int = 3) -> list[bytes]:
    """Every rank splits the world, and passes something on in its half and in the world."""
    half = ranks // 2

    def program(rank: int) -> bytes:
        here, size = rank % half, half
        steps = b"".join(
            encode("compute", flops=1e6 + step)
            + encode("irecv", slot=0, peer=(rank - 1) % ranks, tag=step, count=4, size=8)
            + encode("send", peer=(rank + 1) % ranks, tag=step, count=4, size=8)
            + encode("wait", slot=0)
            + encode("sendrecv", comm=2, to=(here + 1) % size, **{"from": (here - 1) % size})
            for step in range(iterations)
        )
        return encode("comm_split", color=rank // half, key=rank - 100) + steps + FINALIZE

    return [program(rank) for rank in range(ranks)]


def test_ranks_of_a_ring_share_one_block(tmp_path: Path) -> None:
    path = tmp_path / "ring.ht"
    programs = ring(512, iterations=50)
    header = write_trace(path, TraceHeader(ranks=512, program="ring"), programs)
    assert [(block.operations, block.ranks) for block in header.calls] == [(252, 512)]
    assert len(header.flops) == 1
    assert path.stat().st_size < 10_000
    for rank in (0, 1, 255, 256, 511):
        assert read_operations(path, rank) == programs[rank]


def test_version_1_is_read_as_ever(tmp_path: Path) -> None:
    programs = ring(8)
    old = version_1(tmp_path / "old.ht", programs)
    new = tmp_path / "new.ht"
    write_trace(new, TraceHeader(ranks=8, program="old"), programs)
    assert validate(old).operations == validate(new).operations
    assert describe_trace(old) == describe_trace(new)
    assert [read_operations(old, rank) for rank in range(8)] == programs


def test_computations_of_their_own_leave_ranks_their_shared_calls(tmp_path: Path) -> None:
    """As in a trace whose computation was measured."""
    path = tmp_path / "t.ht"
    programs = [encode("compute", flops=1.0 + rank) + FINALIZE for rank in range(4)]
    header = write_trace(path, TraceHeader(ranks=4, program="p"), programs)
    assert (len(header.calls), len(header.flops)) == (1, 4)
    assert describe_trace(path)["flops"] == 10.0


def test_computing_nothing_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.ht"
    write_trace(path, TraceHeader(ranks=1, program="p"), [encode("compute", flops=0.0) + FINALIZE])
    assert read_operations(path, 0) == FINALIZE


PEERS = st.integers(-2, 7)


@given(
    st.lists(
        st.lists(
            st.one_of(
                st.builds(lambda p: encode("send", peer=max(p, -1), count=1, size=8), PEERS),
                st.builds(lambda p: encode("recv", peer=p, count=1, size=8), PEERS),
                st.builds(lambda c: encode("comm_split", color=c, key=-c), st.integers(-1, 5)),
                st.builds(lambda f: encode("compute", flops=f), st.floats(1, 1e9)),
                st.builds(lambda r: encode("bcast", root=r, count=2, size=4), st.integers(0, 7)),
                st.builds(
                    lambda n: encode("alltoallv", send_counts=n, recv_counts=n),
                    st.lists(st.integers(0, 1 << 20), max_size=4),
                ),
            ),
            max_size=12,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_any_rank_did_comes_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, programs: list[list[bytes]]
) -> None:
    path = tmp_path_factory.mktemp("share") / "t.ht"
    ranks = [b"".join(program) + FINALIZE for program in programs]
    write_trace(path, TraceHeader(ranks=len(ranks), program="p"), ranks)
    assert [read_operations(path, rank) for rank in range(len(ranks))] == ranks


def test_a_long_rank_is_shared_across_chunks(tmp_path: Path) -> None:
    """Pieces of files end inside operations."""
    program = b"".join(
        encode("alltoallv", send_counts=[step] * 500, recv_counts=[7] * 500) for step in range(9000)
    )
    path = tmp_path / "t.ht"
    header = write_trace(
        path, TraceHeader(ranks=2, program="p"), [program + FINALIZE, program + FINALIZE]
    )
    assert [block.ranks for block in header.calls] == [2]
    assert read_operations(path, 1) == program + FINALIZE


CALLS = b"\x21\x00\x00\x01\x08" + FINALIZE  # a broadcast
SENDS = b"\x02\x00\x00\x00\x01\x08" + FINALIZE  # to the party in place 0
COMPUTES = b"\x01" + FINALIZE


def declare(
    calls: bytes, table: bytes, flops: bytes = b"", ranks: int = 1, **changes: object
) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a trace of version 2 that need not make sense."""
    packed = [zlib.compress(part) for part in (calls, flops, table)]
    header: dict[str, Any] = {
        "ranks": ranks,
        "program": "p",
        "calls": [
            {
                "compressed": len(packed[0]),
                "bytes": len(calls),
                "operations": len(calls.split(FINALIZE)),
                "ranks": ranks,
            }
        ],
        "flops": [{"compressed": len(packed[1]), "bytes": len(flops)}] if flops else [],
        "table": {"compressed": len(packed[2]), "bytes": len(table)},
    }
    body = packed[0] + (packed[1] if flops else b"") + packed[2]
    return {**header, **changes}, body


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (declare(CALLS, b"\x01\x00\x00"), "calls that are not there"),
        (declare(CALLS, b"\x00\x01\x00"), "flops that are not there"),
        (declare(CALLS, b"\x00\x00\x01\x00"), "other flops or parties"),
        (declare(CALLS, b"\x00\x00"), "runs past the end"),
        (declare(CALLS, b"\x00\x00\x00\x00"), "goes on behind its last rank"),
        (declare(CALLS, b"\x00\x00\xff\xff\xff\x7f"), "runs past the end"),
        (declare(SENDS, b"\x00\x00\x00"), "other flops or parties"),
        (declare(SENDS, b"\x00\x00\x01\x02"), "there is no rank 1"),
        (declare(SENDS, b"\x00\x00\x01\x01"), "below 0"),
        (declare(COMPUTES, b"\x00\x00\x00"), "other flops or parties"),
        (declare(COMPUTES, b"\x00\x01\x00", bytes(8)), "not positive"),
        (declare(COMPUTES, b"\x00\x01\x00", bytes(7)), "no list of flops"),
        (declare(CALLS, b"\x00\x00\x00", blocks=[]), "unknown key"),
    ],
)
def test_a_hostile_trace_of_version_2_is_refused(
    tmp_path: Path, trace: tuple[dict[str, Any], bytes], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        trace_summary(version_2(tmp_path / "t.ht", *trace))


def test_few_bytes_do_not_become_work_without_end(tmp_path: Path) -> None:
    """Sharing lets a small file stand for many operations; there is a limit."""
    calls = (b"\x20\x00") * 100_000 + FINALIZE
    header, body = declare(calls, b"\x00\x00\x00" * 65_536, ranks=65_536)
    header["calls"][0]["operations"] = 100_001
    with pytest.raises(InvalidInput, match="more than 4000000000 operations together"):
        trace_summary(version_2(tmp_path / "t.ht", header, body))
    assert read_header(tmp_path / "t.ht").operations == 100_001 * 65_536


def test_communicators_that_ranks_share_have_a_limit_together(tmp_path: Path) -> None:
    calls = (b"\x14\x00") * 10_000 + FINALIZE
    header, body = declare(calls, b"\x00\x00\x00" * 65_536, ranks=65_536)
    header["calls"][0]["operations"] = 10_001
    with pytest.raises(InvalidInput, match="more than 50000000 times together"):
        trace_summary(version_2(tmp_path / "t.ht", header, body))
