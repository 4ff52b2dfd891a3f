"""Operations of several runs, side by side: loops that go round more often on more ranks are found.

Runs are compressed into loops, inner ones first, as ScalaTrace does (Noeth et al., 2009); where the
loops of all runs have the same bodies, they are the same loops, however often they go round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from searchspace.extrapolation.errors import NoPattern

__all__ = ["Aligned", "Growing", "Leaf", "Step", "align"]

_LONGEST_BODY = 64
_COMPUTE = ("compute",)
Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Leaf:
    """One operation: its index in the run."""

    key: int
    fine: int
    index: int


@dataclass(frozen=True)
class _Loop:
    key: int
    fine: int
    rounds: tuple[tuple[Node, ...], ...]


Node: TypeAlias = "Leaf | _Loop"


@dataclass(frozen=True)
class Step:
    """An operation that all runs have: its index in each."""

    indices: tuple[int, ...]


@dataclass(frozen=True)
class Growing:
    """A loop that goes round another number of times in each run.

    Attributes:
        body: For each operation of the body, for each run, its index in each round.
    """

    body: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def rounds(self) -> tuple[int, ...]:
        """How often it goes round in each run."""
        return tuple(len(indices) for indices in self.body[0])


Aligned: TypeAlias = "Step | Growing"


def align(runs: Sequence[Sequence[Key]], sizes: Sequence[Sequence[Key]]) -> Iterator[Aligned]:
    """Set the operations of several runs side by side.

    Rounds of a loop are taken to be of the same sizes; where that leads nowhere, of any.

    Args:
        runs: What tells operations apart, of each run.
        sizes: The sizes of each operation there.

    Raises:
        NoPattern: The runs differ by more than how often loops go round.
    """
    if all(run == runs[0] for run in runs[1:]):
        yield from (Step((index,) * len(runs)) for index in range(len(runs[0])))
        return
    try:
        yield from list(_folded(runs, sizes))
    except NoPattern:
        yield from _folded(runs, [[()] * len(run) for run in runs])


def _folded(runs: Sequence[Sequence[Key]], sizes: Sequence[Sequence[Key]]) -> Iterator[Aligned]:
    numbers: dict[object, int] = {}

    def number(thing: object) -> int:
        return numbers.setdefault(thing, len(numbers))

    folded = []
    for run, of_run in zip(runs, sizes, strict=True):
        leaves: list[Node] = [
            Leaf(number(key), number((key, size)), index)
            for index, (key, size) in enumerate(zip(run, of_run, strict=True))
        ]
        folded.append(_compress(leaves, number, number(_COMPUTE)))
    yield from _side_by_side(folded)


Numbering: TypeAlias = Callable[[object], int]


def _compress(nodes: list[Node], number: Numbering, compute: int) -> list[Node]:
    for length in range(1, _LONGEST_BODY + 1):
        if 2 * length > len(nodes):
            break
        nodes = _fold(nodes, length, number, compute)
    return nodes


def _fold(nodes: list[Node], length: int, number: Numbering, compute: int) -> list[Node]:
    """Make loops of what is repeated at once with a period."""
    keys = [node.fine for node in nodes]
    folded: list[Node] = []
    at = 0
    while at < len(nodes):
        end = at + length
        # Two computations in a row are no loop, but the ends of what comes before and after.
        one = length == 1 and nodes[at].key == compute
        if one or end >= len(keys) or keys[at] != keys[end]:
            folded.append(nodes[at])
            at += 1
            continue
        body = keys[at:end]
        while keys[end : end + length] == body:
            end += length
        if end - at >= 2 * length:
            rounds = tuple(tuple(nodes[start : start + length]) for start in range(at, end, length))
            key = number(("loop", *(node.key for node in rounds[0])))
            folded.append(_Loop(key, number(("loop of sizes", *body)), rounds))
            at = end
        else:
            folded.append(nodes[at])
            at += 1
    return folded


def _side_by_side(runs: Sequence[Sequence[Node]]) -> Iterator[Aligned]:
    lengths = {len(run) for run in runs}
    if len(lengths) > 1:
        raise NoPattern("the runs differ by more than how often their loops go round")
    for nodes in zip(*runs, strict=True):
        if len({node.key for node in nodes}) > 1:
            raise NoPattern("the runs differ by more than how often their loops go round")
        leaves = [node.index for node in nodes if isinstance(node, Leaf)]
        if leaves:
            yield Step(tuple(leaves))
            continue
        loops = [node for node in nodes if isinstance(node, _Loop)]
        if len({len(loop.rounds) for loop in loops}) == 1:
            for rounds in zip(*(loop.rounds for loop in loops), strict=True):
                yield from _side_by_side(rounds)
        else:
            yield _growing(loops)


def _growing(loops: Sequence[_Loop]) -> Growing:
    body = []
    for place in range(len(loops[0].rounds[0])):
        indices = []
        for loop in loops:
            of_run = []
            for round_ in loop.rounds:
                leaf = round_[place]
                if not isinstance(leaf, Leaf):
                    raise NoPattern("a loop within one that grows with the ranks")
                of_run.append(leaf.index)
            indices.append(tuple(of_run))
        body.append(tuple(indices))
    return Growing(tuple(body))
