"""The front of a job, from its completed trials and the bills of their networks."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.bills import Bill, Bills, Key, decisive, named_network, shared_bills
from searchspace.configuration import Configuration
from searchspace.energy import computing_joules, drawn_watts
from searchspace.errors import HamtuneError
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.front import Point, hypervolume, pareto_front
from searchspace.machine import Machine
from searchspace.parts import Parts
from searchspace.platform import TrafficOf, complete
from searchspace.terms import WEIGHED
from service.fronts.schemas import By, FrontPoint, FrontView, Reference
from service.jobs.yardsticks import machine_of
from service.tables.columns import read_trials
from storage.errors import NotFound, Unavailable
from storage.networks import StoredNetworks
from storage.records import Job, Trial
from storage.traces import traces_of
from storage.view import StorageView

__all__ = ["Priced", "front_view", "priced"]

MOST_OTHERS = 500
_MOST_NODES = 100_000
"""Of all networks together that are built for one answer: some seconds where they are small."""
_EXTENT = ("value", *WEIGHED)
_MOST_JOBS = 64
_MOST_KNOWN = 4096
"""Bills that are remembered of a job, and jobs that they are remembered of."""


@dataclass(frozen=True)
class Priced:
    """The completed trials of a job with their bills.

    Attributes:
        objective: Of the job.
        trials: How many completed trials of the search space there are.
        networks: The fastest trial of each network of the search space.
        baselines: Completed baselines outside it.
        extent: The greatest seconds, cost, watts and joules of all trials of the space, by the name
            of the field of a point.
        uncounted: Why what computing draws is not in the energy; None where it is.
        unpriced: Trials whose network has no bill.
        obstacle: Why, of one of them.
    """

    objective: list[str]
    trials: int
    networks: list[FrontPoint]
    baselines: list[FrontPoint]
    extent: Mapping[str, float]
    uncounted: str | None
    unpriced: int
    obstacle: str | None


def priced(storage: StorageView, job_id: str) -> Priced:
    """Adds up the networks of a job's completed trials.

    Raises:
        NotFound: There is no such job.
    """
    job = storage.jobs.get(job_id)
    machine = machine_of(storage, job)
    trials = [one for one in read_trials(storage, job_id) if one.state == "completed"]
    trials = [one for one in trials if one.value is not None and (one.inside or _outside(one))]
    networks = _Networks(machine)
    found = _Bills(machine, _own_bills(storage, job, machine))
    energy = _Energy(storage, job, machine)
    fastest: dict[Key, FrontPoint] = {}
    baselines: list[FrontPoint] = []
    extent = dict.fromkeys(_EXTENT, 0.0)
    obstacles: list[str] = []
    for trial in sorted(trials, key=lambda one: (one.value or 0.0, one.number)):
        key, seconds = networks.of(trial.configuration), trial.value or 0.0
        bill = found.of(key)
        if isinstance(bill, str):
            obstacles += [] if _outside(trial) else [bill]
            continue
        joules = energy.of(bill, seconds)
        if _outside(trial):
            baselines.append(_point(trial, bill, joules))
            continue
        reached = (seconds, bill.cost, bill.power, joules)
        extent = {name: max(extent[name], one) for name, one in zip(_EXTENT, reached, strict=True)}
        if key not in fastest:
            fastest[key] = _point(trial, bill, joules)
    return Priced(
        objective=list(job.spec.get("objective", ["time"])),
        trials=sum(not _outside(trial) for trial in trials),
        networks=list(fastest.values()),
        baselines=sorted(baselines, key=lambda one: one.trial),
        extent=extent,
        uncounted=energy.uncounted,
        unpriced=len(obstacles),
        obstacle=obstacles[0] if obstacles else None,
    )


def _outside(trial: Trial) -> bool:
    """Whether a trial is a baseline outside the search space."""
    return trial.kind == "baseline" and not trial.inside


class _Networks:
    """Which network each trial has: of thousands of trials most have one that others have, too."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[str, Key] = {}  # by how a configuration says it

    def of(self, configuration: Mapping[str, Any]) -> Key:
        """What decides on the network of a configuration, as stored."""
        groups = ("topology", "topology_seed", "ordering", configuration.get("topology"))
        said = {
            name: value for name, value in configuration.items() if name.partition(".")[0] in groups
        }
        text = repr(sorted(said.items()))
        key = self._known.get(text)
        if key is None:
            whole = complete(Configuration.from_json(said), self._machine)
            key = self._known[text] = decisive(whole)
        return key


class _Energy:
    """The energy of a job's trials: of hosts and network while they run, and of computing.

    Attributes:
        uncounted: Why computing is left out; None where it is not.
    """

    def __init__(self, storage: StorageView, job: Job, machine: Machine) -> None:
        self._parts = machine.parts or Parts()
        self.uncounted: str | None = None
        summary: Mapping[str, Any] = {}
        if job.application_id is not None:
            summary = storage.applications.get(job.application_id).summary
        if summary.get("truncated"):
            self.uncounted = "the trace is truncated"
        elif "flops" not in summary:
            self.uncounted = "how much there is of it is not known"
        flops = 0.0 if self.uncounted else float(summary["flops"])
        self._computing = computing_joules(flops, machine, self._parts)

    def of(self, bill: Bill, seconds: float) -> float:
        """The joules of a run of so many seconds."""
        return drawn_watts(bill, self._parts) * seconds + self._computing


class _Bills:
    """The bills of a job's networks, of so many that a request can wait for them."""

    def __init__(self, machine: Machine, own: Bills) -> None:
        self._shared = shared_bills(machine, machine.parts or Parts())
        self._own = own
        self._most = max(1, _MOST_NODES // machine.nodes)
        self._known: dict[Key, Bill | str] = {}

    def of(self, key: Key) -> Bill | str:
        """The bill of what decides on a network, or why there is none."""
        if key not in self._known:
            if len(self._known) == self._most:
                return f"only the {self._most:,} fastest networks are added up"
            self._known[key] = self._made(key)
        return self._known[key]

    def _made(self, key: Key) -> Bill | str:
        chosen = dict(key)
        try:
            bill = self._shared.of(chosen) or self._own.of(chosen)
        except NotFound as error:
            return str(error)
        if bill is None:
            return "its network cannot be built again"
        return bill.obstacle or bill


_OWN: OrderedDict[str, Bills] = OrderedDict()
"""By job, the last ones asked for: their traces are read, and their networks added up, once."""
_OWN_LOCK = threading.Lock()


def _own_bills(storage: StorageView, job: Job, machine: Machine) -> Bills:
    """The bills of the networks that a job has had built: none is built for an answer."""
    with _OWN_LOCK:
        known = _OWN.get(job.id)
    if known is None:
        cache = StoredNetworks(storage.networks, job.project)
        traffic = _traffic(storage, job)
        parts = machine.parts or Parts()
        known = Bills(machine, parts, traffic=traffic, cache=cache, most_known=_MOST_KNOWN)
        if traffic is None:  # which the job may yet have
            return known
    with _OWN_LOCK:
        _OWN[job.id] = known
        _OWN.move_to_end(job.id)
        while len(_OWN) > _MOST_JOBS:
            _OWN.popitem(last=False)
    return known


def _traffic(storage: StorageView, job: Job) -> TrafficOf | None:
    if job.application_id is None:
        return None
    try:
        application = storage.applications.get(job.application_id)
        return TracesTraffic(traces_of(storage, application))
    except Unavailable:
        raise
    except HamtuneError:  # networks made for it have no bill then
        return None


def front_view(
    known: Priced, by: By | None, seconds: float | None = None, price: float | None = None
) -> FrontView:
    """The front of priced trials.

    Args:
        known: The trials.
        by: What time is weighed against; None for what the job weighs, or cost.
        seconds: Of the reference; None for the slowest trial.
        price: Of the reference; None for the dearest trial.
    """
    of_job = [one for one in WEIGHED if one in known.objective]
    weighed: By = by or (of_job or ["cost"])[0]
    networks = sorted(known.networks, key=lambda one: (getattr(one, weighed), one.value, one.trial))
    places: list[Point] = [(getattr(one, weighed), one.value) for one in networks]
    chosen = pareto_front(places)
    on_front = set(chosen)
    slowest, dearest = known.extent["value"], known.extent[weighed]
    corner = (dearest if price is None else price, slowest if seconds is None else seconds)
    area = hypervolume(places, corner)
    ideal = min((p for p, _ in places), default=0.0), min((s for _, s in places), default=0.0)
    box = hypervolume([ideal], corner)
    others = [one for index, one in enumerate(networks) if index not in on_front]
    return FrontView(
        objective=known.objective,
        by=weighed,
        points=[networks[index] for index in chosen],
        others=others[:MOST_OTHERS],
        baselines=known.baselines,
        reference=Reference(seconds=corner[1], price=corner[0]) if places else None,
        hypervolume=area if places else None,
        share=area / box if places and box else None,
        trials=known.trials,
        unpriced=known.unpriced,
        note=_note(known, weighed),
    )


def _note(known: Priced, by: By) -> str | None:
    if not known.trials:
        return "no trial of the search space has completed yet"
    if known.unpriced:
        return f"{known.unpriced} of {known.trials} trials have no price: {known.obstacle}"
    if by == "energy" and known.uncounted is not None:
        return f"what cores draw more for computing is not counted: {known.uncounted}"
    return None


def _point(trial: Trial, bill: Bill, energy: float) -> FrontPoint:
    return FrontPoint(
        trial=trial.number,
        label=trial.label,
        value=trial.value or 0.0,
        network=named_network(Configuration.from_json(trial.configuration)),
        configuration=trial.configuration,
        energy=energy,
        **dataclasses.asdict(bill),
    )
