"""Traces round-trip; damaged and hostile ones are refused with a plain message."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import OPERATIONS, decode, encode
from searchspace.formats.trace import (
    RankBlock,
    RankFile,
    TraceHeader,
    describe_trace,
    read_header,
    read_operations,
    validate,
    write_trace,
)

NUMBERS = st.integers(0, 2**64 - 1)


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(OPERATIONS)))
    fields: dict[str, Any] = {}
    length = 0
    for field, kind in OPERATIONS[name][1]:
        if kind == "f":
            fields[field] = draw(st.floats(allow_nan=False))
        elif kind == "z":
            fields[field] = draw(st.integers(-(2**63), 2**63 - 1))
        elif kind == "n":
            fields[field] = draw(NUMBERS)
        else:
            if kind != "M":
                length = draw(st.integers(0, 5)) * (2 if kind == "P" else 1)
            fields[field] = draw(st.lists(NUMBERS, min_size=length, max_size=length))
    return name, fields


@given(st.lists(operations()))
def test_operations_round_trip(sequence: list[tuple[str, dict[str, Any]]]) -> None:
    data = b"".join(encode(name, **fields) for name, fields in sequence)
    assert [(op.name, op.fields) for op in decode(data)] == sequence


@given(st.binary(max_size=200))
def test_decoding_any_bytes_ends_in_operations_or_a_plain_error(data: bytes) -> None:
    try:
        sequence = list(decode(data))
    except InvalidInput:
        return
    assert sum(len(encode(op.name, **op.fields)) for op in sequence) <= len(data)


def test_the_table_has_no_two_operations_with_one_code() -> None:
    assert len({code for code, _ in OPERATIONS.values()}) == len(OPERATIONS)


def test_encoding_refuses_what_the_format_does_not_know() -> None:
    with pytest.raises(InvalidInput, match="no operation 'teleport'"):
        encode("teleport")
    with pytest.raises(InvalidInput, match="no field colour"):
        encode("comm_split", colour=1)
    with pytest.raises(InvalidInput, match="fits 64 bits"):
        encode("send", count=-1)
    with pytest.raises(InvalidInput, match="wrong length"):
        encode("alltoallv", send_counts=[1, 2], recv_counts=[1])


def a_trace(path: Path, ranks: int = 2) -> TraceHeader:
    header = TraceHeader(ranks=ranks, program="ring", arguments=("8",), captured_by="test")
    ring = [
        encode("compute", flops=1e6)
        + encode("sendrecv", to=(rank + 1) % ranks, send_count=4, send_size=8)
        + encode("finalize")
        for rank in range(ranks)
    ]
    return write_trace(path, header, ring)


def test_a_written_trace_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "ring.ht"
    written = a_trace(path)
    assert validate(path) == read_header(path) == written
    assert [(block.operations, block.ranks) for block in written.calls] == [(3, 1), (3, 1)]
    assert [op.name for op in decode(read_operations(path, 1))] == [
        "compute",
        "sendrecv",
        "finalize",
    ]


def test_the_same_run_gives_the_same_bytes_from_memory_and_from_files(tmp_path: Path) -> None:
    raw = tmp_path / "rank-0"
    raw.write_bytes(encode("barrier") + encode("finalize"))
    header = TraceHeader(ranks=1, program="one")
    write_trace(tmp_path / "a.ht", header, [raw.read_bytes()])
    write_trace(tmp_path / "b.ht", header, [RankFile(raw, 2)])
    assert (tmp_path / "a.ht").read_bytes() == (tmp_path / "b.ht").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.ht", "b.ht", "rank-0"]


def test_ranks_and_blocks_must_agree(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="1 blocks for 2 ranks"):
        write_trace(tmp_path / "t.ht", TraceHeader(ranks=2, program="p"), [encode("finalize")])
    assert not list(tmp_path.iterdir())


def test_files_too_large_for_a_trace_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """Holes cost nothing to write, and hours to compress."""
    raw = tmp_path / "rank"
    with raw.open("wb") as file:
        file.truncate(2 << 30)
    chunks: list[None] = []
    with pytest.raises(InvalidInput, match=r"more than 2 GiB of operations \(128.0 GiB\)"):
        write_trace(
            tmp_path / "t.ht",
            TraceHeader(ranks=64, program="p"),
            [RankFile(raw, 1)] * 64,
            each_chunk=lambda: chunks.append(None),
        )
    assert not chunks


def test_a_rank_cannot_have_more_operations_than_bytes(tmp_path: Path) -> None:
    raw = tmp_path / "rank"
    raw.write_bytes(encode("finalize"))
    with pytest.raises(InvalidInput, match="rank 0 left 1 bytes, which cannot hold 2 operations"):
        write_trace(tmp_path / "t.ht", TraceHeader(ranks=1, program="p"), [RankFile(raw, 2)])


def test_writing_can_be_interrupted_between_chunks(tmp_path: Path) -> None:
    raw = tmp_path / "rank"
    with raw.open("wb") as file:
        file.truncate(1 << 30)
    chunks = 0

    def interrupt() -> None:
        nonlocal chunks
        chunks += 1
        if chunks == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_trace(
            tmp_path / "t.ht",
            TraceHeader(ranks=1, program="p"),
            [RankFile(raw, 1)],
            each_chunk=interrupt,
        )
    assert (chunks, sorted(tmp_path.iterdir())) == (3, [raw])


def forge(path: Path, header: object, body: bytes = b"", *, version: int = 1) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(b"HAMTRACE" + struct.pack("<II", version, len(text)) + text + body)
    return path


def declare(**changes: object) -> dict[str, object]:
    body = zlib.compress(encode("finalize"))
    block = {"compressed": len(body), "bytes": 1, "operations": 1}
    return {"ranks": 1, "program": "p", "blocks": [block], **changes}


BODY = zlib.compress(encode("finalize"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{", "header is wrong"),
        (b"[" * 100_000, "header is wrong"),
        (b"\xff\xfe", "header is wrong"),
        ([], "header is wrong"),
        (declare(ranks=0), "at ranks"),
        (declare(ranks=True), "at ranks"),
        (declare(ranks=10**30), "at ranks"),
        (declare(ranks=70_000), "at ranks"),
        (declare(ranks=3), "1 blocks for 3 ranks"),
        (declare(program="../../etc/passwd"), "at program"),
        (declare(program="a\nb"), "at program"),
        (declare(host_speed=-1.0), "at host_speed"),
        (declare(surprise=1), "at surprise"),
        (declare(measured={"stretches": 1, "seconds": -1.0, "empty_stretch": 0.0}), "at measured"),
        (declare(blocks=[{"compressed": 1, "bytes": 1}]), "blocks.0.operations"),
        (declare(blocks=[{"compressed": 9, "bytes": 3 << 30, "operations": 1}]), "blocks.0.bytes"),
        (
            declare(ranks=2, blocks=[{"compressed": 9, "bytes": 2 << 30, "operations": 1}] * 2),
            "more than 2 GiB",
        ),
    ],
)
def test_a_hostile_header_is_refused(tmp_path: Path, header: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_header(forge(tmp_path / "t.ht", header, BODY))


def test_a_foreign_or_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ring.ht"
    a_trace(path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InvalidInput):
            validate(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InvalidInput, match="header says"):
        validate(path)
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(InvalidInput, match="not a Hamtune trace"):
        validate(path)
    with pytest.raises(InvalidInput, match="cannot read the trace nowhere"):
        validate(tmp_path / "nowhere.ht")
    with pytest.raises(InvalidInput, match="version 9"):
        read_header(forge(path, declare(), BODY, version=9))


def test_a_bomb_is_stopped_at_the_declared_size(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(64 << 20))
    block = {"compressed": len(bomb), "bytes": 1000, "operations": 1}
    path = forge(tmp_path / "t.ht", declare(blocks=[block]), bomb)
    with pytest.raises(InvalidInput, match="does not inflate to"):
        validate(path)


def test_a_block_may_hide_nothing_after_its_stream(tmp_path: Path) -> None:
    body = BODY + b"hidden"
    block = {"compressed": len(body), "bytes": 1, "operations": 1}
    path = forge(tmp_path / "t.ht", declare(blocks=[block]), body)
    with pytest.raises(InvalidInput, match="does not inflate to"):
        validate(path)


def test_a_rank_without_finalize_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.ht"
    write_trace(path, TraceHeader(ranks=1, program="p"), [encode("barrier")])
    with pytest.raises(InvalidInput, match="calls 0 of the trace does not end with finalize"):
        validate(path)


def test_an_unknown_operation_is_not_written(tmp_path: Path) -> None:
    wrong = [encode("finalize"), b"\x1e" + encode("finalize")]
    with pytest.raises(InvalidInput, match="rank 1 of the trace: unknown operation code 30"):
        write_trace(tmp_path / "t.ht", TraceHeader(ranks=2, program="p"), wrong)
    assert not (tmp_path / "t.ht").exists()


@given(st.data())
def test_a_flipped_byte_is_an_error_or_another_valid_trace(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("flip") / "ring.ht"
    a_trace(path)
    whole = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    try:
        validate(path)
    except InvalidInput as error:
        assert str(error)


def test_communicators_without_end_are_refused(tmp_path: Path) -> None:
    """A byte or two each in a file, they take hundreds in memory."""
    path = tmp_path / "t.ht"
    program = encode("comm_dup", comm=1) * 1_000_001 + encode("finalize")
    block = RankBlock(program, 1_000_002)
    write_trace(path, TraceHeader(ranks=1, program="p"), [block])
    with pytest.raises(InvalidInput, match="more than 1000000 communicators"):
        describe_trace(path)


def test_each_of_many_ranks_knows_its_place_in_each_of_many_communicators(tmp_path: Path) -> None:
    """A rank looked for among all others, in each, would take as long as the square of them."""
    path = tmp_path / "t.ht"
    copies = b"".join(encode("comm_dup") for _ in range(64))
    last = encode("bcast", comm=65, root=7, count=1, size=8) + encode("finalize")
    write_trace(path, TraceHeader(ranks=4096, program="p"), [RankBlock(copies + last, 66)] * 4096)
    assert describe_trace(path)["communicators"]["bcast"] == [[]]
