"""Our own mapper: structure, dual recursive bisection, swaps, and annealing while time lasts.

See docs/mappings/auto.md. The kernel is `searchspace/kernels/mapping/mapper/search.hpp`.
"""

from __future__ import annotations

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.kernels._native import map_auto
from searchspace.mapping.by_order import BY_ORDER
from searchspace.mapping.mapper import Mapper, Places, Proceed
from searchspace.options import Amount, Whole
from searchspace.traffic import Traffic

__all__ = ["AUTO", "improve"]

_MOST_SECONDS = 86_400


def improve(
    traffic: Traffic,
    machine: HopMachine,
    *,
    seed: int = 0,
    seconds: float = 0,
    steps: int = 0,
    threads: int = 1,
    start: Places | None = None,
    proceed: Proceed | None = None,
) -> Places:
    """Maps ranks, hop-bytes low, never worse than `start`.

    Args:
        traffic: What ranks exchange.
        machine: With at least as many places as there are ranks.
        seed: Of the random choices.
        seconds: CPU seconds each thread takes; 0 for the fast mode, which ends by itself.
        steps: Annealing steps each thread makes instead, when positive. With `seconds` alone the
            result depends on the speed of the processor; otherwise on the arguments only.
        threads: How many threads anneal: short annealings apart, long ones exchange their best.
        start: A mapping to begin with; None for `by-order`.
        proceed: Called about ten times a CPU second with the CPU seconds taken and the least
            hop-bytes so far; ends the search by returning False.

    Returns:
        The place of each rank.

    Raises:
        InvalidInput: Hosts and their cores are a tree of too many levels.
    """
    if start is None:
        if machine.plain:
            start = np.arange(traffic.ranks, dtype=np.uint32)
        else:
            start = BY_ORDER.place(traffic, machine)
    try:
        places, _, _, _ = map_auto(
            traffic.first,
            traffic.partner,
            traffic.size,
            machine.hops,
            start,
            seconds,
            steps,
            threads,
            seed,
            proceed or _go_on,
        )
    except ValueError as error:
        raise InvalidInput(f"the mapping 'auto' cannot be made: {error}") from error
    return places


def _go_on(_seconds: float, _hop_bytes: int) -> bool:
    """Gives Python the chance to act upon Ctrl-C."""
    return True


def _place(
    traffic: Traffic,
    machine: HopMachine,
    proceed: Proceed | None,
    *,
    seed: int,
    seconds: float,
    steps: int,
    threads: int,
) -> Places:
    return improve(
        traffic,
        machine,
        seed=seed,
        seconds=seconds,
        steps=steps,
        threads=threads,
        proceed=proceed,
    )


AUTO = Mapper(
    "auto",
    "structure, recursive bisection, swaps and annealing: the least hop-bytes in the time given",
    _place,
    options=(
        Amount("seconds", "CPU seconds to take; 0: fast", 0, _MOST_SECONDS, 0),
        Whole("steps", "annealing steps instead of seconds; repeatable", 0, 999_999_999, 0),
        Whole("threads", "threads that anneal, each for so many seconds or steps", 1, 256, 1),
    ),
    uses_seed=True,
    anytime=True,
    version=2,
)
