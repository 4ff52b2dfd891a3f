"""How far the service goes: a simulation of installations that are larger than any at hand.

    .venv/bin/python -m benchmarks.scaling [--evaluation-ms 400] [--cost ask=3.5]
        [--seed 1] [--json]

The model is a closed queueing network (docs/scaling.md). Each job has a window of trials; a trial
goes through its coordinator (asking and telling), the database (its CPU, and the log of events,
whose transactions commit one after the other), the broker and a worker, and then makes room for
the next one. The coefficients are what `benchmarks.service` measures.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import random
import sys
from collections import deque
from dataclasses import asdict, dataclass, field, replace

WORKERS = (10, 100, 1000)
JOBS = (10, 1000)


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Seconds that a trial takes of each part; see docs/scaling.md for where they come from."""

    ask: float = 0.0032  # of the coordinator's core: OpenTuner's answer, storing, sending
    tell: float = 0.0058  # of the coordinator's core: reading the outcome, telling OpenTuner
    database: float = 0.003  # of the database's cores
    commit: float = 0.0036  # of the event log: what a commit waits for the disk, holding its lock
    commits: float = 3.0  # with events, a trial: asked, begun, finished
    broker: float = 0.0004  # of the broker's one core
    worker: float = 0.0099  # of the worker's core, beside the simulation


@dataclass(frozen=True, kw_only=True)
class Installation:
    """How much there is of each part.

    Attributes:
        workers: Evaluations at once.
        coordinators: Processes; each drives up to eight jobs, on one core.
        database_cores: Of the PostgreSQL server.
        jobs: That are submitted.
        window: Trials of a job in flight.
        evaluation: CPU seconds of one simulation, in the mean; exponentially distributed.
    """

    workers: int
    coordinators: int = 8
    database_cores: int = 8
    jobs: int = 100
    window: int = 8
    evaluation: float = 0.4


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What an installation does.

    Attributes:
        rate: Finished trials a second.
        busy: The share of its time for which each part is busy.
        first: The part that is busiest.
    """

    rate: float
    busy: dict[str, float]
    first: str


@dataclass
class _Station:
    """Servers with one queue, first come first served."""

    servers: int
    waiting: deque[_Visit] = field(default_factory=deque)
    working: int = 0
    busy_seconds: float = 0.0


@dataclass
class _Visit:
    """A trial and where it is."""

    route: tuple[tuple[str, float], ...]
    step: int = 0


class _Network:
    """Stations, and the visits to them that are under way.

    Args:
        stations: By name.
        rng: Draws how long visits take.
    """

    def __init__(self, stations: dict[str, _Station], rng: random.Random) -> None:
        self.now = 0.0
        self._stations = stations
        self._rng = rng
        self._order = itertools.count()
        self._events: list[tuple[float, int, str, _Visit]] = []

    def arrive(self, visit: _Visit) -> None:
        """Let a visit come to the station that is next on its route."""
        name, mean = visit.route[visit.step]
        station = self._stations[name]
        if station.working < station.servers:
            station.working += 1
            self._begin(name, mean, visit)
        else:
            station.waiting.append(visit)

    def _begin(self, name: str, mean: float, visit: _Visit) -> None:
        seconds = self._rng.expovariate(1.0 / mean) if mean > 0.0 else 0.0
        self._stations[name].busy_seconds += seconds
        heapq.heappush(self._events, (self.now + seconds, next(self._order), name, visit))

    def next(self) -> _Visit:
        """Go on to the end of the next visit; whoever waits there takes its place."""
        self.now, _, name, visit = heapq.heappop(self._events)
        station = self._stations[name]
        if station.waiting:
            following = station.waiting.popleft()
            self._begin(name, following.route[following.step][1], following)
        else:
            station.working -= 1
        return visit


JOBS_OF_A_COORDINATOR = 8


def simulate(
    installation: Installation,
    coefficients: Coefficients | None = None,
    *,
    trials: int = 20_000,
    seed: int = 1,
) -> Forecast:
    """Let trials go round until so many have finished; the first fifth is not counted.

    Deterministic for a seed.
    """
    cost = coefficients or Coefficients()
    driven = min(installation.jobs, JOBS_OF_A_COORDINATOR * installation.coordinators)
    stations = {
        **{f"coordinator {n}": _Station(1) for n in range(installation.coordinators)},
        "database": _Station(installation.database_cores),
        "event log": _Station(1),
        "broker": _Station(1),
        "workers": _Station(installation.workers),
    }
    network = _Network(stations, random.Random(seed))
    for job in range(driven):
        for _ in range(installation.window):
            coordinator = f"coordinator {job % installation.coordinators}"
            network.arrive(_Visit(_route(coordinator, cost, installation)))
    finished = warm = 0
    warm_at = 0.0
    at_start: dict[str, float] = {}
    while finished < trials:
        visit = network.next()
        visit.step += 1
        if visit.step == len(visit.route):
            visit.step = 0
            finished += 1
            if finished == trials // 5:
                warm, warm_at = finished, network.now
                at_start = {key: one.busy_seconds for key, one in stations.items()}
        network.arrive(visit)
    span = network.now - warm_at
    busy: dict[str, float] = {}
    for key, one in stations.items():
        share = (one.busy_seconds - at_start[key]) / (span * one.servers)
        kind = key.split(" ")[0] if key.startswith("coordinator") else key
        busy[kind] = max(busy.get(kind, 0.0), min(1.0, share))
    return Forecast(
        rate=(finished - warm) / span, busy=busy, first=max(busy, key=lambda kind: busy[kind])
    )


def _route(
    coordinator: str, cost: Coefficients, installation: Installation
) -> tuple[tuple[str, float], ...]:
    """Where a trial goes, and for how long in the mean: three transactions with events."""
    log = cost.commit * cost.commits / 3.0
    share = cost.database / 3.0
    return (
        (coordinator, cost.ask),
        ("database", share),
        ("event log", log),
        ("broker", cost.broker),
        ("database", share),
        ("event log", log),
        ("workers", cost.worker + installation.evaluation),
        ("database", share),
        ("event log", log),
        (coordinator, cost.tell),
    )


def bounds(
    installation: Installation, coefficients: Coefficients | None = None
) -> dict[str, float]:
    """Trials a second that each part could do alone: no installation does more than the least."""
    cost = coefficients or Coefficients()
    return {
        "coordinator": installation.coordinators / (cost.ask + cost.tell),
        "database": installation.database_cores / cost.database,
        "event log": 1.0 / (cost.commit * cost.commits),
        "broker": 1.0 / cost.broker,
        "workers": installation.workers / (cost.worker + installation.evaluation),
    }


def main() -> int:
    """Print a table of installations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--evaluation-ms", type=float, action="append")
    parser.add_argument("--coordinators", type=int, default=8)
    parser.add_argument("--database-cores", type=int, default=8)
    parser.add_argument("--commits", type=float, default=Coefficients.commits)
    names = [name for name in vars(Coefficients()) if name != "commits"]
    parser.add_argument(
        "--cost", action="append", default=[], help=f"NAME=MS a trial; names: {', '.join(names)}"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    given = dict(cost.split("=", 1) for cost in options.cost if "=" in cost)
    if len(given) < len(options.cost) or not set(given) <= set(names):
        parser.error(f"--cost takes NAME=MS with one of {', '.join(names)}")
    cost = replace(
        Coefficients(),
        commits=options.commits,
        **{name: float(value) / 1000 for name, value in given.items()},
    )
    rows = []
    for evaluation in options.evaluation_ms or [20.0, 400.0, 4000.0]:
        for workers in WORKERS:
            for jobs in JOBS:
                installation = Installation(
                    workers=workers,
                    coordinators=options.coordinators,
                    database_cores=options.database_cores,
                    jobs=jobs,
                    window=max(8, 2 * workers // min(jobs, 8 * options.coordinators)),
                    evaluation=evaluation / 1000,
                )
                forecast = simulate(installation, cost, seed=options.seed)
                rows.append({**asdict(installation), **asdict(forecast)})
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'evaluation':>10} {'workers':>7} {'jobs':>5} {'a second':>9}  busiest")
    for row in rows:
        shares = sorted(row["busy"].items(), key=lambda item: -item[1])[:3]
        print(
            f"{1000 * row['evaluation']:>7.0f} ms {row['workers']:>7} {row['jobs']:>5}"
            f" {row['rate']:>9.1f}  " + ", ".join(f"{k} {100 * v:.0f}%" for k, v in shares)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
