"""Every operation of the format replays; times and link loads are what they are by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import OPERATIONS, Value, encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    PLAIN,
    Server,
    answer_of,
    line_of,
    on_a_line,
    write_program,
)

RANKS = 4
IN_PLACE = 1
NOT_COMMUTATIVE = 2
Calls = list[tuple[str, dict[str, Value]]]


def op(name: str, **fields: Value) -> tuple[str, dict[str, Value]]:
    return name, {key.rstrip("_"): value for key, value in fields.items()}


def message(peer: int, tag: int = 5, comm: int = 0, count: int = 100) -> dict[str, Value]:
    return {"peer": peer, "tag": tag, "comm": comm, "count": count, "size": 8}


def ring_forms(rank: int) -> Calls:
    """Non-blocking and combined sends around the ring of ranks."""
    to, source = (rank + 1) % RANKS, (rank - 1) % RANKS
    return [
        op("irecv", slot=0, **message(source)),
        op("isend", slot=1, **message(to)),
        op("waitall", slots=[0, 1]),
        op("irecv", slot=0, **message(source, tag=-1, count=100_000)),
        op("issend", slot=1, **message(to, count=100_000)),
        op("wait", slot=0),
        op("wait", slot=1),
        op("irecv", slot=0, **message(-2, tag=-1)),
        op("isend", slot=1, **message(to, tag=9)),
        op("request_free", slot=1),
        op("match", slot=0, peer=source, tag=9),
        op("wait", slot=0),
        op("sendrecv", to=to, send_tag=1, send_count=10, send_size=8, from_=source, recv_tag=1,
           recv_count=10, recv_size=8),
        op("sendrecv", to=-1, from_=-1),
        op("isend", slot=0, **message(-1)),
        op("irecv", slot=1, **message(-1)),
        op("waitall", slots=[1, 0]),
        op("bsend", **message(to, count=50_000)),
        op("probe", **message_envelope(source)),
        op("recv", **message(source, count=50_000)),
        op("wtime"),
        op("pcontrol", level=-3),
        op("compute", flops=1e3),
    ]  # fmt: skip


def message_envelope(peer: int) -> dict[str, Value]:
    return {"peer": peer, "tag": 5, "comm": 0}


def blocking_forms(rank: int) -> Calls:
    """Blocking sends between neighbours, odd ranks first receiving."""
    partner = rank ^ 1
    send, receive = [op("send", **message(partner))], [op("recv", **message(partner))]
    large = [op("ssend", **message(partner, count=100_000))]
    take = [op("recv", **message(partner, count=100_000))]
    if rank % 2:
        return receive + send + take + large
    return send + receive + large + take


def communicators(rank: int) -> Calls:
    """Every way to a communicator, and traffic on each."""
    member = rank in (3, 1)
    calls = [
        op("comm_dup", comm=0),  # 2
        op("comm_split", comm=2, color=rank % 2, key=-rank),  # 3: ranks 2 0, 3 1
        op("comm_split", comm=0, color=-1 if rank == 0 else 7, key=0),  # 4: ranks 1 2 3
        op("comm_create", comm=0, ranks=[3, 1]),  # 5
        op("cart_create", comm=0, dims=[2, 1, 2, 0], reorder=1),  # 6
        op("cart_sub", comm=6, remain=[0, 1]),  # 7: ranks 0 1, 2 3
        op("barrier", comm=1),
        op("barrier", comm=3),
        op("allreduce", comm=7, count=10, size=8),
    ]
    place = 0 if rank in (2, 3) else 1
    calls.append(op("sendrecv", comm=3, to=1 - place, send_count=3, send_size=8, from_=1 - place,
                    recv_count=3, recv_size=8))  # fmt: skip
    if rank:
        calls.append(op("bcast", comm=4, root=2, count=10, size=8))
        calls.append(op("comm_free", comm=4))
    if member:
        calls.append(op("barrier", comm=5))
        calls.append(op("comm_create_group", comm=0, ranks=[1, 3]))  # 8
        calls.append(op("allreduce", comm=8, count=10, size=8))
    return [*calls, op("comm_free", comm=2), op("barrier", comm=6), op("comm_free", comm=7)]


def collectives(rank: int) -> Calls:
    """All collectives as they are mostly called; the root is rank 2."""
    counts = [10, 0, 30, 5]
    blocks: dict[str, Value] = {
        "send_count": 10, "send_size": 8, "recv_count": 20, "recv_size": 4
    }  # fmt: skip
    sent = {key: blocks[key] for key in ("send_count", "send_size")}
    received = {key: blocks[key] for key in ("recv_count", "recv_size")}
    reduced: dict[str, Value] = {"count": 10, "size": 8}
    root = rank == 2
    towards = [counts[rank]] * RANKS
    return [
        op("barrier"),
        op("bcast", root=2, **reduced),
        op("reduce", root=2, flags=NOT_COMMUTATIVE, **reduced),
        op("allreduce", **reduced),
        op("gather", root=2, **sent, **(received if root else {})),
        op("scatter", root=2, **received, **(sent if root else {})),
        op("allgather", **blocks),
        op("alltoall", **blocks),
        op("gatherv", root=2, send_count=counts[rank], send_size=8, recv_size=8 * root,
           recv_counts=counts if root else []),
        op("scatterv", root=2, recv_count=counts[rank], recv_size=8, send_size=8 * root,
           send_counts=counts if root else []),
        op("allgatherv", send_count=counts[rank], send_size=8, recv_size=8, recv_counts=counts),
        op("alltoallv", send_size=8, recv_size=8, send_counts=counts, recv_counts=towards),
        op("alltoallw", send_bytes=counts, recv_bytes=towards),
        op("reduce_scatter", size=8, counts=counts),
        op("reduce_scatter_block", **reduced),
        op("scan", **reduced),
        op("exscan", **reduced),
    ]  # fmt: skip


def in_place(rank: int) -> Calls:
    """The collectives that MPI lets work in place."""
    root = rank == 2
    received: dict[str, Value] = {"recv_count": 10, "recv_size": 8}
    sent: dict[str, Value] = {"send_count": 10, "send_size": 8}
    reduced: dict[str, Value] = {"count": 10, "size": 8}
    counts = [10, 0, 30, 5]
    at_root: dict[str, Value] = {"flags": IN_PLACE}
    even = [10] * RANKS
    return [
        op("reduce", root=2, **reduced, **(at_root if root else {})),
        op("allreduce", **reduced, **at_root),
        op("gather", root=2, **(received | at_root if root else sent)),
        op("scatter", root=2, **(sent | at_root if root else received)),
        op("allgather", **received, **at_root),
        op("alltoall", **received, **at_root),
        op("gatherv", root=2, **({"recv_size": 8, "recv_counts": counts, "flags": IN_PLACE}
                                 if root else {"send_count": counts[rank], "send_size": 8})),
        op("scatterv", root=2, **({"send_size": 8, "send_counts": counts, "flags": IN_PLACE}
                                  if root else {"recv_count": counts[rank], "recv_size": 8})),
        op("allgatherv", recv_size=8, recv_counts=counts, **at_root),
        op("alltoallv", recv_size=8, send_counts=[0] * RANKS, recv_counts=even, **at_root),
        op("alltoallw", send_bytes=[0] * RANKS, recv_bytes=even, **at_root),
        op("reduce_scatter", size=8, counts=even, **at_root),
        op("reduce_scatter_block", **reduced, **at_root),
        op("scan", **reduced, **at_root),
        op("exscan", **reduced, **at_root),
    ]  # fmt: skip


def nonblocking(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    """The non-blocking forms of collectives, all open at once."""

    def started(rank: int) -> Calls:
        blocking = calls(rank)
        started = [
            (f"i{name}", {"slot": slot, **fields}) for slot, (name, fields) in enumerate(blocking)
        ]
        return [*started, op("waitall", slots=list(range(len(blocking))))]

    return started


PROGRAMS: dict[str, Callable[[int], Calls]] = {
    "ring": ring_forms,
    "blocking": blocking_forms,
    "communicators": communicators,
    "collectives": collectives,
    "in place": in_place,
    "non-blocking": nonblocking(collectives),
    "non-blocking in place": nonblocking(in_place),
    "over and over": lambda rank: ring_forms(rank) * 100,  # as persistent requests are recorded
}


def test_the_programs_below_use_every_operation() -> None:
    used = {name for program in PROGRAMS.values() for rank in (0, 1) for name, _ in program(rank)}
    assert used | {"finalize"} == set(OPERATIONS)


def write(path: Path, program: Callable[[int], Calls]) -> Path:
    return write_program(
        path, [[encode(n, **fields) for n, fields in program(rank)] for rank in range(RANKS)]
    )


@pytest.mark.parametrize("rank_hosts", [(0, 1, 2, 3), (0, 0, 1, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_replays_to_its_end_and_always_in_the_same_time(
    name: str, rank_hosts: tuple[int, ...], tmp_path: Path, serve: Callable[..., Server]
) -> None:
    server = serve(write(tmp_path / "program.ht", PROGRAMS[name]))
    request = on_a_line(*rank_hosts, options={})
    first, second = server.ask(request), server.ask(request)
    assert first["reason"] is None
    assert first["simulated_time"] == max(first["rank_finish_times"][0]) > 0
    for field in ("status", "simulated_time", "rank_finish_times", "link_loads"):
        assert first[field] == second[field]


def test_messages_along_a_line_take_and_load_what_they_do_by_hand(tmp_path: Path) -> None:
    def send(peer: int, count: int) -> bytes:
        return encode("send", peer=peer, tag=1, count=count, size=1)

    def recv(peer: int, count: int) -> bytes:
        return encode("recv", peer=peer, tag=1, count=count, size=1)

    trace = write_program(
        tmp_path / "line.ht",
        [
            [send(2, 1000), recv(1, 500_000)],
            [recv(2, 300), send(0, 500_000)],
            [recv(0, 1000), send(1, 300)],
        ],
    )
    answer = answer_of(trace, on_a_line(0, 1, 2))
    far = 2 * LATENCY + (1000 + ENVELOPE) / BANDWIDTH
    near = far + LATENCY + (300 + ENVELOPE) / BANDWIDTH
    large = near + LATENCY + (500_000 + ENVELOPE) / BANDWIDTH
    assert answer["rank_finish_times"] == [pytest.approx([large, large, far], rel=1e-9)]
    assert answer["link_loads"] == [[1000, 500_000], [1000, 300]]


@pytest.mark.parametrize(
    ("options", "call", "loads"),
    [
        # One block of 800 bytes for every pair of ranks.
        (
            {"smpi/alltoall": "basic_linear"},
            op("alltoall", send_count=100, send_size=8, recv_count=100, recv_size=8),
            [[1600, 1600], [1600, 1600]],
        ),
        # Rank 0 sends 800 bytes to each of the others.
        (
            {"smpi/bcast": "flattree"},
            op("bcast", count=100, size=8),
            [[1600, 0], [800, 0]],
        ),
        # Both others send 800 bytes to rank 0.
        (
            {"smpi/reduce": "flat_tree"},
            op("reduce", count=100, size=8),
            [[0, 1600], [0, 800]],
        ),
        # Every rank sends its block to every other.
        (
            {"smpi/allgather": "spreading_simple"},
            op("allgather", send_count=100, send_size=8, recv_count=100, recv_size=8),
            [[1600, 1600], [1600, 1600]],
        ),
        # Every rank sends 80 bytes to rank 0, 160 to rank 1 and none to rank 2.
        (
            {"smpi/alltoallv": "ring"},
            None,
            [[160, 160], [0, 240]],
        ),
    ],
)
def test_collectives_load_the_links_with_what_their_algorithm_sends(
    options: dict[str, str], call: tuple[str, dict[str, Value]] | None, loads: Any, tmp_path: Path
) -> None:
    def operations(rank: int) -> list[bytes]:
        if call is not None:
            return [encode(call[0], **call[1])]
        received = [10, 20, 0][rank]
        return [
            encode("alltoallv", send_size=8, recv_size=8, send_counts=[10, 20, 0],
                   recv_counts=[received] * 3)
        ]  # fmt: skip

    trace = write_program(tmp_path / "collective.ht", [operations(rank) for rank in range(3)])
    assert answer_of(trace, on_a_line(0, 1, 2, options=PLAIN | options))["link_loads"] == loads


def test_ranks_of_one_host_talk_over_its_loopback(message: Path) -> None:
    answer = answer_of(message, on_a_line(1, 1, platform=line_of(2, cores=2)))
    arrival = 1e-3 + 1e-7 + (1000 + ENVELOPE) / 1e10
    assert answer["simulated_time"] == pytest.approx(arrival, rel=1e-9)
    assert answer["link_loads"] == [[0, 0]]


def test_latencies_of_cable_and_switch_add_up(message: Path) -> None:
    platform = line_of(3, switch_latency=5e-6)
    answer = answer_of(message, on_a_line(0, 2, platform=platform))
    arrival = 1e-3 + 2 * (LATENCY + 5e-6) + (1000 + ENVELOPE) / BANDWIDTH
    assert answer["simulated_time"] == pytest.approx(arrival, rel=1e-9)


def test_a_slow_switch_is_the_bottleneck_and_a_fast_one_is_not_there(message: Path) -> None:
    def time(bandwidth: float | None) -> float:
        platform = line_of(2, switch_bandwidth=bandwidth)
        return float(answer_of(message, on_a_line(0, 1, platform=platform))["simulated_time"])

    assert time(1e12) == time(None)
    # Both directions share a switch, and SimGrid's model sends 5 % back as acknowledgements.
    slow = 1e-3 + LATENCY + 1.05 * (1000 + ENVELOPE) / (BANDWIDTH / 10)
    assert time(BANDWIDTH / 10) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize(
    ("ranks", "cores", "seconds"), [(1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 1.5), (4, 2, 2)]
)
def test_ranks_share_the_cores_of_their_host(
    ranks: int, cores: int, seconds: float, tmp_path: Path
) -> None:
    trace = write_program(tmp_path / "busy.ht", [[encode("compute", flops=1e9)]] * ranks)
    answer = answer_of(trace, on_a_line(*[0] * ranks, platform=line_of(1, cores=cores)))
    assert answer["rank_finish_times"] == [pytest.approx([seconds] * ranks, rel=1e-9)]


BYTES = 10_000_000


@pytest.fixture
def transfer(tmp_path: Path) -> Path:
    """A trace of two ranks of which one sends 10 MB to the other."""
    fields = {"tag": 1, "count": BYTES, "size": 1}
    return write_program(
        tmp_path / "transfer.ht",
        [[encode("send", peer=1, **fields)], [encode("recv", peer=0, **fields)]],
    )


def test_applications_on_one_link_make_each_other_slower(transfer: Path) -> None:
    def together(*starts: float) -> list[float]:
        applications = [{"trace": 0, "hosts": [0, 1], "start": start} for start in starts]
        answer = answer_of(transfer, on_a_line(0, 1, applications=applications))
        assert answer["simulated_time"] == max(max(t) for t in answer["rank_finish_times"])
        assert answer["link_loads"] == [[BYTES * len(starts), 0]]
        return [max(times) for times in answer["rank_finish_times"]]

    (alone,) = together(0.0)
    assert alone == pytest.approx(BYTES / BANDWIDTH, rel=1e-3)
    assert together(0.0, 0.0) == pytest.approx([2 * alone] * 2, rel=1e-3)
    # The second starts when half of the first is through: then both have half the bandwidth.
    assert together(0.0, alone / 2) == pytest.approx([1.5 * alone, 2 * alone], rel=1e-3)
    assert together(0.0, 5.0) == pytest.approx([alone, 5 + alone], rel=1e-9)


def test_applications_of_different_programs_keep_their_worlds_apart(
    transfer: Path, tmp_path: Path
) -> None:
    program = write(tmp_path / "program.ht", communicators)
    applications = [
        {"trace": 0, "hosts": [0, 1]},
        {"trace": 1, "hosts": [4, 5, 6, 7], "start": 0.25},
        {"trace": 1, "hosts": [8, 9, 10, 11]},
    ]
    for options in (PLAIN, PLAIN | {"smpi/coll-selector": "mvapich2"}):
        request = on_a_line(11, applications=applications, options=options)
        answer = answer_of([transfer, program], request)
        assert answer["reason"] is None
        _, late, early = answer["rank_finish_times"]
        assert late == pytest.approx([0.25 + time for time in early], abs=1e-9)


def test_the_same_request_gives_the_same_bits_in_every_process(tmp_path: Path) -> None:
    trace = write(tmp_path / "program.ht", collectives)
    request = on_a_line(3, 1, 0, 2, options={"smpi/coll-selector": "impi"})
    answers = [answer_of(trace, request) for _ in range(3)]
    for field in ("simulated_time", "rank_finish_times", "link_loads"):
        assert answers[0][field] == answers[1][field] == answers[2][field]
