"""Whether what the ranks of a planned run send is what others receive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from searchspace.extrapolation.captures import Ints
from searchspace.extrapolation.errors import NoPattern
from searchspace.extrapolation.relations import Place, Relation
from searchspace.extrapolation.transfer import Planned, Transfer

__all__ = ["check_messages"]

_SENDS = {"send", "ssend", "bsend", "isend", "issend", "sendrecv"}
_RECEIVES = {"recv", "irecv", "sendrecv"}


def check_messages(plans: Sequence[tuple[Ints, list[Planned]]], transfer: Transfer) -> None:
    """Refuse a plan in which somebody sends what nobody receives, or the other way round.

    Raises:
        NoPattern: There is such a message.
    """
    sent, received = (
        np.concatenate(
            [
                kind
                for members, plan in plans
                for kind in _messages(members, plan, transfer, sends=sends)
            ]
            or [np.zeros((5, 0), dtype=np.int64)],
            axis=1,
        )
        for sends in (True, False)
    )
    # Of receives from anybody, or with any tag, nobody can say which messages they take.
    if (received < 0).any():
        return
    one, other = _summed(sent), _summed(received)
    if one.shape != other.shape or not np.array_equal(one, other):
        raise NoPattern("what some ranks would send is not what others would receive")


def _summed(messages: np.ndarray) -> np.ndarray:
    """Messages of one sender, receiver, communicator and tag together, in order."""
    keys, inverse = np.unique(messages[:4], axis=1, return_inverse=True)
    counts = np.bincount(inverse.ravel(), messages[4], minlength=keys.shape[1])
    return np.vstack([keys, counts.astype(np.int64)])


def _peers_of(relation: Relation | int, place: Place) -> Ints:
    if isinstance(relation, Relation):
        return relation.of(place)
    return np.full(len(place.index), relation, dtype=np.int64)


def _messages(
    members: Ints, plan: Sequence[Planned], transfer: Transfer, *, sends: bool
) -> list[np.ndarray]:
    """Sender, receiver, communicator, tag and number of the messages of all members of a class."""
    kinds: Counter[tuple[int, int, int]] = Counter()
    relations: dict[int, Relation | int] = {}
    for planned in plan:
        if planned.name not in (_SENDS if sends else _RECEIVES):
            continue
        both = planned.name == "sendrecv"
        end = ("to" if sends else "from") if both else "peer"
        tag = planned.fields[("send_tag" if sends else "recv_tag") if both else "tag"]
        comm = planned.fields["comm"]
        assert isinstance(comm, int) and isinstance(tag, int)
        relation = planned.parties[end]
        if relation == -1:
            continue
        relations[id(relation)] = relation
        kinds[id(relation), comm, tag] += 1
    found = []
    for (identity, comm, tag), count in kinds.items():
        place = transfer.place(-1, comm, members)
        relation = relations[identity]
        peers = _peers_of(relation, place)
        ends = (place.index, peers) if sends else (peers, place.index)
        group = (comm << 32) + transfer.membership(-1, comm).group[members]
        found.append(
            np.stack([*ends, group, np.full(len(members), tag), np.full(len(members), count)])
        )
    return found
