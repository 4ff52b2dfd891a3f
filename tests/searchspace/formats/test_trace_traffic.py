from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats import trace_traffic
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.formats.trace_traffic import TracesTraffic, family_of, selected_traffic
from searchspace.kernels._native import filtered_traffic
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic

RANKS = 6


def trace(directory: Path, *ranks: bytes) -> Path:
    path = directory / "t.ht"
    header = TraceHeader(ranks=len(ranks), program="p")
    write_trace(path, header, [rank + encode("finalize") for rank in ranks])
    return path


def blocks(name: str) -> bytes:
    return encode(name, send_count=5, send_size=2, recv_count=5, recv_size=2)


@pytest.mark.parametrize(
    ("call", "algorithm", "total"),
    [
        (encode("bcast", root=2, count=5, size=2), "binomial_tree", 5),
        (encode("bcast", root=2, count=5, size=2), "flattree", 5),
        (encode("bcast", root=2, count=5, size=2), "NTSL", 5),
        (encode("reduce", root=1, count=5, size=2), "binomial", 5),
        (encode("reduce", root=1, count=5, size=2), "flat_tree", 5),
        (encode("allreduce", count=6, size=2), "lr", 12),
        (blocks("allgather"), "ring", 30),
        (blocks("allgather"), "bruck", 30),
        (blocks("allgather"), "pair", 30),
        (blocks("alltoall"), "pair", 30),
        (encode("reduce_scatter_block", count=5, size=2), "default", 30),
        (encode("scan", count=5, size=2), "default", 5),
    ],
)
def test_collectives_move_what_they_must(
    tmp_path: Path, call: bytes, algorithm: str, total: int
) -> None:
    name = {0x21: "bcast", 34: "reduce", 35: "allreduce", 38: "allgather", 39: "alltoall"}
    chosen = {name[call[0]]: algorithm} if call[0] in name else {}

    found = selected_traffic(trace(tmp_path, *[call] * RANKS), collectives=True, algorithms=chosen)

    assert found.total == 10 * total


@pytest.mark.parametrize(
    ("name", "sizes", "unsent"),
    [
        ("alltoall", {"recv_count": 7, "recv_size": 8}, {"send_count": 0, "send_size": 0}),
        ("alltoallv", {"recv_counts": [7] * RANKS, "recv_size": 8}, {"send_counts": [0] * RANKS}),
        ("alltoallw", {"recv_bytes": [56] * RANKS}, {"send_bytes": [0] * RANKS}),
    ],
)
def test_what_is_exchanged_in_place_is_exchanged(
    tmp_path: Path, name: str, sizes: dict[str, Any], unsent: dict[str, Any]
) -> None:
    """Of what is sent the trace says nothing then: it is as much as is received."""
    both = {**sizes, **{key.replace("recv", "send"): value for key, value in sizes.items()}}
    beside = trace(tmp_path, *[encode(name, **both)] * RANKS)
    expected = selected_traffic(beside, collectives=True).to_dense()
    in_place = trace(tmp_path, *[encode(name, flags=1, **sizes, **unsent)] * RANKS)
    found = selected_traffic(in_place, collectives=True).to_dense()
    assert expected.sum() > 0
    assert found.tolist() == expected.tolist()


def test_families_send_to_different_ranks(tmp_path: Path) -> None:
    path = trace(tmp_path, *[encode("allreduce", count=1, size=8)] * 4)

    def partners(algorithm: str) -> list[list[int]]:
        chosen = {"allreduce": algorithm}
        matrix = selected_traffic(path, collectives=True, algorithms=chosen).to_dense()
        return [np.flatnonzero(row).tolist() for row in matrix]

    assert partners("lr") == [[1, 3], [0, 2], [1, 3], [0, 2]]
    assert partners("rdb") == [[1, 2], [0, 3], [0, 3], [1, 2]]


def test_messages_are_selected_by_phase_and_communicator(tmp_path: Path) -> None:
    split = encode("comm_split", color=0, key=0)
    mark = encode("pcontrol", level=1)
    pair = (
        encode("send", peer=1, count=3, size=1)
        + mark
        + encode("send", comm=2, peer=1, count=4, size=1)
    )
    other = (
        encode("recv", peer=0, count=3, size=1)
        + mark
        + encode("recv", comm=2, peer=0, count=4, size=1)
    )
    path = trace(tmp_path, split + pair, split + other, encode("comm_split", color=1, key=0) + mark)

    assert selected_traffic(path).total == 7
    assert selected_traffic(path, phase=0).total == 3
    assert selected_traffic(path, phase=1).total == 4
    assert selected_traffic(path, members=[0, 1]).total == 4
    assert selected_traffic(path, members=[0, 1, 2]).total == 3
    assert selected_traffic(path, point_to_point=False).total == 0
    with pytest.raises(InvalidInput, match="there is no phase 2: the last one is 1"):
        selected_traffic(path, phase=2)
    with pytest.raises(InvalidInput, match=r"there are 0; 0,1; 0,1,2; 1; 2$"):
        selected_traffic(path, members=[0, 2])


def test_applications_that_run_at_once_stand_beside_each_other(tmp_path: Path) -> None:
    path = trace(
        tmp_path, encode("send", peer=1, count=3, size=1), encode("recv", peer=0, count=3, size=1)
    )

    both = TracesTraffic([path, path])()

    assert [part.tolist() for part in both.pairs] == [[0, 2], [1, 3], [3, 3]]


def test_collectives_count_by_the_algorithm_that_is_chosen(tmp_path: Path) -> None:
    call = encode("allreduce", count=8, size=1)
    traffic = TracesTraffic([trace(tmp_path, call, call, call, call)])

    usual = traffic()

    assert usual is traffic({}) is traffic({"allreduce": "default"})
    around = traffic({"allreduce": "lr"})
    assert around is not usual
    assert around.to_dense().tolist() != usual.to_dense().tolist()


def test_unknown_collectives_and_algorithms_are_refused(tmp_path: Path) -> None:
    path = trace(tmp_path, encode("barrier"))
    with pytest.raises(InvalidInput, match="unknown collective"):
        selected_traffic(path, collectives=True, algorithms={"gossip": "ring"})
    with pytest.raises(InvalidInput, match="unknown algorithm"):
        family_of("bcast", "ring")


def messages_of(rounds: Rounds) -> list[list[tuple[int, int, int]]]:
    """(sender, receiver, bytes) of each round."""
    found: list[list[tuple[int, int, int]]] = [[] for _ in rounds.count]
    for number, *message in zip(
        rounds.number.tolist(),
        rounds.sender.tolist(),
        rounds.receiver.tolist(),
        rounds.size.tolist(),
        strict=True,
    ):
        found[number].append(tuple(message))
    return found


def test_a_round_ends_where_a_rank_waits_after_it_sent(tmp_path: Path) -> None:
    there = encode("send", peer=1, count=3, size=1) + encode("send", peer=2, count=4, size=1)
    back = encode("recv", peer=0, count=3, size=1) + encode("send", peer=0, count=5, size=1)
    path = trace(
        tmp_path,
        (there + encode("recv", peer=1, count=5, size=1)) * 2,
        back * 2,
        encode("recv", peer=0, count=4, size=1) * 2,
    )

    found = TracesTraffic([path]).rounds()

    assert messages_of(found) == [[(0, 1, 3), (0, 2, 4), (1, 0, 5)]]
    assert found.count.tolist() == [2]


def test_a_collective_takes_a_round_for_each_step(tmp_path: Path) -> None:
    path = trace(tmp_path, *[encode("allreduce", count=1, size=8) * 3] * 4)
    traffic = TracesTraffic([path])

    doubling = traffic.rounds({"allreduce": "rdb"})
    assert messages_of(doubling) == [
        [(0, 1, 8), (1, 0, 8), (2, 3, 8), (3, 2, 8)],
        [(0, 2, 8), (1, 3, 8), (2, 0, 8), (3, 1, 8)],
    ]
    assert doubling.count.tolist() == [3, 3]
    assert messages_of(traffic.rounds({"allreduce": "lr"})) == [
        [(0, 1, 12), (1, 2, 12), (2, 3, 12), (3, 0, 12)]
    ]


def test_rounds_add_up_to_the_traffic_even_where_many_are_joined(tmp_path: Path) -> None:
    calls = b"".join(encode("allreduce", count=n, size=8) for n in range(1, 90))
    traffic = TracesTraffic([trace(tmp_path, *[calls] * 4)] * 2)

    rounds = traffic.rounds({"allreduce": "rdb"})

    assert len(rounds.count) <= 128
    sizes = rounds.size * rounds.count[rounds.number].astype(np.int64)
    found = Traffic.from_pairs(rounds.ranks, rounds.sender, rounds.receiver, sizes)
    assert found.to_dense().tolist() == traffic({"allreduce": "rdb"}).to_dense().tolist()
    assert TracesTraffic([trace(tmp_path, b"", b"")]).rounds().count.tolist() == [1]


def test_ranks_that_are_in_no_part_of_a_split_communicator_do_not_matter(tmp_path: Path) -> None:
    out, within = encode("comm_split", color=-1), encode("comm_split", color=0)
    path = trace(tmp_path, out, within, within)
    with pytest.raises(
        InvalidInput, match=r"no communicator of exactly these ranks; there are .*1,2"
    ):
        selected_traffic(path, members=[0, 1])


SIZES = st.sampled_from([0, 0, 1, 5])


@st.composite
def messages_and_lists(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, int]]], list[list[int]]]:
    """Ranks, (peer, count) of the messages of each, and what each sends to each by alltoallv."""
    ranks = draw(st.integers(1, 6))
    peer = st.integers(0, ranks - 1)
    messages = st.lists(st.tuples(peer, SIZES), max_size=5)
    lists = st.lists(SIZES, min_size=ranks, max_size=ranks)
    return (
        ranks,
        draw(st.lists(messages, min_size=ranks, max_size=ranks)),
        draw(st.lists(lists, min_size=ranks, max_size=ranks)),
    )


@given(messages_and_lists())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_read_is_what_a_dense_matrix_adds_up_to(
    tmp_path: Path, drawn: tuple[int, list[list[tuple[int, int]]], list[list[int]]]
) -> None:
    ranks, messages, lists = drawn
    by_messages = np.zeros((ranks, ranks), dtype=np.int64)
    bodies = []
    for rank, sent in enumerate(messages):
        body = b""
        for peer, count in sent:
            by_messages[rank, peer] += 8 * count
            body += encode("isend", slot=0, peer=peer, count=count, size=8) + encode("wait", slot=0)
        got = [row[rank] for row in lists]
        bodies.append(
            body
            + encode(
                "alltoallv", send_size=4, recv_size=4, send_counts=lists[rank], recv_counts=got
            )
        )
    path = trace(tmp_path, *bodies)

    by_lists = 4 * np.array(lists, dtype=np.int64)
    for point_to_point, collectives, expected in (
        (True, False, by_messages),
        (False, True, by_lists),
        (True, True, by_messages + by_lists),
    ):
        found = selected_traffic(path, point_to_point=point_to_point, collectives=collectives)
        dense = Traffic.from_directed(expected)
        for name in ("first", "partner", "size"):
            assert getattr(found, name).dtype == getattr(dense, name).dtype
            assert getattr(found, name).tolist() == getattr(dense, name).tolist()


def test_rows_list_only_those_who_are_sent_something(tmp_path: Path) -> None:
    """One number for each two of 16,384 ranks takes 2 GiB."""
    ranks = 16_384
    ring = [encode("isend", slot=0, peer=(n + 1) % ranks, count=3, size=1) for n in range(ranks)]
    path = trace(tmp_path, *[call + encode("wait", slot=0) for call in ring])

    first, receiver, size = filtered_traffic(str(path), True, [], -1, [])

    assert first.tolist() == list(range(ranks + 1))
    assert receiver.tolist() == [*range(1, ranks), 0]
    assert (size == 3).all()


def test_there_may_be_too_many_ranks(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at most 16384 ranks"):
        selected_traffic(trace(tmp_path, *[b""] * 16_385))


def test_large_answers_are_not_kept_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = encode("allreduce", count=8, size=1)
    path = trace(tmp_path, call, call, call, call)
    monkeypatch.setattr(trace_traffic, "_MOST_ENTRIES", 8)  # a ring of four has as many
    traffic = TracesTraffic([path])

    ring = traffic({"allreduce": "lr"})
    assert traffic({"allreduce": "lr"}) is ring
    assert len(traffic({"allreduce": "rdb"}).partner) == 8
    again = traffic({"allreduce": "lr"})
    assert again is not ring
    assert again.sha256 == ring.sha256
