"""What the network of an export would do without tuning: beside it a cluster's gain is judged."""

from __future__ import annotations

from collections.abc import Iterable

from searchspace.configuration import Configuration
from searchspace.platform import Infeasible
from searchspace.topology import FAMILIES
from service.exports.nearest import evaluated
from service.exports.result import Result
from storage.storage import Storage

__all__ = ["network_alone", "untuned"]

WALL_SECONDS = 20.0
"""Somebody waits for the export; what takes longer to simulate is told as not known."""

_NETWORK = ("topology", "topology_seed")


def untuned(storage: Storage, result: Result, selectors: Iterable[str]) -> dict[str, float]:
    """Simulated seconds by decision table; without those that cannot be simulated, or not soon."""
    found = {}
    for selector in selectors:
        configuration = network_alone(result.configuration, selector)
        try:
            _, found[selector] = evaluated(storage, result, configuration, WALL_SECONDS)
        except Infeasible:
            continue
    return found


def network_alone(configuration: Configuration, selector: str) -> Configuration:
    """The same network, with hosts and ranks in order and all choices left to a library."""
    kept = {
        name: value
        for name, value in dict(configuration).items()
        if name in _NETWORK or name.partition(".")[0] in FAMILIES
    }
    return Configuration({**kept, "mpi": selector})
