"""The C++ reader of traces: what it counts, and that nothing in a file can hurt it."""

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import OPERATIONS, Operation, decode, encode
from searchspace.formats.time_independent import NOT_COMMUTATIVE
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.kernels import trace_summary, traffic_matrix

FINALIZE = encode("finalize")
same_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def trace(directory: Path, *ranks: bytes) -> Path:
    path = directory / "t.ht"
    write_trace(path, TraceHeader(ranks=len(ranks), program="p"), [r + FINALIZE for r in ranks])
    return path


def raw_trace(directory: Path, blocks: Sequence[bytes], operations: int) -> Path:
    """A trace whose blocks need not make sense."""
    packed = [zlib.compress(block) for block in blocks]
    header = {
        "ranks": len(blocks),
        "program": "p",
        "blocks": [
            {"compressed": len(p), "bytes": len(b), "operations": operations}
            for p, b in zip(packed, blocks, strict=True)
        ],
    }
    text = json.dumps(header).encode()
    path = directory / "raw.ht"
    path.write_bytes(b"HAMTRACE" + struct.pack("<II", 1, len(text)) + text + b"".join(packed))
    return path


def test_a_summary_counts_calls_messages_and_flops(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        encode("compute", flops=1e6)
        + encode("compute", flops=5e5)
        + encode("send", peer=1, count=10, size=8)
        + encode("allreduce", count=1, size=8)
        + encode("isend", slot=0, peer=2, count=3, size=1)
        + encode("wait", slot=0),
        encode("recv", peer=0, count=10, size=8) + encode("allreduce", count=1, size=8),
        encode("irecv", slot=0, peer=0, count=3, size=1)
        + encode("allreduce", count=1, size=8)
        + encode("waitall", slots=[0]),
    )
    summary = trace_summary(path)
    assert summary["calls"] == {
        "send": 1,
        "recv": 1,
        "isend": 1,
        "irecv": 1,
        "wait": 1,
        "waitall": 1,
        "allreduce": 3,
    }
    assert (summary["messages"], summary["bytes"], summary["pairs"]) == (2, 83, 2)
    assert (summary["least_partners"], summary["most_partners"]) == (0, 2)
    assert (summary["flops"], summary["operations"], summary["ranks"]) == (1.5e6, 14, 3)
    np.testing.assert_array_equal(traffic_matrix(path), [[0, 80, 3], [0, 0, 0], [0, 0, 0]])


def test_a_summary_lists_the_communicators_of_collectives(tmp_path: Path) -> None:
    """Odd ranks in reverse order, and the world; non-blocking collectives have no algorithms."""
    world = encode("barrier") + encode("iallreduce", slot=0, count=1, size=8)
    world += encode("wait", slot=0)
    odd = [
        world + encode("comm_split", color=1, key=-rank) + encode("barrier", comm=2)
        for rank in range(4)
    ]
    even = world + encode("comm_split", color=-1)
    path = trace(tmp_path, even, odd[1], even, odd[3])
    assert trace_summary(path)["communicators"] == {"barrier": [[], [3, 1]]}


def test_a_summary_names_the_reductions_that_have_to_keep_the_order_of_ranks(
    tmp_path: Path,
) -> None:
    """Those that block: libraries have no choice of algorithms for the others."""
    element = {"count": 1, "size": 8}
    calls = encode("allreduce", **element) + encode("reduce", **element, flags=NOT_COMMUTATIVE)
    calls += encode("iallreduce", slot=0, **element, flags=NOT_COMMUTATIVE)
    calls += encode("wait", slot=0)
    assert trace_summary(trace(tmp_path, calls, calls))["non_commutative"] == ["reduce"]


def test_a_summary_tells_at_which_sizes_collectives_are_called(tmp_path: Path) -> None:
    """As libraries count them, by powers of two; calls that do not block have no choice."""
    block = {"send_count": 3, "send_size": 4, "recv_count": 3, "recv_size": 4}
    calls = b"".join(encode("bcast", count=n, size=8) for n in (0, 1, 1, 8, 12, 100))
    calls += encode("allgather", **block) + encode("reduce_scatter", counts=[5, 6], size=4)
    calls += encode("alltoallv", send_size=1, recv_size=1, send_counts=[1, 1], recv_counts=[1, 1])
    calls += encode("barrier") + encode("ibcast", slot=0, count=1, size=1) + encode("wait", slot=0)
    assert trace_summary(trace(tmp_path, calls, calls))["sizes"] == {
        "bcast": [(8, 8, 4), (64, 96, 4), (800, 800, 2)],
        "allgather": [(12, 12, 2)],
        "reduce_scatter": [(44, 44, 2)],
    }


def test_a_new_communicator_counts_as_a_broadcast_where_the_program_broadcasts(
    tmp_path: Path,
) -> None:
    """SMPI numbers communicators by the chosen algorithm, which may not work for few ranks."""
    ranks = [encode("bcast", count=1, size=8) + encode("comm_split", color=r) for r in range(2)]
    assert trace_summary(trace(tmp_path, *ranks))["communicators"] == {"bcast": [[], [0], [1]]}


def test_messages_in_a_split_communicator_belong_to_ranks_of_the_world(tmp_path: Path) -> None:
    # Odd ranks, in reverse order: rank 3 is 0, rank 1 is 1.
    odd = [encode("comm_split", color=1, key=-rank) for rank in range(4)]
    even = encode("comm_split", color=-1)
    path = trace(
        tmp_path,
        even,
        odd[1] + encode("recv", comm=2, peer=0, count=5, size=4),
        even,
        odd[3] + encode("send", comm=2, peer=1, count=5, size=4),
    )
    expected = np.zeros((4, 4), dtype=np.int64)
    expected[3, 1] = 20
    np.testing.assert_array_equal(traffic_matrix(path), expected)


def test_rows_of_a_grid_become_communicators(tmp_path: Path) -> None:
    def rank(row: int, column: int) -> bytes:
        grid = encode("cart_create", dims=[2, 0, 3, 1]) + encode("cart_sub", comm=2, remain=[0, 1])
        if column == 0:
            return grid + encode("send", comm=3, peer=2, count=1, size=row + 1)
        if column == 2:
            return grid + encode("recv", comm=3, peer=0, count=1, size=row + 1)
        return grid

    matrix = traffic_matrix(trace(tmp_path, *(rank(r, c) for r in range(2) for c in range(3))))
    assert {(int(i), int(j)): int(matrix[i, j]) for i, j in np.argwhere(matrix)} == {
        (0, 2): 1,
        (3, 5): 2,
    }


def test_a_grid_may_have_many_dimensions_of_one(tmp_path: Path) -> None:
    """But not so many that cutting it takes more memory than a reader has."""
    rows = encode("cart_sub", comm=2, remain=[0] * 128) + encode("barrier", comm=3)
    path = trace(tmp_path, *[encode("cart_create", dims=[2, 1, *[1, 0] * 127]) + rows] * 2)
    assert trace_summary(path)["communicators"] == {"barrier": [[0], [1]]}
    path = trace(tmp_path, *[encode("cart_create", dims=[2, 1, *[1, 0] * 128])] * 2)
    with pytest.raises(InvalidInput, match="rank 0, cart_create: a grid of more than 128 dimens"):
        trace_summary(path)


def test_groups_may_differ_where_they_are_disjoint(tmp_path: Path) -> None:
    def rank(*group: int) -> bytes:
        made = encode("comm_create", ranks=list(group))
        return made + (encode("bcast", comm=2, count=1, size=8) if group else b"")

    path = trace(tmp_path, rank(0, 2), rank(1), rank(0, 2), rank())
    assert trace_summary(path)["calls"] == {"comm_create": 4, "bcast": 3}
    with pytest.raises(InvalidInput, match="rank 2, comm_create: its group is not that of rank 0"):
        trace_summary(trace(tmp_path, rank(0, 2), rank(1), rank(2), rank()))


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        (encode("send", peer=2, count=1, size=1), "there is no rank 2"),
        (encode("send", comm=2, count=1, size=1), "there is no communicator 2"),
        (encode("send", peer=-2, count=1, size=1), "least value"),
        (encode("bcast", root=7, count=1, size=1), "there is no rank 7"),
        (encode("wait", slot=0), "no open request in slot 0"),
        (encode("irecv", slot=5, peer=0), "not taken in order"),
        (encode("irecv", peer=0) + encode("irecv", peer=0), "in use"),
        (encode("isend", peer=0) + encode("match", slot=0), "not a receive"),
        (encode("compute", flops=-1.0), "flops are negative"),
        (encode("compute", flops=float("inf")), "not finite"),
        (encode("send", count=2**31, size=1), "exceeds 2147483647"),
        (encode("alltoall", send_count=2**31 - 1, send_size=2**31 - 1), "1 TiB"),
        (encode("allgatherv", recv_counts=[1]), "a list of 1 counts for 2 ranks"),
        (encode("comm_free", comm=0), "not freed"),
        (encode("comm_dup") + encode("comm_free", comm=2) + encode("barrier", comm=2), "no comm"),
        (encode("comm_dup"), "not every member"),
        (encode("comm_create_group", ranks=[0, 1]), "not every member"),
        (encode("comm_create_group", ranks=[1]), "not in the group"),
        (encode("comm_create_group", ranks=[0, 0]), "comes twice"),
        (encode("finalize"), "operations follow finalize"),
        (b"\x12", "unknown operation code"),
        (encode("allreduce", flags=8), "unknown flags"),
        (encode("comm_split", comm=1, color=-1) + encode("barrier", comm=2), "not in the comm"),
    ],
)
def test_an_operation_that_cannot_be_replayed_is_refused(
    tmp_path: Path, operations: bytes, reason: str
) -> None:
    count = 2 if operations == b"\x12" else len(_split(operations)) + 1
    path = raw_trace(tmp_path, [operations + FINALIZE, FINALIZE], 1)
    text = path.read_bytes().replace(b'"operations": 1}', b'"operations": %d}' % count, 1)
    path.write_bytes(text)
    with pytest.raises(InvalidInput, match=reason):
        trace_summary(path)


def _split(operations: bytes) -> list[Operation]:
    return list(decode(operations))


def test_ranks_that_disagree_on_a_communicator_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"rank 1, comm_split: rank 0 calls comm_dup instead"):
        trace_summary(trace(tmp_path, encode("comm_dup"), encode("comm_split")))


def test_a_missing_file_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot open the trace: No such file"):
        trace_summary(tmp_path / "none.ht")


def test_a_block_that_declares_more_than_it_holds_is_refused_before_it_is_inflated(
    tmp_path: Path,
) -> None:
    path = raw_trace(tmp_path, [FINALIZE], 1)
    path.write_bytes(path.read_bytes().replace(b'"bytes": 1,', b'"bytes": 2000000000,'))
    fixed = path.read_bytes()
    length = fixed.index(b"}]}") + 3 - 16
    path.write_bytes(fixed[:12] + struct.pack("<I", length) + fixed[16:])
    with pytest.raises(InvalidInput, match="more than its blocks can hold"):
        trace_summary(path)


@same_directory
@given(st.binary(max_size=300), st.integers(1, 20))
def test_any_bytes_as_operations_end_in_a_summary_or_a_plain_error(
    tmp_path: Path, block: bytes, operations: int
) -> None:
    path = raw_trace(tmp_path, [block + FINALIZE], operations)
    try:
        trace_summary(path)
    except InvalidInput as error:
        assert "\n" not in str(error)


small = st.integers(0, 4)


@st.composite
def operation(draw: st.DrawFn) -> bytes:
    """An operation with small fields, so that many sequences get far."""
    name = draw(st.sampled_from(sorted(OPERATIONS)))
    fields: dict[str, Any] = {}
    length = 0
    for field, kind in OPERATIONS[name][1]:
        if kind == "f":
            fields[field] = draw(st.floats(0, 1e9))
        elif kind == "z":
            fields[field] = draw(st.integers(-2, 3))
        elif kind == "n":
            fields[field] = draw(small)
        else:
            if kind != "M":
                length = draw(st.integers(0, 3)) * (2 if kind == "P" else 1)
            fields[field] = draw(st.lists(small, min_size=length, max_size=length))
    return encode(name, **fields)


@same_directory
@given(st.lists(st.lists(operation(), max_size=6), min_size=1, max_size=3))
def test_any_operations_end_in_a_summary_or_a_plain_error(
    tmp_path: Path, ranks: list[list[bytes]]
) -> None:
    path = trace(tmp_path, *(b"".join(operations) for operations in ranks))
    try:
        summary = trace_summary(path)
    except InvalidInput:
        return
    assert summary["ranks"] == len(ranks)
    assert traffic_matrix(path).sum() == summary["bytes"]


@same_directory
@given(st.data())
def test_a_damaged_file_ends_in_a_summary_or_a_plain_error(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = trace(
        tmp_path,
        encode("comm_dup") + encode("send", comm=2, peer=1, count=9, size=8),
        encode("comm_dup") + encode("recv", comm=2, peer=0, count=9, size=8),
    ).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[at] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.ht"
    path.write_bytes(damaged[: data.draw(st.sampled_from([at, len(whole)]))])
    try:
        trace_summary(path)
    except InvalidInput as error:
        assert "\n" not in str(error)
