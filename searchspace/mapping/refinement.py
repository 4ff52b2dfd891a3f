"""Refining a mapping by simulated time: swaps of ranks, judged by whoever can simulate.

A search that is asked for mappings and told their times; any number may be open. It begins with
given mappings, leaps from the best to what a model of time takes for better (`time_model`), which
learns from what it is told, goes on from the best of all, and proposes swaps that take load off the
most loaded links (as the simulator reports them), bring partners together, or both. Of several
swaps it proposes the one that a model likes best; a bandit learns which kind of proposal pays.
See docs/mappings/refinement.md.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.mapping.auto import improve
from searchspace.mapping.by_order import BY_ORDER
from searchspace.mapping.cables import LOWEST_ID, congestion_assignment
from searchspace.mapping.mapper import Places
from searchspace.mapping.spread import spread_out
from searchspace.mapping.time_model import HostLimits, TimeModel, Weights
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic

__all__ = ["Refinement"]

_Swap = tuple[int, int]  # a rank, and the place that it is to take

_CANDIDATES = 24
_FRUITLESS = 24
_LOOKS = (1, 3, 9)
_BUSY_LINKS = 8
_MOST_HOPS = 1 << 25
"""How many hops are kept, 2 bytes each: as many as all places squared would be too many."""
_MOST_AT_ONCE = 4
_MIXES = (
    (0.1, 1.0, 0.2, 0.1),
    (0.1, 1.0, 1.0, 0.1),
    (0.1, 0.2, 1.0, 0.1),
    (1.0, 0.2, 0.2, 0.1),
    (0.2, 0.2, 0.2, 1.0),
)
"""How much volume, busiest, rounds and hops count (`TimeModel`), as multiples of what the first
start has, in the first leaps: before it is known, how much time each of them takes."""

_HOT = 0.5
"""The first temperature of a leap that may end anywhere (`TimeModel.anneal`)."""


@dataclass
class _Kind:
    """A way to propose swaps, and how it has done.

    Attributes:
        busy: Whether a rank is taken whose messages cross a busy link, rather than any.
        measure: What of the measures of `CongestionAssignment.after` decides, or the model of time;
            None for none.
        most: Of swaps at once.
        hot: First temperature of an annealing by the model (`TimeModel.anneal`), with weights as
            learned so far; 0 for swaps.
        blur: How far the weights are drawn around those, as a power of e.
        tries: How often it was drawn.
        gains: How often that led to a faster mapping.
        rests: Whether it found nothing new from the incumbent.
    """

    busy: bool
    measure: int | None
    most: int = 1
    hot: float = 0.0
    blur: float = 0.0
    tries: int = 0
    gains: int = 0
    rests: bool = False

    def promise(self, tries: int) -> float:
        """What a bandit expects of it (UCB1 of Auer et al. 2002, with a smaller bonus)."""
        mean = (self.gains + 1.0) / (self.tries + 2.0)
        return mean + 0.3 * math.sqrt(math.log(tries + 2.0) / (self.tries + 1.0))


# Among what `CongestionAssignment.after` returns; by the model.
_HOP_BYTES, _CROWDING, _TIME = 0, 3, -1
_ANY = _Kind(busy=False, measure=None)


def _kinds() -> tuple[_Kind, ...]:
    """All of them, none of which was drawn yet."""
    return (
        _Kind(busy=False, measure=_TIME, hot=_HOT),
        _Kind(busy=False, measure=_TIME, hot=_HOT, blur=1.0),
        _Kind(busy=False, measure=_TIME, hot=0.02),
        _Kind(busy=False, measure=_TIME, hot=0.02, blur=1.0),
        _Kind(busy=False, measure=_TIME),
        _Kind(busy=True, measure=_TIME),
        _Kind(busy=False, measure=_TIME, most=_MOST_AT_ONCE),
        _Kind(busy=True, measure=_CROWDING),
        _Kind(busy=True, measure=_HOP_BYTES),
        _Kind(busy=False, measure=_HOP_BYTES),
        _Kind(busy=False, measure=_CROWDING),
        _Kind(busy=True, measure=_CROWDING, most=_MOST_AT_ONCE),
        _Kind(busy=False, measure=None),
    )


@dataclass
class _Proposal:
    """A mapping that was asked: what it was made from, and how."""

    places: Places
    base: float | None
    swaps: tuple[_Swap, ...] = ()
    kind: _Kind | None = None


@dataclass
class _Best:
    """The incumbent."""

    seconds: float
    places: Places
    busy: list[int] = field(default_factory=list)  # links, most loaded first


class Refinement:
    """Asks for mappings and is told their simulated times. Not for several threads.

    Deterministic: the same seed and the same results told between the same asks give the same
    mappings. A mapping is asked once; cores of one host count as the same place. What differs from
    a mapping asked before in nothing that the model of time sees, as by a symmetry of the machine,
    is not asked as long as there is anything else.

    Args:
        traffic: What the ranks exchange.
        machine: Where they run.
        starts: Mappings to begin with, at least one.
        rounds: When ranks exchange it; None where that is not known: all at once.
        limits: What ranks of a host share; None for nothing.
        tie_rule: Of the network's routes.
        seed: Of the random choices.

    Raises:
        InvalidInput: There is no start, or the network is too large for its routes to be kept.
    """

    def __init__(
        self,
        traffic: Traffic,
        machine: HopMachine,
        starts: Sequence[Places],
        *,
        rounds: Rounds | None = None,
        limits: HostLimits | None = None,
        tie_rule: str = LOWEST_ID,
        seed: int = 0,
    ) -> None:
        if not starts:
            raise InvalidInput("a refinement needs a mapping to start with")
        self._traffic = traffic
        self._machine = machine
        self._random = random.Random(f"{seed} refinement")  # noqa: S311
        self._known: set[bytes] = set()
        self._alike: set[tuple[str, ...]] = set()
        self._open: dict[bytes, _Proposal] = {}
        self._assignment = congestion_assignment(traffic, machine, starts[0], tie_rule=tie_rule)
        self._model = TimeModel(
            rounds or Rounds.at_once(traffic), machine, starts[0], tie_rule=tie_rule, limits=limits
        )
        self._at: list[int] = starts[0].tolist()  # of the incumbent, as the assignment has it
        self._rows: dict[int, NDArray[np.uint16]] = {}
        self._talking = np.flatnonzero(np.diff(traffic.first)).tolist()
        self._kinds = _kinds()
        self._tries = 0
        self._promising: deque[tuple[_Swap, ...]] = deque()
        self._best: _Best | None = None
        self._told: list[tuple[float, Places]] = []
        self._starts: list[Places] = []
        for places in starts:
            if self._admit(places):
                self._starts.append(places)
        self._left = deque(self._starts)
        self._mixes = deque(_MIXES)
        self._own = deque(
            (
                BY_ORDER.place(traffic, machine),
                improve(traffic, machine, seed=seed),
                spread_out(traffic, machine, seed=seed),
            )
        )
        self._exploring = False

    @property
    def starts(self) -> Sequence[Places]:
        """The different mappings among the starts."""
        return self._starts

    @property
    def best(self) -> tuple[float, Places] | None:
        """The least time told, and its mapping."""
        return None if self._best is None else (self._best.seconds, self._best.places)

    @property
    def ranked(self) -> list[tuple[float, Places]]:
        """Everything told a time, best first; of equals the first told."""
        return sorted(self._told, key=lambda entry: entry[0])

    @property
    def exploring(self) -> bool:
        """Whether what was asked last teaches the model most when it is simulated to its end."""
        return self._exploring

    def ask(self) -> Places | None:
        """The next mapping to simulate; None where no new one was found."""
        planned = self._planned()
        if planned is not None:
            return planned
        for _ in range(_FRUITLESS):
            awake = [kind for kind in self._kinds if not kind.rests]
            kind = max(awake, key=lambda kind: kind.promise(self._tries))
            kind.tries += 1
            self._tries += 1
            proposal = self._leapt(kind) if kind.hot else self._drawn(kind)
            if proposal is not None:
                return self._opened(proposal, exploring=kind.hot == _HOT)
        # What is one good swap away is known: go further, ever more at random.
        for attempt in range(_FRUITLESS):
            swaps = tuple(self._swap(_ANY) for _ in range(2 + attempt // 4))
            proposal = self._moved(swaps, None, only_new=False)
            if proposal is not None:
                return self._opened(proposal)
        return None

    def _planned(self) -> Places | None:
        """What comes before the bandit: starts, our own, first leaps, swaps that helped."""
        if self._left:
            return self._opened(_Proposal(self._left.popleft(), None))
        while self._own and self._best is not None:
            places = self._own.popleft()
            if self._is_new(places) and self._admit(places):
                return self._opened(_Proposal(places, None), exploring=True)
        while self._mixes and self._best is not None:
            weights = self._model.weighing(*self._mixes.popleft())
            proposal = self._leap(self._best, weights, _HOT, None)
            if proposal is not None:
                return self._opened(proposal, exploring=True)
        while self._promising:
            proposal = self._moved(self._promising.popleft(), None)
            if proposal is not None:
                return self._opened(proposal)
        return None

    def tell(
        self,
        places: Places,
        seconds: float | None,
        link_loads: Sequence[Sequence[float]] = (),
    ) -> None:
        """Tell what became of a mapping that was asked, once.

        Args:
            places: As `ask` returned it.
            seconds: None where it could not be run, or took longer than the best.
            link_loads: Bytes over each cable, each way.
        """
        proposal = self._open.pop(self._key(places))
        if seconds is None:
            return
        self._told.append((seconds, proposal.places))
        self._model.learn(proposal.places, seconds)
        if proposal.kind is not None and proposal.base is not None and seconds < proposal.base:
            proposal.kind.gains += 1
        if self._best is None or seconds < self._best.seconds:
            if self._best is not None and proposal.base not in (None, self._best.seconds):
                # What was found meanwhile may help this one too.
                self._promising.extend(self._since(proposal))
            self._best = _Best(seconds, proposal.places, self._busy(link_loads))
            for kind in self._kinds:
                kind.rests = False
            self._at = proposal.places.tolist()
            for rank, place in enumerate(self._at):
                self._assignment.swap(rank, place)
        elif proposal.swaps and proposal.base is not None and seconds < proposal.base:
            self._promising.append(proposal.swaps)

    def _since(self, proposal: _Proposal) -> list[tuple[_Swap, ...]]:
        assert self._best is not None
        changed = np.flatnonzero(self._best.places != proposal.places)
        return [((int(rank), int(self._best.places[rank])),) for rank in changed[:_MOST_AT_ONCE]]

    def _busy(self, link_loads: Sequence[Sequence[float]]) -> list[int]:
        """The most loaded links first; by the model of loads where nothing was reported."""
        network = self._machine.network
        loads = [max(load) / network.width(index) for index, load in enumerate(link_loads)]
        if not loads:
            loads = [float(load) for load in self._assignment.loads()]
        order = sorted(range(len(loads)), key=lambda link: (-loads[link], link))
        return [link for link in order[:_BUSY_LINKS] if loads[link] > 0]

    def _leapt(self, kind: _Kind) -> _Proposal | None:
        if self._best is None:
            return None
        blur = [math.exp(self._random.gauss(0, kind.blur)) for _ in self._model.weights]
        one, two, three, four = self._model.weights
        weights = one * blur[0], two * blur[1], three * blur[2], four * blur[3]
        proposal = self._leap(self._best, weights, kind.hot, kind)
        kind.rests = proposal is None
        return proposal

    def _leap(
        self, start: _Best, weights: Weights, hot: float, kind: _Kind | None
    ) -> _Proposal | None:
        """What annealing by the model makes of the incumbent, unless that is known."""
        self._model.become(start.places)
        places = self._model.anneal(weights, self._random.getrandbits(32), hot=hot)
        if not (self._is_new(places) and self._admit(places)):
            return None
        return _Proposal(places, start.seconds if kind else None, (), kind)

    def _drawn(self, kind: _Kind) -> _Proposal | None:
        """The swaps that the measure of a kind likes best, out of some drawn at random."""
        candidates = list(dict.fromkeys(self._swap(kind) for _ in range(_CANDIDATES)))
        if kind.measure == _TIME and self._best is not None:
            self._model.become(self._best.places)
            foretold = {swap: self._model.after(*swap) for swap in candidates}
            candidates.sort(key=foretold.__getitem__)
        elif kind.measure is not None:
            liked = {swap: self._assignment.after(*swap)[kind.measure] for swap in candidates}
            candidates.sort(key=liked.__getitem__)
        count = self._random.randint(2, kind.most) if kind.most > 1 else 1
        for first in range(0, len(candidates), count):
            proposal = self._moved(tuple(candidates[first : first + count]), kind)
            if proposal is not None:
                return proposal
        return None

    def _swap(self, kind: _Kind) -> _Swap:
        """A rank that communicates, and a place, as a rule close to one of its partners."""
        draw = self._random
        if not self._talking:
            return draw.randrange(self._traffic.ranks), draw.randrange(self._machine.places)
        rank = draw.choice(self._talking)
        if kind.busy:
            busy = self._best.busy if self._best is not None else self._busy(())
            if busy:
                link = busy[min(int(draw.expovariate(0.7)), len(busy) - 1)]
                pairs = self._assignment.crossing(link)
                if pairs:
                    low, high, _ = draw.choices(pairs, weights=[size for *_, size in pairs])[0]
                    rank = draw.choice((low, high))
        low, high = int(self._traffic.first[rank]), int(self._traffic.first[rank + 1])
        partner = int(self._traffic.partner[draw.randrange(low, high)])
        hops = self._hops_from(self._at[partner])
        looks = draw.choice(_LOOKS)
        return rank, min(
            (draw.randrange(self._machine.places) for _ in range(looks)), key=hops.__getitem__
        )

    def _hops_from(self, place: int) -> NDArray[np.uint16]:
        row = self._rows.get(place)
        if row is None:
            here = np.asarray([place], dtype=np.uint32)
            every = np.arange(self._machine.places, dtype=np.uint32)
            row = self._machine.hops.table(here, every)[0]
            if (len(self._rows) + 1) * len(row) > _MOST_HOPS and self._rows:
                del self._rows[next(iter(self._rows))]
            self._rows[place] = row
        return row

    def _moved(
        self, swaps: tuple[_Swap, ...], kind: _Kind | None, *, only_new: bool = True
    ) -> _Proposal | None:
        """The incumbent after some swaps, unless that is known."""
        places = np.asarray(self._at, dtype=np.uint32)
        at = {place: rank for rank, place in enumerate(self._at)}
        for rank, place in swaps:
            before, other = int(places[rank]), at.get(place)
            places[rank] = place
            at[place] = rank
            if other is None:
                at.pop(before, None)
            else:
                places[other] = before
                at[before] = other
        if only_new and not self._is_new(places):
            return None
        if not self._admit(places):
            return None
        return _Proposal(places, self._best.seconds if self._best else None, swaps, kind)

    def _is_new(self, places: Places) -> bool:
        """Whether the model of time can tell it from everything asked."""
        return self._seen_as(places) not in self._alike

    def _seen_as(self, places: Places) -> tuple[str, ...]:
        # Sums over cables that a symmetry has moved differ in their last bits.
        return tuple(f"{term:.9e}" for term in self._model.terms(places))

    def _admit(self, places: Places) -> bool:
        key = self._key(places)
        if key in self._known:
            return False
        self._known.add(key)
        self._alike.add(self._seen_as(places))
        return True

    def _opened(self, proposal: _Proposal, *, exploring: bool = False) -> Places:
        self._exploring = exploring
        self._open[self._key(proposal.places)] = proposal
        return proposal.places

    def _key(self, places: Places) -> bytes:
        return self._machine.place_hosts[places].tobytes()
