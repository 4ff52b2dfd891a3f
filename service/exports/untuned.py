"""What stands beside an export: its network without tuning, and itself by the other model."""

from __future__ import annotations

from collections.abc import Iterable

from searchspace.collectives.equivalents import Target
from searchspace.configuration import Configuration
from searchspace.platform import Infeasible
from searchspace.topology import FAMILIES
from service.exports.nearest import WALL_SECONDS, evaluated, nearest_to, unlike
from service.exports.result import Result
from storage.view import StorageView

__all__ = ["by_fluid", "network_alone", "untuned", "without_target"]

_NETWORK = ("topology", "topology_seed")


def untuned(storage: StorageView, result: Result, selectors: Iterable[str]) -> dict[str, float]:
    """Simulated seconds by decision table; without those that cannot be simulated, or not soon."""
    found = {}
    for selector in selectors:
        configuration = network_alone(result.configuration, selector)
        try:
            _, found[selector] = evaluated(storage, result, configuration, WALL_SECONDS)
        except Infeasible:
            continue
    return found


def without_target(
    storage: StorageView, result: Result, targets: Iterable[Target]
) -> dict[str, float]:
    """Simulated seconds, by target, of what each library makes of an export that is not for it.

    Those that run all as it was simulated are left out, and what cannot be simulated, or not soon.
    """
    found = {}
    for target in targets:
        if not unlike(result, target):
            continue
        try:
            _, found[target.name] = evaluated(
                storage, result, nearest_to(result, target), WALL_SECONDS
            )
        except Infeasible:
            continue
    return found


def by_fluid(storage: StorageView, result: Result) -> float | None:
    """Simulated seconds of what is exported by the fluid model; None where not known, or not soon.

    It is what plain SimGrid gives, on another yardstick than that of the packets that decided.
    """
    for decided, repeated in result.compared:
        same = decided.configuration_sha256 == result.configuration.sha256
        if same and repeated.state == "completed":
            return repeated.value
    try:
        _, seconds = evaluated(storage, result, result.configuration, WALL_SECONDS, model="fluid")
    except Infeasible:
        return None
    return seconds


def network_alone(configuration: Configuration, selector: str) -> Configuration:
    """The same network, with hosts and ranks in order and all choices left to a library."""
    kept = {
        name: value
        for name, value in dict(configuration).items()
        if name in _NETWORK or name.partition(".")[0] in FAMILIES
    }
    return Configuration({**kept, "mpi": selector})
