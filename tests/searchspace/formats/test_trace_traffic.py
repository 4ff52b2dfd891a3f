from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.formats.trace_traffic import TracesTraffic, family_of, selected_traffic

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
