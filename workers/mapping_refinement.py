"""Refining the mapping of a configuration by simulations: the search's part and the simulator's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from searchspace.collectives import Groups
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.hop_machine import HopMachine
from searchspace.machine import Machine
from searchspace.mapping import MAPPERS, Places
from searchspace.mapping.permutation import packed_cores
from searchspace.mapping.refine import Evaluate, Refined, Timed, refine
from searchspace.mapping.time_model import HostLimits
from searchspace.platform import Infeasible, TrafficOf, chosen_algorithms, resolve, written_out
from searchspace.space import SearchSpace
from searchspace.topology.network_cache import NetworkCache
from searchspace.traffic import Traffic
from workers.simulator_client import Simulator
from workers.tuning_problem import Workload, request_for

__all__ = ["Runs", "mapped_by_all", "refine_mapping", "written_by_mappers"]


@dataclass(frozen=True)
class Runs:
    """What is simulated, on what, in which configuration but for the mapping.

    Attributes:
        machine: The machine.
        configuration: Network, ordering, MPI implementation, algorithms.
        ranks: Of all applications.
        traffic: What they exchange.
        calls: The collectives they call, and on which communicators.
        workload: The applications, where there are several.
    """

    machine: Machine
    configuration: Configuration
    ranks: int
    traffic: TracesTraffic
    calls: Mapping[str, Groups] = field(default_factory=dict)
    workload: Workload | None = None

    def on(self, simulator: Simulator) -> Evaluate:
        """Simulates mappings on the trace that a simulator has."""

        def evaluate(places: Places, cutoff: float | None) -> Timed | None:
            try:
                resolved = resolve(
                    written_out(self.configuration, self.machine, places.tolist()),
                    self.machine,
                    self.ranks,
                    collectives=self.calls,
                    traffic=self.traffic,
                )
            except Infeasible:
                return None
            answer = simulator.evaluate(request_for(resolved, self.workload), cutoff=cutoff)
            if answer["status"] != "completed":
                return None
            return Timed(float(answer["simulated_time"]), answer["link_loads"])

        return evaluate


def mapped_by_all(traffic: Traffic, machine: HopMachine, seed: int) -> dict[str, Places]:
    """What every mapper that can be used on a machine makes of some traffic."""
    found = {}
    for name, mapper in MAPPERS.items():
        if mapper.obstacle(machine) is None:
            try:
                found[name] = mapper.place(traffic, machine, seed=seed)
            except InvalidInput:
                continue  # the size of the machine stands in its way
    return found


def written_by_mappers(
    space: SearchSpace,
    machine: Machine,
    ranks: int,
    traffic: TrafficOf,
    seed: int,
    cache: NetworkCache | None = None,
) -> list[dict[str, Any]]:
    """What every mapper makes on the first network of a space, to begin a search with.

    Returns:
        `mapper` and `permutation`, the core of each rank; of equal ones the first. Nothing where
        the first network is not possible.
    """
    first = space.default()
    try:
        unmapped = written_out(first, machine, range(ranks))
        plain = resolve(unmapped, machine, ranks, traffic=traffic, cache=cache)
    except Infeasible:
        return []
    known: dict[tuple[int, ...], str] = {}
    mapped = mapped_by_all(traffic(chosen_algorithms(first)), plain.where, seed)
    for name, places in mapped.items():
        hosts = plain.where.place_hosts[places].tolist()
        known.setdefault(packed_cores(hosts, machine.cores_per_host), name)
    return [{"mapper": name, "permutation": list(cores)} for cores, name in known.items()]


def refine_mapping(
    runs: Runs,
    whole: Simulator,
    short: Simulator | None = None,
    *,
    starts: Mapping[str, Sequence[int]] | None = None,
    evaluations: int,
    seconds: float | None = None,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[Refined, str]:
    """Refines the mapping of a configuration by simulated time.

    Args:
        runs: What is simulated.
        whole: A simulator with the whole traces.
        short: A simulator with a truncated trace, for the search; its best are verified on the
            whole one.
        starts: Mappings to begin with, by name: the core of each rank, numbered host by host. None
            for what all mappers make.
        evaluations: Simulations of the search at most (`searchspace.mapping.refinement.refine`).
        seconds: Of the clock, after which no simulation of the search begins.
        seed: Of the mappers and of the search.
        progress: Told the number of simulations and the best time after each.

    Returns:
        What came out, and the name of the start that was best on the whole trace.

    Raises:
        InvalidInput: The configuration, or none of the starts, can be used.
        Infeasible: The network is not possible.
    """
    plain = written_out(runs.configuration, runs.machine, range(runs.ranks))
    resolved = resolve(plain, runs.machine, runs.ranks, traffic=runs.traffic)
    traffic = runs.traffic(chosen_algorithms(plain))
    if starts is None:
        mapped = mapped_by_all(traffic, resolved.where, seed)
    else:
        mapped = {}
        for name, cores in starts.items():
            start = written_out(runs.configuration, runs.machine, cores)
            placed = resolve(start, runs.machine, runs.ranks, traffic=runs.traffic)
            mapped[name] = placed.places
    names = list(mapped)
    refined = refine(
        traffic,
        resolved.where,
        [mapped[name] for name in names],
        runs.on(whole if short is None else short),
        verify=None if short is None else runs.on(whole),
        evaluations=evaluations,
        seconds=seconds,
        rounds=runs.traffic.rounds(chosen_algorithms(plain)),
        limits=HostLimits.of(runs.machine),
        tie_rule=runs.machine.tie_rule,
        seed=seed,
        progress=progress,
    )
    return refined, names[refined.start]
