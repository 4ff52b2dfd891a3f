"""Traces that are well formed and hostile: two hundred, in the hands of one server.

Each is refused with one line, or evaluated within its limits; the server then serves others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import describe_trace
from searchspace.kernels import CannotCut, traffic_matrix
from searchspace.truncation import truncate
from tests.workers.simulator.runs import on_a_line, write_program, write_unchecked
from workers.simulator_client import Simulator

Ranks = Sequence[Sequence[bytes]]

MEMORY_BYTES = 192 << 20
MOST_BYTES = 2 << 30  # memory is looked at from time to time: a message may come between
WALL_SECONDS = 0.3
STATUSES = ("completed", "censored", "infeasible", "failed")

HUGE = (2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
SIGNED = (-(2**63), -(2**31) - 1, -3, 2**31 - 1, 2**31, 2**63 - 1)


def both(*operations: bytes) -> Ranks:
    """Two ranks that do the same."""
    return [operations, operations]


def sizes() -> Iterator[tuple[str, Ranks]]:
    """Counts and sizes near the ends of what numbers hold."""
    for number in HUGE:
        for field in ("count", "size"):
            one = {"count": 1, "size": 1, field: number}
            send, recv = encode("send", peer=1, **one), encode("recv", peer=0, **one)
            yield f"a message of {field} {number}", [[send], [recv]]
            for name in ("bcast", "allreduce", "scan"):
                yield f"{name} of {field} {number}", both(encode(name, **one))
        for name in ("alltoall", "gather"):
            blocks = {"send_count": number, "send_size": 1, "recv_count": number, "recv_size": 1}
            yield f"{name} of {number}", both(encode(name, **blocks))
        lists = {"send_counts": [number, number], "recv_counts": [number, number]}
        yield f"alltoallv of {number}", both(encode("alltoallv", send_size=1, recv_size=1, **lists))
    # Together a tebibyte, which is as much as a buffer may be.
    yield "a buffer of a tebibyte", both(encode("bcast", count=2**20, size=2**20))
    yield "a buffer above it", both(encode("bcast", count=2**20, size=2**20 + 1))
    yield (
        "many large buffers",
        both(*(encode("allreduce", count=2**27 + step, size=8) for step in range(8))),
    )


def envelopes() -> Iterator[tuple[str, Ranks]]:
    """Tags, peers, roots, colours and keys that nobody has."""
    for number in SIGNED:
        yield (
            f"tag {number}",
            [
                [encode("send", peer=1, tag=number, count=1, size=1)],
                [encode("recv", peer=0, tag=number, count=1, size=1)],
            ],
        )
        yield f"peer {number}", both(encode("send", peer=number, count=1, size=1))
        yield f"colour {number}", both(encode("comm_split", color=number, key=0))
        yield (
            f"key {number}",
            both(encode("comm_split", color=0, key=number), encode("barrier", comm=2)),
        )
        yield f"mark {number}", both(encode("pcontrol", level=number))
    for number in (2, *HUGE):
        yield f"root {number}", both(encode("bcast", root=number, count=1, size=1))
        yield f"communicator {number}", both(encode("barrier", comm=number))
        yield f"slot {number}", both(encode("wait", slot=number))


def requests() -> Iterator[tuple[str, Ranks]]:
    """Requests in numbers and orders that no program has."""
    many = 10_000
    irecvs = [encode("irecv", slot=s, peer=-2, tag=-1, count=1, size=1) for s in range(many)]
    yield "receives that nothing ever matches", both(*irecvs)
    yield "waiting for all of them", both(*irecvs, encode("waitall", slots=list(range(many))))
    isends = [encode("isend", slot=s, peer=1, count=1, size=1) for s in range(many)]
    yield "sends that nobody receives", [isends, []]
    yield (
        "large sends that nobody receives",
        [[encode("isend", slot=s, peer=1, count=2**20, size=1) for s in range(500)], []],
    )
    free = [encode("isend", slot=0, peer=1, count=1, size=1), encode("request_free", slot=0)]
    yield "requests freed over and over", [free * (many // 2), []]
    yield "one request waited for twice", both(irecvs[0], encode("wait"), encode("wait"))
    yield "a slot twice in one wait", both(irecvs[0], encode("waitall", slots=[0, 0]))
    yield "a slot taken twice", both(irecvs[0], irecvs[0])
    yield "a match of what is no receive", both(isends[0], encode("match", slot=0, peer=0, tag=0))
    yield "a probe for nothing", both(encode("probe", peer=-2, tag=-1))
    barriers = [encode("ibarrier", slot=s) for s in range(2_000)]
    yield "barriers that are never waited for", both(*barriers)
    yield (
        "collectives in another order",
        [
            [*barriers[:1], encode("ibcast", slot=1)],
            [encode("ibcast", slot=0), encode("ibarrier", slot=1)],
        ],
    )


def communicators() -> Iterator[tuple[str, Ranks]]:
    """Communicators deep in each other, in great numbers, and of shapes that do not exist."""
    for depth in (100, 3_000):
        chain = [encode("comm_dup", comm=max(0, 1 + step)) for step in range(1, depth)]
        yield f"copies of copies, {depth} deep", both(encode("comm_dup"), *chain)
        halves = [encode("comm_split", comm=0 if step == 0 else step + 1) for step in range(depth)]
        yield f"parts of parts, {depth} deep", both(*halves, encode("barrier", comm=depth + 1))
    yield "a world that is freed", both(encode("comm_free"), encode("barrier"))
    yield (
        "use after it was freed",
        both(encode("comm_dup"), encode("comm_free", comm=2), encode("barrier", comm=2)),
    )
    yield (
        "freed twice",
        both(encode("comm_dup"), encode("comm_free", comm=2), encode("comm_free", comm=2)),
    )
    yield (
        "copied and freed over and over",
        both(
            *itertools.chain.from_iterable(
                (encode("comm_dup"), encode("comm_free", comm=2 + step)) for step in range(2_000)
            )
        ),
    )
    yield "only one comes", [[encode("comm_dup")], []]
    yield "one splits and one copies", [[encode("comm_dup")], [encode("comm_split")]]
    for ranks in ([0, 0], [5], [2**31], [2**64 - 1], [], list(range(5_000))):
        yield f"a group of {ranks[:3]}...", both(encode("comm_create", ranks=ranks))
        yield f"a group by itself of {ranks[:3]}...", both(encode("comm_create_group", ranks=ranks))
    for dims in ([2**31 - 1, 0] * 4, [2**16, 0] * 4, [0, 0], [2, 0] * 64, [1, 1] * 5_000, []):
        yield f"a grid of {dims[:4]}...", both(encode("cart_create", dims=dims))
    yield (
        "a grid of nothing but ones, cut",
        both(
            encode("cart_create", dims=[1, 0] * 1_000 + [2, 1]),
            encode("cart_sub", comm=2, remain=[0] * 1_000 + [1]),
            encode("barrier", comm=3),
        ),
    )
    yield "a part of no grid", both(encode("cart_sub", remain=[1]))


def loops() -> Iterator[tuple[str, Ranks]]:
    """Loops of loops, and amounts of work without end."""
    step = [encode("compute", flops=1e3), encode("barrier")]
    for outer, inner in ((3, 5_000), (100, 150), (5_000, 3)):
        body = [encode("pcontrol", level=1), *step * inner]
        yield f"{inner} steps in {outer} rounds", both(*body * outer)
    nested: list[bytes] = [encode("wtime")]
    for level in range(12):
        nested = [encode("pcontrol", level=level), *nested, *nested]
    yield "loops twelve deep", both(*nested)
    for flops in (5e-324, 1e300, 1.7976931348623157e308):
        yield f"{flops} flops", both(encode("compute", flops=flops), encode("barrier"))
        yield f"{flops} flops many times", both(*[encode("compute", flops=flops)] * 1_000)
    for flops in (float("inf"), float("nan"), -1.0):
        yield f"{flops} flops", both(encode("compute", flops=flops))
    yield "asking for the time", both(*[encode("wtime")] * 50_000)
    yield "marks and nothing else", both(*[encode("pcontrol", level=1)] * 20_000)
    words = [encode("compute", flops=float(n % 7 + 1)) for n in range(20_000)]
    yield "sequences that nearly repeat", both(*words)
    yield (
        "messages of no bytes",
        [
            [encode("send", peer=1, count=0, size=0)] * 5_000,
            [encode("recv", peer=0, count=0, size=0)] * 5_000,
        ],
    )
    for name in ("bcast", "allreduce", "barrier"):
        yield f"{name} without end", both(*[encode(name)] * 5_000)


def quarrels() -> Iterator[tuple[str, Ranks]]:
    """Ranks that do not agree."""
    recv, send = encode("recv", count=4, size=1), encode("send", count=4, size=1)
    yield "both receive", [[encode("recv", peer=1, count=1, size=1)], [recv]]
    yield "each sends to itself", both(send)
    yield (
        "large sends at once",
        [[encode("ssend", peer=1, count=2**20, size=8)], [encode("ssend", count=2**20, size=8)]],
    )
    yield (
        "more is sent than is received",
        [[encode("send", peer=1, count=4_000_000, size=8)], [encode("recv", count=1, size=1)]],
    )
    yield (
        "less is sent than is received",
        [[encode("send", peer=1, count=1, size=1)], [encode("recv", count=4_000_000, size=8)]],
    )
    collectives = ("barrier", "bcast", "reduce", "allreduce", "gather", "alltoall", "scan")
    for first, second in itertools.combinations(collectives, 2):
        yield f"{first} meets {second}", [[encode(first)], [encode(second)]]
    for name in collectives:
        yield f"only one calls {name}", [[encode(name)], []]
    yield (
        "roots that differ",
        [[encode("bcast", root=0, count=9, size=9)], [encode("bcast", root=1, count=9, size=9)]],
    )
    yield (
        "sizes that differ",
        [[encode("allreduce", count=1, size=8)], [encode("allreduce", count=500_000, size=8)]],
    )
    yield "flags that nobody knows", both(encode("allreduce", count=1, size=1, flags=255))
    yield "lists that are too short", both(encode("allgatherv", recv_counts=[1]))
    yield "lists that are too long", both(encode("allgatherv", recv_counts=[1] * 5_000))


FAMILIES = (sizes, envelopes, requests, communicators, loops, quarrels)
TRACES = {name: ranks for family in FAMILIES for name, ranks in family()}


def test_there_are_two_hundred() -> None:
    assert len(TRACES) >= 200


@pytest.mark.parametrize("family", FAMILIES, ids=[family.__name__ for family in FAMILIES])
def test_none_is_beyond_its_limits_and_the_server_goes_on(family: Any, tmp_path: Path) -> None:
    taken, refused = {}, 0
    for number, (name, ranks) in enumerate(family()):
        path = tmp_path / f"{number}.ht"
        try:
            write_program(path, ranks)
        except InvalidInput as error:
            assert "\n" not in str(error), name
            write_unchecked(path, ranks)
        try:
            describe_trace(path)
        except InvalidInput as error:
            refused += 1
            assert "\n" not in str(error), name
        else:
            taken[name] = path
            traffic_matrix(path)
            with suppress(CannotCut):
                truncate(path, tmp_path / "short.ht")
    good = write_program(tmp_path / "good.ht", both(encode("barrier")))
    assert refused
    assert taken
    with Simulator([*taken.values(), good]) as simulator:
        for at, name in enumerate(taken):
            answer = simulator.evaluate(
                request(at), memory_bytes=MEMORY_BYTES, wall_seconds=WALL_SECONDS
            )
            assert answer["status"] in STATUSES, name
            assert answer["peak_rss_bytes"] < MOST_BYTES, name
            reason = answer["reason"]
            assert reason is None or "\n" not in reason["message"], name
            assert reason is None or reason["kind"] != "killed", name
        assert simulator.evaluate(request(len(taken)))["status"] == "completed"


def request(trace: int) -> dict[str, Any]:
    """Two hosts for the two ranks of a trace."""
    asked = on_a_line(0, 1)
    asked["applications"][0]["trace"] = trace
    return asked
