"""Refining mappings with a simulator at hand: a search, and the best of it on the whole trace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.mapping.cables import LOWEST_ID
from searchspace.mapping.mapper import Places
from searchspace.mapping.refinement import Refinement
from searchspace.mapping.time_model import HostLimits
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic

__all__ = ["Evaluate", "Refined", "Timed", "refine"]


@dataclass(frozen=True)
class Timed:
    """What a simulation said of a mapping.

    Attributes:
        seconds: Simulated.
        link_loads: Bytes over each cable of the network, each way; may be empty.
    """

    seconds: float
    link_loads: Sequence[Sequence[float]] = ()


Evaluate = Callable[[Places, float | None], Timed | None]
"""Simulates a mapping, up to a cutoff in seconds if one is given; None where that was exceeded, or
the mapping cannot be run."""


@dataclass(frozen=True)
class Refined:
    """What a refinement came to.

    Attributes:
        places: The place of each rank.
        seconds: Simulated on the whole trace, at most `start_seconds`.
        start: Which of the starts was best on the whole trace, of those tried there.
        start_seconds: Its time on the whole trace.
        evaluations: Simulations of the search.
        verified: Simulations of the whole trace in the end, where the search had estimates.
    """

    places: Places
    seconds: float
    start: int
    start_seconds: float
    evaluations: int
    verified: int


_VERIFIED = 3
"""How many of the best starts and of the best mappings found are tried on the whole trace."""


def refine(
    traffic: Traffic,
    machine: HopMachine,
    starts: Sequence[Places],
    evaluate: Evaluate,
    *,
    verify: Evaluate | None = None,
    evaluations: int,
    seconds: float | None = None,
    rounds: Rounds | None = None,
    limits: HostLimits | None = None,
    tie_rule: str = LOWEST_ID,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> Refined:
    """Refines mappings one simulation at a time.

    Args:
        traffic: What the ranks exchange.
        machine: Where they run.
        starts: Mappings to begin with; the result is no worse than the first, nor than the best.
        evaluate: Simulates a mapping, or estimates its time from a truncated trace.
        verify: Simulates the whole trace where `evaluate` only estimates; None where it does not.
        evaluations: Simulations of the search at most, those of the starts included; these are all
            made whatever the number.
        seconds: Of the clock, after which no simulation begins; the starts and the verification
            come in any case.
        rounds: When ranks exchange what they do; None where that is not known: all at once.
        limits: What ranks of a host share; None for nothing.
        tie_rule: Of the network's routes.
        seed: Of the random choices.
        progress: Told the number of simulations and the best time after each.

    Raises:
        InvalidInput: There is no start, none of them can be run, or the network is too large.
    """
    search = Refinement(
        traffic, machine, starts, rounds=rounds, limits=limits, tie_rule=tie_rule, seed=seed
    )
    end = math.inf if seconds is None else time.monotonic() + seconds
    made = 0
    timed_starts: list[tuple[float, Places]] = []
    while made < max(evaluations, len(search.starts)):
        starting = made < len(search.starts)
        if not starting and (time.monotonic() >= end or not timed_starts):
            break
        places = search.ask()
        if places is None:
            break
        answer = _evaluated(search, places, evaluate, starting=starting)
        made += 1
        if starting and answer is not None:
            timed_starts.append((answer.seconds, places))
        if progress is not None and search.best is not None:
            progress(made, search.best[0])
    if not timed_starts:
        raise InvalidInput("none of the mappings to start with can be run")
    return _verified(search, starts, timed_starts, verify, made)


def _evaluated(
    search: Refinement, places: Places, evaluate: Evaluate, *, starting: bool
) -> Timed | None:
    """Has a mapping simulated that the search asked for, and tells it."""
    # Starts are compared with each other in the end; of the others only better ones count.
    exploring = starting or search.exploring
    bound = None if exploring or search.best is None else search.best[0]
    answer = evaluate(places, bound)
    if answer is None:
        search.tell(places, None)
    else:
        search.tell(places, answer.seconds, answer.link_loads)
    return answer


def _verified(
    search: Refinement,
    starts: Sequence[Places],
    timed_starts: list[tuple[float, Places]],
    verify: Evaluate | None,
    made: int,
) -> Refined:
    """Takes what is best on the whole trace."""
    timed_starts.sort(key=lambda entry: entry[0])
    tried = [(places, seconds) for seconds, places in timed_starts]
    found = [(places, seconds) for seconds, places in search.ranked]
    verified = 0
    if verify is not None:
        first = [entry for entry in tried if entry[0] is starts[0]]
        tried = _unique([*first, *tried[:_VERIFIED]])
        found = _unique([*tried, *found[:_VERIFIED]])
        whole: list[tuple[Places, float]] = []
        for places, _ in found:
            least = min((seconds for _, seconds in whole), default=None)
            starting = any(places is start for start, _ in tried)
            answer = verify(places, None if starting else least)
            verified += 1
            if answer is not None:
                whole.append((places, answer.seconds))
        found = whole
        tried = [entry for entry in whole if any(entry[0] is start for start, _ in tried)]
        if not tried:
            raise InvalidInput("none of the mappings to start with can be run")
    start, start_seconds = min(tried, key=lambda entry: entry[1])
    places, seconds = min(found, key=lambda entry: entry[1])
    return Refined(
        places=places,
        seconds=seconds,
        start=next(i for i, each in enumerate(starts) if each is start),
        start_seconds=start_seconds,
        evaluations=made,
        verified=verified,
    )


def _unique(entries: Sequence[tuple[Places, float]]) -> list[tuple[Places, float]]:
    kept: list[tuple[Places, float]] = []
    for entry in entries:
        if not any(entry[0] is other for other, _ in kept):
            kept.append(entry)
    return kept
