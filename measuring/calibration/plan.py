"""Which experiments a calibration makes on a machine, how often, and in which order."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from measuring.calibration import patterns
from measuring.calibration.experiments import Experiment
from searchspace.errors import InvalidInput
from searchspace.kernels import Routes, routes
from searchspace.machine import Machine

__all__ = ["FLOPS", "VERSION", "Part", "Plan", "candidates", "pause_on", "plan", "sizes_up_to"]

VERSION = 4
"""Of the experiments: times of others are not used."""
KIB = 1 << 10
MOST_BYTES = 4096 * KIB
FLOPS = 2e7
"""Of an experiment that computes."""
_SECONDS_OF_A_MESSAGE = 0.25
_SECONDS_OF_A_LARGE_ONE = 1.0
_SECONDS_OF_AN_EXPERIMENT = 1.0
_SECONDS_OF_A_PART = 12.0
_SECONDS_OF_A_START = 2.0
_WARM_UPS = 1
_REPETITIONS = 3
_MOST_ROUNDS = 6
_LEAST_ROUNDS = 2
_CROWD = 16
_HOP_CLASSES = 4
_MOST_STREAMS = 4
_MANY = 3
_SHUFFLES = 3
_ROUNDS_OF_A_SHUFFLE = 3
_COPIED = 64 * KIB
_PACKETS_OF_PAUSE = 4
_LEAST_PAUSE = 0.002


@dataclass(frozen=True)
class Part:
    """Experiments of one run of the program.

    Attributes:
        name: Which part it is, such as `round 2 part 1`.
        experiments: In order, each with how often it is repeated.
    """

    name: str
    experiments: tuple[tuple[Experiment, int], ...]


@dataclass(frozen=True)
class Plan:
    """What a calibration measures.

    Attributes:
        experiments: All of them, each once.
        rounds: How many times all of them are made, each time in another order.
        pause: Seconds between repetitions, in which cables and buckets come to rest.
        guesses: Seconds that a repetition of each takes, about.
        seed: Of the orders.
    """

    experiments: tuple[Experiment, ...]
    rounds: int
    pause: float
    guesses: Mapping[Experiment, float]
    seed: int

    @property
    def least_rounds(self) -> int:
        """Rounds without which times are not known well enough to be fitted."""
        return min(self.rounds, _LEAST_ROUNDS)

    @property
    def seconds(self) -> float:
        """How long all of it takes, about."""
        one = sum(self._cost(experiment) for experiment in self.experiments)
        return self.rounds * (one + _SECONDS_OF_A_START * (1 + one / _SECONDS_OF_A_PART))

    def in_rounds(self) -> list[list[Part]]:
        """The runs of the program, round by round."""
        return list(self._rounds())

    def _rounds(self) -> Iterator[list[Part]]:
        rng = random.Random(self.seed)  # noqa: S311 (the order of runs is no secret)
        for number in range(self.rounds):
            order = list(self.experiments)
            rng.shuffle(order)
            yield [
                Part(
                    f"round {number} part {at}",
                    tuple((each, self._repetitions(each)) for each in chosen),
                )
                for at, chosen in enumerate(self._cut(order))
            ]

    def _cut(self, order: Sequence[Experiment]) -> Iterator[list[Experiment]]:
        chosen: list[Experiment] = []
        cost = 0.0
        for experiment in order:
            chosen.append(experiment)
            cost += self._cost(experiment)
            if cost > _SECONDS_OF_A_PART:
                yield chosen
                chosen, cost = [], 0.0
        if chosen:
            yield chosen

    def _repetitions(self, experiment: Experiment) -> int:
        return 1 if self.guesses[experiment] > _SECONDS_OF_A_MESSAGE else _REPETITIONS

    def _cost(self, experiment: Experiment) -> float:
        turns = _WARM_UPS + self._repetitions(experiment)
        return turns * (self.guesses[experiment] + self.pause)


def sizes_up_to(seconds: float, machine: Machine) -> int:
    """The largest power of two, bytes, that a cable carries in that time; 4 MiB at most."""
    size = MOST_BYTES
    while size > 128 * KIB and size / machine.link_bandwidth > seconds:
        size //= 2
    return size


def pause_on(machine: Machine) -> float:
    """Seconds after which the cables of a machine are idle, and token buckets full."""
    return max(_LEAST_PAUSE, _PACKETS_OF_PAUSE * 1500 / machine.link_bandwidth)


def candidates(machine: Machine, seed: int) -> list[Experiment]:
    """All experiments that a machine allows, in a fixed order."""
    return [*_Layout(machine, seed).experiments()]


def plan(
    machine: Machine,
    guessed: Mapping[Experiment, float],
    *,
    seed: int,
    seconds: float,
) -> Plan:
    """Choose what is measured within a time.

    Args:
        machine: As its vendor describes it.
        guessed: Seconds of every candidate, about.
        seed: Of all random choices.
        seconds: How long the measuring may take.

    Returns:
        As many rounds as fit, up to six. Where two do not fit, the longest experiments are left
        out.

    Raises:
        InvalidInput: Two rounds of what nothing can be fitted without do not fit.
    """
    pause = pause_on(machine)
    chosen = [each for each, guess in guessed.items() if guess <= _limit(each)]
    needed = _needed(chosen)
    spare = sorted((each for each in chosen if each not in needed), key=lambda each: guessed[each])
    while True:
        whole = Plan(tuple(chosen), 1, pause, guessed, seed)
        fitting = int(seconds / whole.seconds)
        if fitting >= _LEAST_ROUNDS:
            rounds = min(fitting, _MOST_ROUNDS)
            return Plan(tuple(chosen), rounds, pause, guessed, seed)
        if not spare:
            least = replace(whole, rounds=_LEAST_ROUNDS).seconds
            raise InvalidInput(
                f"there are {seconds / 60:.1f} minutes for measuring, and what nothing can be "
                f"fitted without takes {least / 60:.1f}: give more time",
                field="minutes",
            )
        chosen.remove(spare.pop())


def _needed(experiments: Sequence[Experiment]) -> set[Experiment]:
    """What tells the speed of a core, the latency of a hop and the rate of a cable."""
    pings = [each for each in experiments if each.kind == "ping-pong"]
    large = sorted({each.bytes for each in pings if each.bytes >= 4 * KIB})[:2]
    return {
        *(each for each in experiments if each.kind == "computation"),
        *(each for each in pings if each.bytes in (1, *large)),
    }


def _limit(experiment: Experiment) -> float:
    if experiment.kind == "send returns":
        return 4 * _SECONDS_OF_A_LARGE_ONE
    return _SECONDS_OF_AN_EXPERIMENT


class _Layout:
    """Which hosts take part in what."""

    def __init__(self, machine: Machine, seed: int) -> None:
        network = machine.given_network
        assert network is not None, "checked before"
        self._machine = machine
        self._cores = machine.cores_per_host
        self._hosts = machine.nodes
        self._routes = routes(
            network.nodes,
            network.edges,
            hosts=network.hosts if network.switches else None,
            tie_rule=machine.tie_rule,
        )
        self._rng = random.Random(seed)  # noqa: S311 (which hosts are measured is no secret)
        self._pairs = self._by_hops(self._routes)
        self._near = next(iter(self._pairs.values()))
        self._far = list(self._pairs.values())[-1]
        self._most = sizes_up_to(_SECONDS_OF_A_MESSAGE, machine)

    def experiments(self) -> Iterator[Experiment]:
        yield from self._of_pairs()
        yield from self._of_processors()
        yield from self._of_the_transport()
        yield from self._of_hosts()
        yield from self._of_crowds()
        if self._cores > 1:
            yield from self._within_a_host()
        for host in range(self._hosts):
            yield patterns.computation(host * self._cores, FLOPS)
        yield patterns.memory_copy(0, _COPIED)

    def _of_pairs(self) -> Iterator[Experiment]:
        every = (1, 64, 256, KIB, 1400, 2 * KIB, 4 * KIB, *self._doubling(8 * KIB))
        few = (1, KIB, 4 * KIB, 32 * KIB, 128 * KIB)
        for at, (hops, (one, other)) in enumerate(self._pairs.items()):
            for size in every if at == 0 else few:
                yield patterns.ping_pong(one, other, size, f"{hops} hops")

    def _of_processors(self) -> Iterator[Experiment]:
        one, other = self._near
        for size in (1, 256, KIB, 8 * KIB):
            yield patterns.gaps(one, other, size, blocking=True)
            yield patterns.gaps(one, other, size, blocking=False)
        for size in (1, KIB, 8 * KIB, 16 * KIB):
            late = 0.005 + 20 * size / self._machine.link_bandwidth
            yield patterns.late_receive(one, other, size, late)

    def _of_the_transport(self) -> Iterator[Experiment]:
        one, other = self._near
        for size in (1, KIB, 4 * KIB, 16 * KIB):
            yield patterns.stream(one, other, size)
        for size in (KIB, 8 * KIB, *self._doubling(32 * KIB)):
            yield patterns.exchange(one, other, size, blocking=True)
        for size in (4 * KIB, 128 * KIB):
            yield patterns.exchange(one, other, size, blocking=False)
        if self._hosts > 2:
            starter = self._between(one, other)
            for size in (16 * KIB, 128 * KIB, 256 * KIB):
                for rounds in (1, 3):
                    yield patterns.exchange_begun_by(starter, one, other, size, rounds)
                yield patterns.exchange_begun_by(starter, one, other, size, 1, later=8 * KIB)
        largest = sizes_up_to(2 * _SECONDS_OF_A_LARGE_ONE, self._machine)
        for size in self._doubling(128 * KIB, max(largest, 2048 * KIB)):
            yield patterns.send_return(one, other, size)

    def _of_hosts(self) -> Iterator[Experiment]:
        ranks = [host * self._cores for host in range(min(self._hosts, _CROWD))]
        root, *others = ranks
        for count in sorted({2, 4, len(others)}):
            if count > len(others):
                continue
            peers = self._rng.sample(others, count)
            for size in (KIB, 16 * KIB, 64 * KIB):
                yield patterns.incast(root, peers, size)
                yield patterns.outcast(root, peers, size)
        if len(others) >= _MANY:
            for size in (8 * KIB, 16 * KIB, 48 * KIB):
                yield patterns.first_of_many(root, self._rng.sample(others, _MANY), size)
        shared = self._sharing_a_cable()
        for count in range(2, len(shared) + 1):
            for size in (KIB, 16 * KIB, 64 * KIB):
                yield patterns.streams(shared[:count], size)

    def _of_crowds(self) -> Iterator[Experiment]:
        ranks = [host * self._cores for host in range(min(self._hosts, _CROWD))]
        if len(ranks) < 3:
            return
        for size in (1, KIB, 8 * KIB, 32 * KIB, 128 * KIB):
            for distance in sorted({1, len(ranks) // 2}):
                yield patterns.shift(ranks, distance, size)
            yield patterns.all_to_all(ranks, size)
            yield patterns.pipeline(ranks, size)
        for number in range(1, _SHUFFLES + 1):
            orders = [self._rng.sample(ranks, len(ranks)) for _ in range(_ROUNDS_OF_A_SHUFFLE)]
            for size in (KIB, 8 * KIB, 32 * KIB, 128 * KIB):
                yield patterns.shuffle(orders, size, f"order {number}")

    def _within_a_host(self) -> Iterator[Experiment]:
        for size in (1, KIB, 8 * KIB, *self._doubling(64 * KIB, 1024 * KIB)):
            yield patterns.ping_pong(0, 1, size, "same host")

    def _doubling(self, least: int, most: int | None = None) -> list[int]:
        found = [least]
        while 2 * found[-1] <= (self._most if most is None else most):
            found.append(2 * found[-1])
        return found

    def _by_hops(self, ways: Routes) -> dict[int, tuple[int, int]]:
        """A pair of ranks for some distances, from the nearest to the farthest."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for one, other in itertools.permutations(range(self._hosts), 2):
            found[len(ways.path(one, other))].append((one * self._cores, other * self._cores))
        hops = sorted(found)
        if len(hops) > _HOP_CLASSES:
            step = (len(hops) - 1) / (_HOP_CLASSES - 1)
            hops = [hops[round(step * at)] for at in range(_HOP_CLASSES)]
        return {distance: self._rng.choice(found[distance]) for distance in hops}

    def _between(self, one: int, other: int) -> int:
        """A third rank that is as far from both as can be found."""
        ends = (one // self._cores, other // self._cores)

        def tilt(host: int) -> int:
            there, back = (len(self._routes.path(host, end)) for end in ends)
            return abs(there - back)

        hosts = (host for host in range(self._hosts) if host not in ends)
        return min(hosts, key=tilt) * self._cores

    def _sharing_a_cable(self) -> list[tuple[int, int]]:
        """Pairs of different ranks whose messages cross one cable the same way."""
        crossing: dict[tuple[int, bool], list[tuple[int, int]]] = defaultdict(list)
        for pair in itertools.permutations(range(min(self._hosts, 2 * _CROWD)), 2):
            for number, forward in self._routes.path(*pair):
                crossing[number, forward].append(pair)
        best: list[tuple[int, int]] = []
        for pairs in crossing.values():
            taken: set[int] = set()
            disjoint = []
            for pair in pairs:
                if taken.isdisjoint(pair):
                    disjoint.append(pair)
                    taken.update(pair)
            if len(disjoint) > len(best):
                best = disjoint
        return [(a * self._cores, b * self._cores) for a, b in best[:_MOST_STREAMS]]
