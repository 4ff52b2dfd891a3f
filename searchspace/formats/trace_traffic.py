"""What the ranks of traces exchange: in all, in a phase, on a communicator, in collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.errors import InvalidInput
from searchspace.kernels._native import filtered_traffic, message_rounds
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic

__all__ = ["TracesTraffic", "family_of", "selected_traffic"]

_Kept = TypeVar("_Kept")

_MOST_KNOWN = 16
_MOST_ENTRIES = 1 << 25
"""Of what is kept of traffic, and as many of rounds: 12 to 24 bytes each."""
_MOST_ROUNDS = 128

_FAMILIES = ("none", "direct", "ring", "doubling", "tree")
"""Families of algorithms by where the bytes go, as the kernel numbers them."""

_CALLS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
)

_USUAL = {
    "bcast": "tree",
    "reduce": "tree",
    "allreduce": "doubling",
    "gather": "tree",
    "scatter": "tree",
    "allgather": "doubling",
}
"""What is taken where no algorithm is named, or one whose name does not tell; else direct."""

_TOLD_BY_NAME = (
    ("ring", ("ring", "lr", "ntsl", "ntslr", "pipeline", "chain", "neighborexchange")),
    ("doubling", ("rdb", "bruck", "doubling", "recursivehalving", "butterfly", "rhv")),
    ("tree", ("binomial", "binary", "tree", "knomial", "bintree", "ntsb", "rab")),
    ("direct", ("linear", "pair", "spreading", "flat", "flattree", "scatter_dest", "direct")),
)


def family_of(collective: str, algorithm: str) -> str:
    """The family of an algorithm, told by its name: direct, ring, doubling or tree.

    Raises:
        InvalidInput: The collective has no such algorithm.
    """
    known = COLLECTIVES.get(collective)
    if known is not None and algorithm not in (DEFAULT, *known.algorithms):
        raise InvalidInput(
            f"unknown algorithm '{algorithm}'; allowed: {', '.join((DEFAULT, *known.algorithms))}",
            field=collective,
        )
    flat = algorithm.lower() in ("flat_tree", "flattree")
    words = set(algorithm.lower().replace("-", "_").split("_"))
    for family, names in _TOLD_BY_NAME:
        if not flat and (words & set(names) or algorithm.lower() in names):
            return family
    return "direct" if flat else _USUAL.get(collective, "direct")


def selected_traffic(
    path: Path,
    *,
    point_to_point: bool = True,
    collectives: bool = False,
    algorithms: Mapping[str, str] | None = None,
    phase: int | None = None,
    members: Sequence[int] = (),
) -> Traffic:
    """Adds up the payload of some messages of a trace.

    Collectives become the messages of the family that their algorithm belongs to; lists of sizes
    (alltoallv, ...) go straight from rank to rank.

    Args:
        path: The trace.
        point_to_point: Whether messages of the program count.
        collectives: Whether those that collectives become count.
        algorithms: The algorithm of a collective, by its name; defaults otherwise.
        phase: Only what each rank does between that mark (`MPI_Pcontrol`) and the next; phase 0
            comes before the first mark.
        members: Only what happens on the communicators of exactly these ranks.

    Raises:
        InvalidInput: The file is no trace, one that cannot be replayed, or has more than 16,384
            ranks; or there is no such collective or algorithm.
    """
    spreads = _spreads(algorithms or {})
    return _added_up(
        path,
        spreads if collectives else [],
        point_to_point=point_to_point,
        phase=-1 if phase is None else phase,
        members=members,
    )


def _added_up(
    path: Path,
    spreads: list[int],
    *,
    point_to_point: bool = True,
    phase: int = -1,
    members: Sequence[int] = (),
) -> Traffic:
    try:
        sent = filtered_traffic(str(path), point_to_point, spreads, phase, sorted(members))
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error
    return Traffic.from_sent(*sent)


def _forget_oldest(known: dict[tuple[int, ...], _Kept], entries: Callable[[_Kept], int]) -> None:
    """Keeps what was read last, whatever it takes, and of the rest what there is room for."""
    taken = 0
    for count, (spreads, kept) in enumerate(reversed(list(known.items()))):
        taken += entries(kept)
        if count and (count >= _MOST_KNOWN or taken > _MOST_ENTRIES):
            known.pop(spreads, None)


class TracesTraffic:
    """What the ranks of applications that run at once exchange, under chosen algorithms.

    The ranks of each follow those of the one before. Messages of the program count, and those that
    collectives become (`selected_traffic`). Answers are kept by what decides them.

    Args:
        paths: The traces.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._known: dict[tuple[int, ...], Traffic] = {}
        self._rounds: dict[tuple[int, ...], Rounds] = {}

    def __call__(self, algorithms: Mapping[str, str] | None = None) -> Traffic:
        """Adds up all messages.

        Args:
            algorithms: The algorithm of a collective, by its name; defaults otherwise.

        Raises:
            InvalidInput: A file is no trace, one that cannot be replayed, or has more than 16,384
                ranks; or there is no such collective or algorithm.
        """
        spreads = tuple(_spreads(algorithms or {}))
        known = self._known.get(spreads)
        if known is None:
            known = self._known[spreads] = self._read(algorithms or {})
            _forget_oldest(self._known, lambda traffic: len(traffic.partner))
        return known

    def rounds(self, algorithms: Mapping[str, str] | None = None) -> Rounds:
        """The same messages, by the round in which they are sent.

        A rank's round ends where it waits for something after it sent something; a collective
        takes a round for each step of its algorithm. Rounds that are alike are one that comes
        several times; of more than 128, neighbours are joined.

        Args:
            algorithms: The algorithm of a collective, by its name; defaults otherwise.

        Raises:
            InvalidInput: As for all messages.
        """
        return self._rounds_under(tuple(_spreads(algorithms or {})))

    def rounds_of(self, families: Mapping[str, str]) -> Rounds:
        """The messages of the program and of some collectives, by the round they are sent in.

        Args:
            families: Which collectives count, and by which family of algorithms (`family_of`).

        Raises:
            InvalidInput: As for all messages.
        """
        spreads = tuple(_FAMILIES.index(families.get(name, "none")) for name in _CALLS)
        return self._rounds_under(spreads)

    def _rounds_under(self, spreads: tuple[int, ...]) -> Rounds:
        known = self._rounds.get(spreads)
        if known is None:
            parts = [self._rounds_in(path, list(spreads)) for path in self._paths]
            known = self._rounds[spreads] = parts[0] if len(parts) == 1 else Rounds.together(parts)
            _forget_oldest(self._rounds, lambda rounds: len(rounds.size))
        return known

    def _rounds_in(self, path: Path, spreads: list[int]) -> Rounds:
        known = self._known.get(tuple(spreads)) if len(self._paths) == 1 else None
        traffic = _added_up(path, spreads) if known is None else known
        most = max(1, _MOST_ROUNDS // len(self._paths))
        number, sender, receiver, size, count = message_rounds(str(path), spreads, most)
        if not len(count):  # nothing is sent, or more than is worth listing
            return Rounds.at_once(traffic)
        return Rounds(traffic.ranks, number, sender, receiver, size, count)

    def _read(self, algorithms: Mapping[str, str]) -> Traffic:
        return Traffic.together(
            [
                selected_traffic(path, collectives=True, algorithms=algorithms)
                for path in self._paths
            ]
        )


def _spreads(algorithms: Mapping[str, str]) -> list[int]:
    """The family of each collective, as the kernel numbers them.

    Raises:
        InvalidInput: There is no such collective or algorithm.
    """
    for name in algorithms:
        if name not in COLLECTIVES:
            raise InvalidInput(
                f"unknown collective '{name}'; allowed: {', '.join(COLLECTIVES)}", field=name
            )
    return [
        _FAMILIES.index(
            "none" if name == "barrier" else family_of(name, algorithms.get(name, DEFAULT))
        )
        for name in _CALLS
    ]
