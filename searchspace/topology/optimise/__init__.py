"""Optimisers of networks: methods that look for the best network of a size."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.optimise.exhaustive import EXHAUSTIVE
from searchspace.topology.optimise.sa import SA
from searchspace.topology.optimise.search import Objective, Optimiser, Problem, Ring, Search
from searchspace.topology.optimise.spectral import SPECTRAL
from searchspace.topology.optimise.symmetric import SYMMETRIC
from searchspace.topology.optimise.traffic import BY_TRAFFIC
from searchspace.topology.optimise.two_opt import TWO_OPT
from searchspace.traffic import Traffic

__all__ = ["OPTIMISERS", "begin", "check", "optimise"]

OPTIMISERS: dict[str, Optimiser] = {
    optimiser.name: optimiser
    for optimiser in (SA, SYMMETRIC, SPECTRAL, TWO_OPT, BY_TRAFFIC, EXHAUSTIVE)
}


def check(method: str, objective: Objective) -> Optimiser:
    """Finds a method and checks that it can have that objective.

    Raises:
        InvalidInput: There is no such method, or it has other objectives.
    """
    if method not in OPTIMISERS:
        raise InvalidInput(
            f"unknown method '{method}'; allowed: {', '.join(OPTIMISERS)}", field="method"
        )
    optimiser = OPTIMISERS[method]
    if objective not in optimiser.objectives:
        able = [name for name, other in OPTIMISERS.items() if objective in other.objectives]
        raise InvalidInput(
            f"method '{method}' does not optimise '{objective}'; use {' or '.join(able)}",
            field="method",
        )
    return optimiser


def begin(method: str, problem: Problem) -> Search:
    """Starts a search.

    Raises:
        InvalidInput: The method cannot do what the problem asks.
    """
    optimiser = check(method, problem.objective)
    if problem.threads > 1 and not optimiser.parallel:
        able = [name for name, other in OPTIMISERS.items() if other.parallel]
        raise InvalidInput(
            f"method '{method}' searches in one thread, not {problem.threads}; "
            f"{' and '.join(able)} can use several",
            field="threads",
        )
    if problem.girth is not None and optimiser is not EXHAUSTIVE:
        raise InvalidInput("--girth belongs to method exhaustive", field="girth")
    if problem.traffic is not None and optimiser is not BY_TRAFFIC:
        raise InvalidInput("--traffic belongs to method traffic", field="traffic")
    return optimiser.begin(problem)


def optimise(
    nodes: int,
    degree: int,
    *,
    objective: Objective = "aspl",
    method: str = "sa",
    iterations: int,
    seed: int = 0,
    symmetry: int | None = None,
    ring: Ring = "free",
    diameter_first: bool = False,
    start: Graph | None = None,
    threads: int = 1,
    patience: int = 1000,
    traffic: Traffic | None = None,
) -> Graph:
    """Optimises a network; the same arguments always give the same network.

    Args:
        nodes: Hosts.
        degree: Cables a host.
        objective: `aspl` (least), `bisection` (greatest width) or `traffic`.
        method: A key of `OPTIMISERS`.
        iterations: Moves that each thread may propose.
        seed: Of all random choices.
        symmetry: Order of the rotation that maps the network onto itself; None: the method
            chooses.
        ring: `keep` leaves the ring 0, 1, 2, ... in the network.
        diameter_first: Whether a smaller diameter counts more than any ASPL.
        start: Where to begin; None: at random.
        threads: Searches side by side.
        patience: Moves without success after which 2-opt stops.
        traffic: Of ranks, in order on the hosts, for the objective `traffic`.

    Raises:
        InvalidInput: No such network, or the method cannot do what is asked.
    """
    search = begin(
        method,
        Problem(
            nodes=nodes,
            degree=degree,
            objective=objective,
            seed=seed,
            iterations=iterations,
            symmetry=symmetry,
            ring=ring,
            diameter_first=diameter_first,
            start=start,
            threads=threads,
            patience=patience,
            traffic=traffic,
        ),
    )
    while not search.finished:
        search.step()
    return search.best.graph
