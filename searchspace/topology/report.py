"""Everything that is known of a network, as one document."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from searchspace.graph import Graph
from searchspace.topology.bisection import Effort, bisection_width
from searchspace.topology.cost import Prices, cables, cost, ports, power
from searchspace.topology.layout import Floor, line_length, ring_length
from searchspace.topology.metrics import measure
from searchspace.topology.structure import (
    attachments,
    degree_distribution,
    edge_connectivity,
    girth,
    node_connectivity,
    switch_network,
)

__all__ = ["LIMITS", "Depth", "report"]

Depth = Literal["quick", "normal", "full"]

LIMITS = {"bisection": 4096, "connectivity": 1024, "girth": 16_384}
"""Nodes up to which an expensive measure is taken unless all are asked for."""


def report(
    graph: Graph,
    *,
    depth: Depth = "normal",
    floor: Floor | None = None,
    prices: Prices | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Measures a connected network.

    Args:
        graph: The network.
        depth: `quick` leaves out girth, bisection width and connectivity, `normal` leaves out what
            takes long at that size, `full` nothing.
        floor: Where the nodes stand.
        prices: What the parts cost.
        seed: Of the search for narrow bisections.

    Returns:
        Measures by name, None where one was left out; `notes` says why, one line a measure.

    Raises:
        InvalidInput: The network is not connected.
    """
    floor, prices = floor or Floor(), prices or Prices()
    distances = measure(graph)
    inner = switch_network(graph)
    notes: list[str] = []

    def wanted(measure_name: str) -> bool:
        limit = LIMITS[measure_name]
        if depth == "full" or (depth == "normal" and inner.nodes <= limit):
            return True
        reason = "not asked for" if depth == "quick" else f"more than {limit} switches"
        notes.append(f"{measure_name}: left out ({reason}); --full measures it")
        return False

    lengths = floor.lengths(graph)
    found: dict[str, Any] = {
        **dataclasses.asdict(distances),
        "aspl_gap": distances.aspl_gap,
        "diameter_gap": distances.diameter_gap,
        "switches": graph.switches or graph.nodes,
        "degrees": {str(d): count for d, count in degree_distribution(inner).items()},
        "cables": cables(graph),
        "ports": ports(graph),
        "girth": girth(inner) if wanted("girth") else None,
        "edge_connectivity": None,
        "node_connectivity": None,
        **_bisection(graph, inner, wanted("bisection"), seed, notes),
        "cable_length": {
            "line": line_length(graph),
            "ring": ring_length(graph),
            "metres": sum(graph.width(i) * metres for i, metres in enumerate(lengths)),
            "longest_metres": max(lengths, default=0.0),
        },
        "cost": dict(cost(graph, lengths, prices)),
        "power": dict(power(graph, lengths, prices)),
    }
    if wanted("connectivity"):
        found["edge_connectivity"] = edge_connectivity(inner)
        found["node_connectivity"] = node_connectivity(inner)
    return found | {"notes": notes}


def _bisection(
    graph: Graph, inner: Graph, wanted: bool, seed: int, notes: list[str]
) -> dict[str, Any]:
    """The bisection width: halves of the switches, or of the hosts where not all have as many."""
    nothing = {"bisection_width": None, "bisection_lower_bound": None, "bisection_exact": None}
    if not wanted:
        return nothing
    uneven = False
    if graph.switches:
        plugged = attachments(graph)
        even = len(plugged) == graph.switches and len(set(plugged.values())) == 1
        if not even:
            notes.append(
                "bisection: it halves the hosts; switches lie where they cut least, since not all "
                "have as many hosts"
            )
            inner, uneven = graph, True
    # Where every edge stands for as many cables, so does every edge of a cut.
    widths = set(inner.widths or (1,))
    each = min(widths) if len(widths) == 1 else 1
    if len(widths) > 1:
        notes.append("bisection: parallel cables count once, since not all have as many")
    effort: Effort = "normal" if inner.nodes <= 1024 else "quick"
    split = bisection_width(inner, seed=seed, effort=effort, halve_hosts=uneven)
    exact = split.width == split.lower_bound
    if not exact:
        notes.append(
            f"bisection: {split.width * each} is an upper bound, the narrowest split that "
            f"{', '.join(split.widths)} found"
        )
    return {
        "bisection_width": split.width * each,
        "bisection_lower_bound": split.lower_bound * each,
        "bisection_exact": exact,
    }
