"""The machine of most benchmarks and tests: network to be designed, rates of Hu (2023)."""

from __future__ import annotations

from typing import Any

__all__ = ["designed"]


def designed(nodes: int, degree: int, **said: Any) -> dict[str, Any]:
    """A machine as job files describe it.

    Args:
        nodes: Hosts.
        degree: Cables a host.
        said: What else is said of it.
    """
    rates = {"host_speed": "100Gf", "link_bandwidth": "40Gbps", "switch_latency": "60ns"}
    return {"nodes": nodes, "degree": degree, **rates, **said}
