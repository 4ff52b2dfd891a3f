"""Loops in traces: found in all ranks together, whatever stands around and within them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchspace.formats.operations import decode, encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.kernels import CannotCut, trace_loops, trace_summary, truncate_blocks
from searchspace.truncation import truncate

MARK = encode("pcontrol", level=1)
same_directory = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)


def trace(directory: Path, ranks: Sequence[bytes]) -> Path:
    path = directory / "t.ht"
    finalized = [operations + encode("finalize") for operations in ranks]
    write_trace(path, TraceHeader(ranks=len(ranks), program="p"), finalized)
    return path


def ring(rank: int, ranks: int, count: int = 10) -> bytes:
    """A message around the ring: receive from the left, send to the right, wait for both."""
    return (
        encode("irecv", slot=0, peer=(rank - 1) % ranks, count=count, size=8)
        + encode("isend", slot=1, peer=(rank + 1) % ranks, count=count, size=8)
        + encode("waitall", slots=[0, 1])
    )


def pipeline(rank: int, ranks: int) -> bytes:
    """A wave from the first rank to the last: every rank but the first waits for its neighbour."""
    receive = encode("recv", peer=rank - 1, count=5, size=8) if rank else b""
    send = encode("send", peer=rank + 1, count=5, size=8) if rank + 1 < ranks else b""
    return receive + encode("compute", flops=1e6) + send


def test_a_loop_is_found_without_marks(tmp_path: Path) -> None:
    ranks = [
        encode("bcast", count=1, size=4)
        + (ring(rank, 4) + encode("allreduce", count=1, size=8)) * 20
        + encode("reduce", count=1, size=8)
        for rank in range(4)
    ]
    (loop,) = trace_loops(trace(tmp_path, ranks))
    assert (loop["iterations"], loop["regularity"], loop["marked"]) == (20, "exact", False)
    assert loop["calls"] == 16


def test_iterations_in_which_nearly_all_ranks_are_idle_are_no_loop_where_there_are_very_many(
    tmp_path: Path,
) -> None:
    """It would take memory for every rank in each of them."""

    def alone(calls: int) -> Path:
        return trace(tmp_path, [encode("wtime") * calls, *[b""] * 511])

    (loop,) = trace_loops(alone(60_000))
    assert loop["iterations"] == 60_000
    assert trace_loops(alone(70_000)) == []


RANKS = 4


def scattered(rank: int, count: int) -> bytes:
    at_root = rank == 0
    counts = [count] * RANKS if at_root else []
    return encode(
        "scatterv",
        comm=0,
        root=0,
        send_size=8 if at_root else 0,
        recv_count=count,
        recv_size=8,
        flags=0,
        send_counts=counts,
    )


def gathered_in_place(_rank: int, count: int) -> bytes:
    return encode(
        "allgather", comm=0, send_count=0, send_size=8, recv_count=count, recv_size=8, flags=1
    )


def exchanged_in_place(_rank: int, count: int) -> bytes:
    none, counts = [0] * RANKS, [count] * RANKS
    return encode(
        "alltoallv",
        comm=0,
        send_size=8,
        recv_size=8,
        flags=1,
        send_counts=none,
        recv_counts=counts,
    )


def reduced(_rank: int, count: int) -> bytes:
    return encode("allreduce", count=count, size=8)


@pytest.mark.parametrize("call", [scattered, gathered_in_place, exchanged_in_place, reduced])
def test_a_sweep_over_sizes_of_any_collective_is_no_loop(
    call: Callable[[int, int], bytes], tmp_path: Path
) -> None:
    compute = encode("compute", flops=1e6)
    sizes = [10 ** (1 + number % 6) for number in range(30)] + [10] * 30
    swept = [b"".join(call(rank, size) + compute for size in sizes) for rank in range(RANKS)]
    found = trace_loops(trace(tmp_path, swept))
    assert {loop["regularity"] for loop in found} == {"exact"}


def test_loops_within_loops_are_found(tmp_path: Path) -> None:
    body = [ring(rank, 3) * 10 + encode("allreduce", count=2, size=8) for rank in range(3)]
    loops = trace_loops(trace(tmp_path, [one * 7 for one in body]))
    assert [(loop["depth"], loop["iterations"]) for loop in loops] == [(0, 7), (1, 10)]


def test_ranks_of_a_pipeline_repeat_themselves_with_different_calls(tmp_path: Path) -> None:
    ranks = [pipeline(rank, 5) * 30 for rank in range(5)]
    (loop,) = trace_loops(trace(tmp_path, ranks))
    assert loop["iterations"] >= 25
    assert loop["regularity"] == "exact"


def test_marks_show_iterations_that_differ(tmp_path: Path) -> None:
    ranks = [
        b"".join(MARK + ring(rank, 2, count) * (count % 2 + 1) for count in (10, 7, 12, 8, 14, 16))
        for rank in range(2)
    ]
    loops = trace_loops(trace(tmp_path, ranks))
    assert loops[0]["marked"]
    assert loops[0]["regularity"] == "uneven"


def test_a_sweep_over_sizes_is_no_loop(tmp_path: Path) -> None:
    ranks = [
        b"".join(MARK + ring(rank, 2, 2**step) * (step % 3 + 1) for step in range(9))
        for rank in range(2)
    ]
    assert trace_loops(trace(tmp_path, ranks)) == []


def test_sizes_may_differ_a_little(tmp_path: Path) -> None:
    ranks = [
        b"".join(MARK + ring(rank, 2, 1000 + 7 * step) for step in range(8)) for rank in range(2)
    ]
    (loop,) = trace_loops(trace(tmp_path, ranks))
    assert (loop["iterations"], loop["regularity"]) == (8, "sizes")


def test_a_message_that_crosses_every_iteration_leaves_no_place_to_cut(tmp_path: Path) -> None:
    # Rank 0 sends in one iteration what rank 1 receives in the next.
    first = encode("send", peer=1, count=1, size=8)
    ranks = [first * 12, encode("recv", peer=0, count=1, size=8) * 12]
    with_request = [
        encode("isend", slot=0, peer=1, count=1, size=8)
        + (encode("isend", slot=1, peer=1, count=1, size=8) + encode("wait", slot=0)
           + encode("isend", slot=0, peer=1, count=1, size=8) + encode("wait", slot=1)) * 10
        + encode("wait", slot=0),
        encode("recv", peer=0, count=1, size=8) * 21,
    ]  # fmt: skip
    assert trace_loops(trace(tmp_path, ranks))[0]["iterations"] == 12
    assert trace_loops(trace(tmp_path, with_request)) == []


def test_iterations_that_make_communicators_are_not_cut(tmp_path: Path) -> None:
    body = [
        b"".join(
            encode("comm_dup", comm=0)
            + encode("allreduce", comm=2 + step, count=1, size=8)
            + encode("comm_free", comm=2 + step)
            for step in range(10)
        )
        for _ in range(2)
    ]
    assert trace_loops(trace(tmp_path, body)) == []


def group_of(rank: int) -> bytes:
    """The ranks of a group by themselves make its communicator: {0, 1} or {2, 3}."""
    return encode("comm_create_group", ranks=[0, 1] if rank < 2 else [2, 3])


def test_ranks_outside_a_group_need_not_make_one(tmp_path: Path) -> None:
    loop = encode("allreduce", count=1, size=8) * 20
    ranks = [(group_of(rank) if rank < 2 else b"") + loop for rank in range(4)]
    (found,) = trace_loops(trace(tmp_path, ranks))
    assert (found["iterations"], found["regularity"]) == (20, "exact")


def test_groups_made_at_different_times_leave_the_collectives_of_all_in_step(
    tmp_path: Path,
) -> None:
    loop = encode("allreduce", count=1, size=8) * 20
    before = [group_of(rank) + encode("barrier", comm=2) + loop for rank in range(2)]
    behind = [loop + group_of(rank) + encode("barrier", comm=2) for rank in range(2, 4)]
    blocks = truncate_blocks(trace(tmp_path, [*before, *behind]), 3)["blocks"]
    reduced = [_between_marks(block, "allreduce") for block in blocks]
    assert reduced == [[1, 1, 1, 0]] * 4


def _between_marks(block: bytes, name: str) -> list[int]:
    """How often an operation comes before the first mark, between two, and behind the last."""
    counts = [0]
    for operation in decode(block):
        counts[-1] += operation.name == name
        if operation.name == "pcontrol":
            counts.append(0)
    return counts


def test_a_receive_from_anyone_forbids_cuts(tmp_path: Path) -> None:
    ranks = [
        encode("recv", peer=-2, tag=-1, count=1, size=8) * 10,
        encode("send", peer=0, count=1, size=8) * 10,
    ]
    with pytest.raises(CannotCut, match="from anyone"):
        trace_loops(trace(tmp_path, ranks))


def test_messages_that_nobody_receives_forbid_cuts(tmp_path: Path) -> None:
    ranks = [encode("send", peer=1, count=1, size=8) * 10, b""]
    with pytest.raises(CannotCut, match="which receives 0"):
        trace_loops(trace(tmp_path, ranks))


STEPS: dict[str, Callable[[int, int], bytes]] = {
    "ring": ring,
    "pipeline": pipeline,
    "allreduce": lambda rank, ranks: encode("allreduce", count=3, size=8),
    "sendrecv": lambda rank, ranks: encode(
        "sendrecv", to=(rank + 1) % ranks, send_count=2, send_size=8,
        **{"from": (rank - 1) % ranks}, recv_count=2, recv_size=8,
    ),
    "barrier": lambda rank, ranks: encode("barrier"),
    "compute": lambda rank, ranks: encode("compute", flops=1e5 * (rank + 1)),
}  # fmt: skip
steps = st.lists(st.sampled_from(sorted(STEPS)), max_size=5)


@same_directory
@given(
    ranks=st.integers(2, 5),
    before=steps,
    body=steps.filter(lambda names: any(name != "compute" for name in names)),
    behind=steps,
    iterations=st.integers(10, 25),
    kept=st.integers(2, 4),
    marked=st.booleans(),
)
def test_what_is_kept_stands_for_the_whole(
    tmp_path: Path,
    ranks: int,
    before: list[str],
    body: list[str],
    behind: list[str],
    iterations: int,
    kept: int,
    marked: bool,
) -> None:
    def program(rank: int) -> bytes:
        def of(names: list[str]) -> bytes:
            return b"".join(STEPS[name](rank, ranks) for name in names)

        return of(before) + ((MARK if marked else b"") + of(body)) * iterations + of(behind)

    path = trace(tmp_path, [program(rank) for rank in range(ranks)])
    short = tmp_path / "short.ht"
    truncation = truncate(path, short, kept)

    whole, played = trace_summary(path), trace_summary(short)
    assert trace_loops(short) is not None  # every message and collective still has its other ends
    assert played["operations"] == truncation.operations
    cut = truncate_blocks(path, kept)
    counted = _weighted_flops(cut["blocks"], cut["weights"][0])
    assert counted == pytest.approx(whole["flops"], rel=1e-9)


def _weighted_flops(blocks: list[bytes], weights: Sequence[float]) -> float:
    total = 0.0
    for block in blocks:
        marks = 0
        for operation in decode(block):
            marks += operation.name == "pcontrol"
            if operation.name == "compute":
                inside = 0 < marks <= len(weights)
                flops = operation.fields["flops"]
                assert isinstance(flops, float)
                total += flops * (1 + weights[marks - 1] if inside else 1)
    return total
