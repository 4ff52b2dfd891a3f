"""What was measured on one cluster, for another network or another scale."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.machine import Machine, parse_machine

__all__ = ["apply", "rescaled"]

_MEASURED = (
    "host_speed",
    "link_bandwidth",
    "link_latency",
    "switch_latency",
    "interface_bandwidth",
    "memory_bandwidth",
    "loopback_bandwidth",
    "loopback_latency",
    "network",
    "protocol",
    "calibration",
)
"""Fields of hosts, cables and libraries: they hold on any network."""
_IN_PROPORTION = ("host_link_bandwidth", "switch_bandwidth")
"""Rates that keep their ratio to that of the cables."""


def apply(calibrated: Machine, other: Machine) -> Machine:
    """Gives a machine the numbers of a calibrated one.

    It keeps its network, routes and number of hosts and cores. Rates of host links and switches
    keep their ratio to the cables'.

    Args:
        calibrated: A machine with `calibration`.
        other: One of the same kind of hosts and cables.

    Raises:
        InvalidInput: The first was not calibrated, or the hosts of the second differ in speed.
    """
    if calibrated.calibration is None:
        raise InvalidInput("the machine has no calibration; take one that was calibrated")
    if other.host_speeds is not None:
        raise InvalidInput(
            "the hosts differ in speed, and the calibrated machine knows one speed; "
            "leave host_speeds out"
        )
    document = other.canonical()
    measured = calibrated.canonical()
    for name in _MEASURED:
        document[name] = measured.get(name)
    scale = calibrated.link_bandwidth / other.link_bandwidth
    for name in _IN_PROPORTION:
        rate = document.get(name)
        document[name] = None if rate is None else rate * scale
    return parse_machine(document)


def rescaled(calibrated: Machine, scale: float) -> Machine:
    """Gives a machine that was calibrated on an emulated cluster the rates of another scale.

    Only cables are slowed there: what processors spend on messages, and what libraries and buckets
    hold, is that of this host at any scale. Latencies too, for cables of a testbed have those of
    its host.

    Args:
        calibrated: A machine with `calibration`.
        scale: By what all rates are slowed, as of `Calibration.scale`: 1/200 where they are divided
            by 200.

    Raises:
        InvalidInput: The machine was not calibrated.
    """
    if calibrated.calibration is None:
        raise InvalidInput("the machine has no calibration; take one that was calibrated")
    document = calibrated.canonical()
    ratio = scale / calibrated.calibration.scale
    for name in ("link_bandwidth", *_IN_PROPORTION):
        if document.get(name) is not None:
            document[name] *= ratio
    document["calibration"]["scale"] = scale
    return parse_machine(document)
