"""Communicators of OTF2 archives: made at the start of a trace, and their collectives matched.

An archive says who is in a communicator, not how it was made. Those that are used are made by
splits of the world at the start; communicators without a common rank share a split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Value, encode
from searchspace.formats.otf2_collectives import Call, fields_of

__all__ = ["Communicator", "Communicators", "Late"]

_FIRST = 2  # after MPI_COMM_WORLD and MPI_COMM_SELF


@dataclass
class Late:
    """A place among the operations of a rank that later events fill."""

    encoded: bytes | None = None


@dataclass
class _PendingCollective:
    """A collective call at which not all ranks have arrived."""

    name: str
    root: int
    sent: dict[int, int] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)
    places: dict[int, tuple[Late, int | None]] = field(default_factory=dict)


class Communicator:
    """A communicator of the archive, with the collective calls that are under way in it.

    Args:
        name: Its name in the archive.
        number: Its number in the trace.
        members: Ranks in the world, in the order of the communicator.
    """

    def __init__(self, name: str, number: int, members: Sequence[int]) -> None:
        self.name = name
        self.number = number
        self._rank_of = {member: rank for rank, member in enumerate(members)}
        self._calls_made = dict.fromkeys(members, 0)
        self._pending: dict[int, _PendingCollective] = {}

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return len(self._rank_of)

    def peer(self, rank: int) -> int:
        """The same rank, if there is one.

        Raises:
            InvalidInput: There is not.
        """
        if rank >= self.ranks:
            raise InvalidInput(f"rank {rank} of a communicator of {self.ranks} ranks")
        return rank

    def arrive(
        self,
        member: int,
        name: str,
        root: int,
        sizes: tuple[int, int],
        place: tuple[Late, int | None],
    ) -> None:
        """A rank's next collective call; the last one to arrive fills the places of all.

        Args:
            member: The rank in the world.
            name: Of the operation.
            root: Its root, if it has one.
            sizes: Bytes that the rank sent and received.
            place: What is to be filled, and the slot of a non-blocking call.

        Raises:
            InvalidInput: The ranks do not make the same calls.
        """
        rank = self._rank_of.get(member)
        if rank is None:
            raise InvalidInput(f"a collective of {self.name}, to which the rank does not belong")
        number = self._calls_made[member]
        self._calls_made[member] += 1
        pending = self._pending.setdefault(number, _PendingCollective(name, root))
        if (pending.name, pending.root) != (name, root):
            raise InvalidInput(
                f"{name} of {self.name} where another rank has {pending.name}: call {number + 1}"
            )
        pending.sent[rank], pending.received[rank] = sizes
        pending.places[rank] = place
        if len(pending.places) == self.ranks:
            del self._pending[number]
            self._fill(pending)

    def check_ended(self) -> None:
        """Refuse calls that some ranks did not make.

        Raises:
            InvalidInput: There is one.
        """
        for number, pending in self._pending.items():
            raise InvalidInput(
                f"{pending.name} of {self.name}, its call {number + 1}, was made by "
                f"{len(pending.places)} of {self.ranks} ranks"
            )

    def _fill(self, pending: _PendingCollective) -> None:
        ranks = range(self.ranks)
        call = Call(
            pending.name,
            pending.root,
            [pending.sent[rank] for rank in ranks],
            [pending.received[rank] for rank in ranks],
        )
        for rank, (late, slot) in pending.places.items():
            fields: dict[str, Value] = {"comm": self.number, **fields_of(call, rank)}
            if slot is None:
                late.encoded = encode(call.name, **fields)
            else:
                late.encoded = encode(f"i{call.name}", slot=slot, **fields)


class Communicators:
    """Gives the communicators of an archive their numbers as they are first used.

    Args:
        ranks: Ranks of the world.
    """

    def __init__(self, ranks: int) -> None:
        self._world = tuple(range(ranks))
        self._splits: list[dict[int, tuple[int, int]]] = []
        self._colors: list[int] = []
        self._has_world = False
        self._all: list[Communicator] = []

    def add(self, name: str, members: Sequence[int]) -> Communicator:
        """A communicator.

        Args:
            name: Its name.
            members: Ranks in the world, in its order.

        Raises:
            InvalidInput: A rank is in it twice, or there are none.
        """
        if not members or len(set(members)) != len(members):
            raise InvalidInput(f"communicator {name} has no ranks, or one of them twice")
        if tuple(members) == self._world and not self._has_world:
            self._has_world = True
            made = Communicator(name, 0, members)
        else:
            made = Communicator(name, self._split(members), members)
        self._all.append(made)
        return made

    def own(self, rank: int) -> Communicator:
        """The communicator that holds one rank alone, MPI_COMM_SELF."""
        made = Communicator("MPI_COMM_SELF", 1, (rank,))
        self._all.append(made)
        return made

    def making(self, rank: int) -> list[bytes]:
        """The operations of a rank that make all communicators."""
        return [
            encode("comm_split", color=color, key=key)
            for color, key in (split.get(rank, (-1, 0)) for split in self._splits)
        ]

    def check_ended(self) -> None:
        """Refuse collective calls that some ranks did not make.

        Raises:
            InvalidInput: There is one.
        """
        for communicator in self._all:
            communicator.check_ended()

    def _split(self, members: Sequence[int]) -> int:
        free = (
            index
            for index, split in enumerate(self._splits)
            if not any(member in split for member in members)
        )
        index = next(free, len(self._splits))
        if index == len(self._splits):
            self._splits.append({})
            self._colors.append(0)
        for key, member in enumerate(members):
            self._splits[index][member] = (self._colors[index], key)
        self._colors[index] += 1
        return _FIRST + index
