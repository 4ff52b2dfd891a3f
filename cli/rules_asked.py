"""What `hamtune rules` is asked to decide: collectives, communicators, sizes of calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.simulation_inputs import TracedApplication
from searchspace.collectives.decision_table import SIZED
from searchspace.collectives.equivalents import Target
from searchspace.errors import InvalidInput
from searchspace.platform import Resolved
from searchspace.units import parse_size

if TYPE_CHECKING:
    from workers.program_rules import Program

__all__ = ["MOST_RANKS", "SIZES", "Task", "asked_of", "called_of", "counted", "simulated_program"]

SIZES = "1,8,64,256,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,512KiB,1MiB,4MiB"
_OF_BLOCKS = ("allgather", "alltoall", "gather", "scatter")
MOST_RANKS = 4096
_USUAL_RANKS = 512
_INT = 2**31


@dataclass(frozen=True)
class Task:
    """What is to be decided, for which library, where; and the program, where there is one.

    Those of its reductions that are `non_commutative` have operations that do not commute; None
    where that is not known.
    """

    target: Target
    resolved: Resolved
    asked: Mapping[str, Mapping[int, tuple[int, ...]]]
    non_commutative: Collection[str] | None
    traced: TracedApplication | None = None


@contextmanager
def simulated_program(task: Task, most: int) -> Iterator[Program]:
    """Simulates the program of a task, so many times at most."""
    from workers.program_rules import Program
    from workers.simulator_client import Simulator
    from workers.tuning_problem import request_for

    assert task.traced is not None, "a program was named"
    with Simulator(task.traced.traces) as simulator:
        request = request_for(task.resolved, task.traced.workload)
        yield Program(simulator, request, task.target, most)


def asked_of(
    placed: int,
    collectives: tuple[str, ...] | None,
    sizes: tuple[str, ...] | None,
    ranks: tuple[str, ...] | None,
) -> dict[str, dict[int, tuple[int, ...]]]:
    """What the options name: bytes of calls by collective and ranks of a communicator.

    Args:
        placed: Ranks that there are.
        collectives: Of `--collectives`; None for all.
        sizes: Of `--sizes`; None for the usual ones.
        ranks: Of `--ranks`; None for powers of two and all.

    Raises:
        InvalidInput: One of them cannot be.
    """
    allowed = (*SIZED, "barrier")
    for name in collectives or ():
        if name not in allowed:
            raise InvalidInput(
                f"--collectives: there is no '{name}'; allowed: {', '.join(allowed)}"
            )
    if ranks is None:
        most = min(placed, _USUAL_RANKS)
        counts = [*(2**k for k in range(1, most.bit_length()) if 2**k < most), most]
    else:
        counts = sorted({_count(word, placed) for word in ranks})
    if counts[0] < 2:
        raise InvalidInput("one core has no communicator of two ranks")
    try:
        calls = {parse_size(_number(word)) for word in sizes or SIZES.split(",")}
    except InvalidInput as error:
        raise InvalidInput(f"--sizes: {error}") from None
    if not 1 <= min(calls) <= max(calls) < _INT:
        raise InvalidInput("--sizes: a call has at least 1 byte, and less than 2 GiB")
    names = collectives or SIZED
    return _allowed(dict.fromkeys(names, tuple(sorted(calls))), dict.fromkeys(names, counts))


def _allowed(
    sizes: Mapping[str, tuple[int, ...]], counts: Mapping[str, Iterable[int]]
) -> dict[str, dict[int, tuple[int, ...]]]:
    """The sizes of each collective in each communicator, without what a call cannot have."""
    found: dict[str, dict[int, tuple[int, ...]]] = {}
    for name, calls in sizes.items():
        for count in counts[name]:
            if kept := _calls(name, count, calls):
                found.setdefault(name, {})[count] = kept
    return found


def _calls(collective: str, ranks: int, calls: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that a call can have: a scattered vector has something for every rank.

    SMPI counts the bytes of the blocks of all ranks in an int.
    """
    if collective == "barrier":
        return (0,)
    if collective == "reduce_scatter":
        return tuple(dict.fromkeys(max(size, ranks) for size in calls))
    factor = ranks if collective in _OF_BLOCKS else 1
    return tuple(size for size in calls if size * factor < _INT)


def called_of(
    traced: TracedApplication, sizes: Mapping[str, tuple[int, ...]]
) -> dict[str, dict[int, tuple[int, ...]]]:
    """What a program calls: each size in each communicator that it calls the collective on.

    Raises:
        InvalidInput: Nothing that can be decided.
    """
    counts = {
        name: sorted({len(group) or traced.ranks for group in traced.calls[name]} - {1})
        for name in sizes
    }
    asked = _allowed(sizes, counts)
    if not asked:
        raise InvalidInput(f"the program calls none of {', '.join(SIZED)}")
    return asked


def _number(word: str) -> str | int:
    return int(word) if word.isdecimal() else word


def _count(word: str, cores: int) -> int:
    if not word.isdecimal() or not 2 <= int(word) <= min(cores, MOST_RANKS):
        most = min(cores, MOST_RANKS)
        raise InvalidInput(f"--ranks: a whole number from 2 to {most} is wanted, not '{word}'")
    return int(word)


def counted(asked: Mapping[str, Mapping[int, tuple[int, ...]]]) -> str:
    """How much is asked, in words."""
    counts = next(iter(asked.values()))
    sizes = max(len(calls) for of in asked.values() for calls in of.values())
    numbers = (len(asked), "collective"), (len(counts), "communicator"), (sizes, "size")
    return " x ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in numbers)
