from __future__ import annotations

from typing import Any

import pytest

from searchspace.formats.operations import Operation, decode, encode
from searchspace.formats.time_independent import NotConvertible, time_independent


def lines(*operations: tuple[str, dict[str, Any]]) -> list[str]:
    data = b"".join(encode(name, **fields) for name, fields in operations)
    return [line.strip() for line in time_independent(1, 2, decode(data))][1:-1]


def message(peer: int, tag: int = 5, **more: int) -> dict[str, int]:
    return {"peer": peer, "tag": tag, "count": 10, "size": 8} | more


def test_messages_are_written_in_bytes() -> None:
    assert lines(("compute", {"flops": 1.5e9}), ("send", message(0)), ("recv", message(2))) == [
        "1 compute 1500000000.0",
        "1 send 0 5 80 6",
        "1 recv 2 5 80 6",
    ]


def test_requests_are_waited_for_by_source_target_and_tag() -> None:
    assert lines(
        ("irecv", message(0, slot=0)),
        ("isend", message(2, tag=7, slot=1)),
        ("waitall", {"slots": [1, 0]}),
    ) == ["1 irecv 0 5 80 6", "1 isend 2 7 80 6", "1 wait 0 1 5", "1 wait 1 2 7"]


def test_a_receive_from_any_source_names_what_it_got() -> None:
    assert lines(
        ("irecv", message(-2, tag=-1, slot=0)),
        ("match", {"slot": 0, "peer": 3, "tag": 9}),
        ("wait", {"slot": 0}),
    ) == ["1 irecv 3 9 80 6", "1 wait 3 1 9"]


def test_a_sendrecv_is_a_send_and_a_receive_that_are_waited_for() -> None:
    exchange = {
        "to": 0, "send_tag": 1, "send_count": 3, "send_size": 4,
        "from": 2, "recv_tag": 2, "recv_count": 5, "recv_size": 4,
    }  # fmt: skip

    assert lines(("sendrecv", exchange)) == [
        "1 isend 0 1 12 6",
        "1 irecv 2 2 20 6",
        "1 wait 1 0 1",
        "1 wait 2 1 2",
    ]


def test_messages_to_nobody_leave_nothing() -> None:
    assert (
        lines(
            ("send", message(-1)),
            ("irecv", message(-1, slot=0)),
            ("wait", {"slot": 0}),
            ("pcontrol", {"level": 1}),
        )
        == []
    )


@pytest.mark.parametrize(
    ("name", "fields", "line"),
    [
        ("barrier", {}, "barrier"),
        ("bcast", {"root": 2, "count": 4, "size": 8}, "bcast 4 2 0"),
        ("reduce", {"root": 2, "count": 4, "size": 4}, "reduce 4 0 2 1"),
        ("allreduce", {"count": 4, "size": 16}, "allreduce 4 0 43"),
        (
            "gather",
            {"root": 1, "send_count": 3, "send_size": 2, "recv_count": 3, "recv_size": 2},
            "gather 3 3 1 3 3",
        ),
        (
            "alltoall",
            {"send_count": 3, "send_size": 1, "recv_count": 3, "recv_size": 1},
            "alltoall 3 3 6 6",
        ),
        (
            "alltoallv",
            {"send_size": 4, "recv_size": 4, "send_counts": [1, 2], "recv_counts": [5, 6]},
            "alltoallv 3 1 2 11 5 6 1 1",
        ),
        (
            "allgatherv",
            {"send_count": 2, "send_size": 8, "recv_size": 8, "recv_counts": [1, 2]},
            "allgatherv 2 1 2 0 0",
        ),
        (
            "gatherv",
            {"root": 1, "send_count": 2, "send_size": 8, "recv_size": 8, "recv_counts": [1, 2]},
            "gatherv 2 1 2 1 0 0",
        ),
        (
            "scatterv",
            {"root": 1, "send_size": 8, "recv_count": 2, "recv_size": 8, "send_counts": [1, 2]},
            "scatterv 1 2 2 1 0 0",
        ),
        ("reduce_scatter", {"size": 8, "counts": [3, 4]}, "reducescatter 3 4 0 0"),
        ("wtime", {}, "sleep 1e-08"),
    ],
)
def test_collectives(name: str, fields: dict[str, Any], line: str) -> None:
    assert lines((name, fields)) == [f"1 {line}"]


@pytest.mark.parametrize(
    ("name", "fields", "line"),
    [
        ("gather", {"root": 0, "send_count": 3, "send_size": 2}, "gather 3 3 0 3 3"),
        ("scatter", {"root": 0, "recv_count": 3, "recv_size": 2}, "scatter 3 3 0 3 3"),
        ("gatherv", {"root": 0, "send_count": 3, "send_size": 2}, "gatherv 3 0 0 0 3 3"),
        ("scatterv", {"root": 0, "recv_count": 3, "recv_size": 2}, "scatterv 0 0 3 0 3 3"),
    ],
)
def test_off_the_root_the_side_of_the_root_is_as_the_other(
    name: str, fields: dict[str, Any], line: str
) -> None:
    assert lines((name, fields)) == [f"1 {line}"]


@pytest.mark.parametrize(
    ("name", "fields", "line"),
    [
        ("gather", {"root": 1, "recv_count": 3, "recv_size": 2}, "gather 3 3 1 3 3"),
        ("scatter", {"root": 1, "send_count": 3, "send_size": 2}, "scatter 3 3 1 3 3"),
        ("allgather", {"recv_count": 3, "recv_size": 4}, "allgather 3 3 1 1"),
        ("alltoall", {"recv_count": 3, "recv_size": 4}, "alltoall 3 3 1 1"),
        ("gatherv", {"root": 1, "recv_counts": [3, 5], "recv_size": 4}, "gatherv 5 3 5 1 1 1"),
        ("scatterv", {"root": 1, "send_counts": [3, 5], "send_size": 4}, "scatterv 3 5 5 1 1 1"),
        ("allgatherv", {"recv_counts": [3, 5], "recv_size": 4}, "allgatherv 5 3 5 1 1"),
        (
            "alltoallv",
            {"send_counts": [0, 0], "recv_counts": [3, 5], "recv_size": 4},
            "alltoallv 8 3 5 8 3 5 1 1",
        ),
    ],
)
def test_in_place_both_sides_are_alike(name: str, fields: dict[str, Any], line: str) -> None:
    assert lines((name, {**fields, "flags": 1})) == [f"1 {line}"]


@pytest.mark.parametrize(
    ("name", "fields", "line"),
    [
        (
            "alltoall",
            {"send_count": 3, "send_size": 24, "recv_count": 9, "recv_size": 8},
            "alltoall 72 72 6 6",
        ),
        ("scatter", {"root": 0, "recv_count": 3, "recv_size": 12}, "scatter 36 36 0 6 6"),
        (
            "gatherv",
            {"root": 1, "send_count": 2, "send_size": 5, "recv_size": 5, "recv_counts": [1, 2]},
            "gatherv 10 5 10 1 6 6",
        ),
        (
            "alltoallv",
            {"recv_size": 24, "recv_counts": [5, 6], "send_counts": [0, 0], "flags": 1},
            "alltoallv 264 120 144 264 120 144 6 6",
        ),
        ("scan", {"count": 2, "size": 40}, "scan 80 0 6"),
    ],
)
def test_datatypes_without_an_id_are_counted_in_bytes(
    name: str, fields: dict[str, Any], line: str
) -> None:
    assert lines((name, fields)) == [f"1 {line}"]


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([("comm_split", {"color": 1})], "other communicators"),
        ([("bcast", {"comm": 2, "size": 8})], "other communicators"),
        ([("send", {**message(0), "comm": 1})], "other communicators"),
        ([("iallreduce", {"size": 8})], "iallreduce"),
        ([("bcast", {"size": 24})], r"\(bcast\) uses a datatype of 24 bytes"),
        ([("allreduce", {"size": 12, "count": 1})], r"\(allreduce\) uses a datatype of 12 bytes"),
        ([("scatter", {"recv_size": 3, "recv_count": 2**29})], "more than 2 GiB"),
        ([("scan", {"size": 24, "count": 2**26})], "more than 2 GiB"),
        ([("send", message(0, count=2**28))], "a message of 2147483648 bytes"),
        ([("allreduce", {"size": 8, "flags": 2})], "does not commute"),
        ([("irecv", message(-2, slot=0))], "any source"),
        (
            [
                ("irecv", message(0, slot=0)),
                ("irecv", message(0, slot=1)),
                ("wait", {"slot": 1}),
            ],
            "out of order",
        ),
    ],
)
def test_what_the_format_cannot_express_is_named(
    operations: list[tuple[str, dict[str, Any]]], reason: str
) -> None:
    with pytest.raises(NotConvertible, match=reason):
        lines(*operations)


def test_every_line_begins_with_the_rank() -> None:
    assert list(time_independent(3, 4, [Operation("finalize", {})])) == ["3 init\n", "3 finalize\n"]


def test_very_many_requests_may_be_waited_for_at_once() -> None:
    """Comparing each with all that are open took time by the square of their number."""
    count = 40_000
    opened = [("irecv", message(0, tag=number % 7, slot=number)) for number in range(count)]

    written = lines(*opened, ("waitall", {"slots": range(count)}))
    assert len(written) == 2 * count
    assert written[-1] == f"1 wait 0 1 {(count - 1) % 7}"
