"""What is valid in a machine, and yet is probably not what its author means."""

from __future__ import annotations

from searchspace.machine import Machine

__all__ = ["cautions"]


def cautions(machine: Machine) -> tuple[str, ...]:
    """What to think over, a sentence each, with the field that it is about.

    Example:
        >>> cautions(Machine(nodes=1, host_speed="1Gf", link_bandwidth="1Gbps"))
        ()
    """
    network = machine.given_network
    if network is None or not network.switches or machine.tie_rule != "lowest-id":
        return ()
    if not network.has_equal_paths:
        return ()
    return (
        "machine.tie_rule: hosts are joined by several shortest paths, and under lowest-id all "
        "messages take the same one; write 'tie_rule: spread' if the routing tables use them all, "
        "as those of fat trees do",
    )
