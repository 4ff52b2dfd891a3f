"""The experiments of a calibration: small patterns of messages, each of which shows one thing.

Gaps between sends and late receives show what processors spend on messages, as in the measurements
of LogGP's parameters by Culler et al. (1996) and Hoefler et al. (Netgauge, 2007), who need no clock
that two hosts share either. Streams over one cable, peers of one host and crowds of all hosts show
how messages share cables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measuring.calibration.experiments import (
    Call,
    Calls,
    Experiment,
    copy,
    irecv,
    isend,
    recv,
    send,
    sendrecv,
    sleep,
    start_clock,
    wait_all,
    work,
)

__all__ = [
    "COPIES",
    "IN_A_ROW",
    "all_to_all",
    "computation",
    "exchange",
    "exchange_begun_by",
    "gaps",
    "incast",
    "late_receive",
    "late_receiver",
    "memory_copy",
    "outcast",
    "ping_pong",
    "pipeline",
    "send_return",
    "shift",
    "shuffle",
    "stream",
    "streams",
]

IN_A_ROW = 12
"""Calls of experiments that make the same one again and again."""
COPIES = 16
"""Of an experiment that copies."""
_ROUNDS = 3
_SEGMENTS = 8


def ping_pong(one: int, other: int, size: int, detail: str) -> Experiment:
    """A message there, and one as long back."""
    return Experiment(
        "ping-pong",
        size,
        detail,
        one,
        {one: [send(other, size), recv(other, size)], other: [recv(one, size), send(one, size)]},
    )


def gaps(one: int, other: int, size: int, *, blocking: bool) -> Experiment:
    """Sends in a row, as their sender sees them: LogP's o, or its gap where that is longer."""
    make = send if blocking else isend
    calls = [make(other, size)] * IN_A_ROW
    return Experiment(
        "gap",
        size,
        "send" if blocking else "isend",
        one,
        {
            one: calls if blocking else [*calls, wait_all()],
            other: [recv(one, size)] * IN_A_ROW,
        },
    )


def stream(one: int, other: int, size: int) -> Experiment:
    """Sends in a row, until the last one has arrived."""
    return Experiment(
        "stream",
        size,
        f"{IN_A_ROW}",
        one,
        {
            one: [*[send(other, size)] * IN_A_ROW, recv(other, 0)],
            other: [*[recv(one, size)] * IN_A_ROW, send(one, 0)],
        },
    )


def late_receive(one: int, other: int, size: int, seconds: float) -> Experiment:
    """Messages that arrived before anybody asked for them; what it takes to receive them."""
    return Experiment(
        "unexpected",
        size,
        f"{IN_A_ROW}",
        one,
        {
            one: [send(other, 0), sleep(seconds), start_clock(), *[recv(other, size)] * IN_A_ROW],
            other: [recv(one, 0), *[send(one, size)] * IN_A_ROW],
        },
    )


def late_receiver(one: int, other: int, size: int, seconds: float) -> Experiment:
    """A blocking send to a rank that will not receive for a while: whether it waits for that."""
    return Experiment(
        "late receiver",
        size,
        "",
        one,
        {
            one: [send(other, 0), start_clock(), send(other, size)],
            other: [recv(one, 0), sleep(seconds), recv(one, size)],
        },
    )


def send_return(one: int, other: int, size: int) -> Experiment:
    """A blocking send to a rank that receives at once: when the transport has all of it."""
    return Experiment(
        "send returns", size, "", one, {one: [send(other, size)], other: [recv(one, size)]}
    )


def exchange(one: int, other: int, size: int, *, blocking: bool) -> Experiment:
    """Two ranks that send to each other at once, a few times."""

    def turn(peer: int) -> Calls:
        if blocking:
            return [sendrecv(peer, peer, size)]
        return [irecv(peer, size), isend(peer, size), wait_all()]

    return Experiment(
        "exchange",
        size,
        "sendrecv" if blocking else "isend",
        one,
        {
            one: [send(other, 0), *[*turn(other)] * _ROUNDS],
            other: [recv(one, 0), *[*turn(one)] * _ROUNDS],
        },
    )


def exchange_begun_by(
    starter: int, one: int, other: int, size: int, rounds: int, later: int = 0
) -> Experiment:
    """Two ranks that a third one lets exchange messages.

    Args:
        starter: The third one.
        one: Begins when it hears of the starter.
        other: Begins when it has a message of the starter.
        size: Of what they exchange, bytes.
        rounds: How often they do so.
        later: Of the message of the starter: with none both begin at nearly the same time; while a
            long one arrives, the other takes in what it is told of the first exchange.
    """
    calls: dict[int, Calls] = {
        starter: [send(one, 0), send(other, later), recv(one, 0), recv(other, 0)]
    }
    for rank, peer, begins in ((one, other, 0), (other, one, later)):
        turns = [sendrecv(peer, peer, size)] * rounds
        calls[rank] = [recv(starter, begins), *turns, send(starter, 0)]
    when = "one after the other" if later else "at once"
    return Experiment("exchange", size, f"{rounds} begun {when}", starter, calls)


def streams(pairs: Sequence[tuple[int, int]], size: int) -> Experiment:
    """Messages of several pairs at once, over a cable that all of them cross."""
    clock = pairs[0][0]
    calls: dict[int, Calls] = {
        clock: [
            *[send(source, 0) for source, _ in pairs[1:]],
            send(pairs[0][1], size),
            *[recv(target, 0) for _, target in pairs],
        ]
    }
    for source, target in pairs:
        if source != clock:
            calls[source] = [recv(clock, 0), send(target, size)]
        calls[target] = [recv(source, size), send(clock, 0)]
    return Experiment("streams", size, f"{len(pairs)} on a cable", clock, calls)


def incast(root: int, peers: Sequence[int], size: int) -> Experiment:
    """Several ranks send to one at once."""
    mine = [*[irecv(peer, size) for peer in peers], *[send(peer, 0) for peer in peers], wait_all()]
    return Experiment(
        "incast",
        size,
        f"{len(peers)} peers",
        root,
        {root: mine, **{peer: [recv(root, 0), send(root, size)] for peer in peers}},
    )


def outcast(root: int, peers: Sequence[int], size: int) -> Experiment:
    """One rank sends to several at once, which answer."""
    mine = [*[irecv(peer, 0) for peer in peers], *[isend(peer, size) for peer in peers], wait_all()]
    return Experiment(
        "outcast",
        size,
        f"{len(peers)} peers",
        root,
        {root: mine, **{peer: [recv(root, size), send(root, 0)] for peer in peers}},
    )


def first_of_many(root: int, peers: Sequence[int], size: int) -> Experiment:
    """One rank sends to several at once, and waits for the answer of the first alone.

    That comes early where a message goes whole before the next one, late where they take turns.
    """
    first, *others = peers
    mine = [irecv(first, 0), *[isend(peer, size) for peer in peers], wait_all()]
    calls: dict[int, Calls] = {root: mine, first: [recv(root, size), send(root, 0)]}
    for peer in others:
        calls[peer] = [recv(root, size)]
    return Experiment("first of many", size, f"{len(peers)} peers", root, calls)


def shift(ranks: Sequence[int], distance: int, size: int) -> Experiment:
    """All ranks at once send to the one so far behind them, a few times."""
    count = len(ranks)
    return _crowd(
        "shift",
        size,
        f"by {distance}",
        ranks,
        {
            rank: [sendrecv(ranks[(at + distance) % count], ranks[(at - distance) % count], size)]
            * _ROUNDS
            for at, rank in enumerate(ranks)
        },
    )


def shuffle(orders: Sequence[Sequence[int]], size: int, detail: str) -> Experiment:
    """All ranks at once send to others at all distances, so that messages cross on their way.

    Args:
        orders: Of all ranks, one a round: each sends to the next in it, the last one to the first.
        size: Of each message, bytes.
        detail: What tells these orders from others.
    """
    calls: dict[int, list[Call]] = {rank: [] for rank in sorted(orders[0])}
    for order in orders:
        for at, rank in enumerate(order):
            calls[rank].append(sendrecv(order[(at + 1) % len(order)], order[at - 1], size))
    return _crowd("shuffle", size, detail, list(calls), calls)


def all_to_all(ranks: Sequence[int], size: int) -> Experiment:
    """All ranks send to all others at once."""
    count = len(ranks)
    calls: dict[int, Calls] = {}
    for at, rank in enumerate(ranks):
        others = [ranks[(at + further) % count] for further in range(1, count)]
        receives = [irecv(other, size) for other in reversed(others)]
        calls[rank] = [*receives, *[isend(other, size) for other in others], wait_all()]
    return _crowd("all to all", size, f"{count} ranks", ranks, calls)


def pipeline(ranks: Sequence[int], size: int) -> Experiment:
    """Segments that every rank passes on to the next one; the last one answers the first."""
    calls: dict[int, list[Call]] = {}
    for at, rank in enumerate(ranks):
        calls[rank] = []
        for _ in range(_SEGMENTS):
            if at > 0:
                calls[rank].append(recv(ranks[at - 1], size))
            if at < len(ranks) - 1:
                calls[rank].append(send(ranks[at + 1], size))
    calls[ranks[-1]].append(send(ranks[0], 0))
    calls[ranks[0]].append(recv(ranks[-1], 0))
    return Experiment("pipeline", size, f"{len(ranks)} ranks", ranks[0], calls)


def computation(rank: int, flops: float) -> Experiment:
    """Multiplications and additions of one rank."""
    return Experiment("computation", 0, f"rank {rank}", rank, {rank: [work(flops)]})


def memory_copy(rank: int, size: int) -> Experiment:
    """Bytes copied by one rank, within its memory."""
    return Experiment("copy", size, f"rank {rank}", rank, {rank: [copy(size)] * COPIES})


def _crowd(
    kind: str, size: int, detail: str, ranks: Sequence[int], calls: Mapping[int, Calls]
) -> Experiment:
    """All begin when the first one says so, and tell it that they are through."""
    clock, *others = ranks
    whole: dict[int, Calls] = {
        rank: [recv(clock, 0), *calls[rank], send(clock, 0)] for rank in others
    }
    whole[clock] = [
        *[send(rank, 0) for rank in others],
        *calls[clock],
        *[recv(rank, 0) for rank in others],
    ]
    return Experiment(kind, size, detail, clock, whole)
