"""Machines as REST shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from storage.records import Machine

__all__ = [
    "DESCRIPTION_EXAMPLE",
    "EXAMPLE",
    "FILES_EXAMPLE",
    "REQUEST_EXAMPLE",
    "SUMMARY_EXAMPLE",
    "HostFileView",
    "MachineFilesView",
    "MachineNetworkView",
    "MachinePage",
    "MachineView",
    "NetworkFileView",
]

DESCRIPTION_EXAMPLE: dict[str, Any] = {
    "nodes": 64,
    "degree": 6,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "switch_latency": "60ns",
    "switch_bandwidth": "10Pbps",
    "model": "smpi-default",
}

REQUEST_EXAMPLE: dict[str, Any] = {"name": "hu-64", "machine": DESCRIPTION_EXAMPLE}

EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ac",
    "name": "hu-64",
    "sha256": "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
    "machine": {
        "nodes": 64,
        "degree": 6,
        "host_speed": 1e11,
        "link_bandwidth": 5e9,
        "switch_latency": 6e-8,
        "switch_bandwidth": 1.25e15,
        "model": "smpi-default",
    },
    "network": None,
    "created_at": 1790000000.0,
}

SUMMARY_EXAMPLE: dict[str, Any] = {
    **EXAMPLE,
    "name": "bluebird",
    "network": {"switches": 6, "cables": 96},
}

FILES_EXAMPLE: dict[str, Any] = {
    "machine": EXAMPLE,
    "network": {"format": "ibnetdiscover", "hosts": 64, "switches": 6, "cables": 96},
    "host": {"cores": 32, "levels": [2, 16]},
    "assumed": {"host_speed": "100Gf", "link_latency": "0s", "switch_latency": "60ns"},
}


class MachineNetworkView(BaseModel):
    """The size of the network that a machine has."""

    switches: int = Field(description="Switches without a host; 0 where each host is one.")
    cables: int

    @classmethod
    def of(cls, topology: dict[str, Any] | None) -> MachineNetworkView | None:
        """The size of a network as a canonical description has it; None without one."""
        if topology is None:
            return None
        widths = (edge[2] if len(edge) == 3 else 1 for edge in topology["edges"])
        return cls(switches=topology.get("switches", 0), cables=sum(widths))


class MachineView(BaseModel):
    """A machine description under a name, to be used by jobs as `machine: {id: ...}`."""

    id: str
    name: str
    sha256: str = Field(description="SHA-256 of the canonical description.")
    machine: dict[str, Any] = Field(
        description="The canonical description, in SI base units; in a summary its plain numbers "
        "and words alone."
    )
    network: MachineNetworkView | None = Field(
        description="The size of its network; null where it has none of its own."
    )
    created_at: float = Field(description="Seconds since the epoch.")

    @classmethod
    def of(cls, machine: Machine, *, summary: bool = False) -> MachineView:
        """The view of a stored machine, or a summary of it: without lists and what is nested."""
        whole = machine.description
        plain = {
            name: value for name, value in whole.items() if isinstance(value, int | float | str)
        }
        return cls(
            id=machine.id,
            name=machine.name,
            sha256=machine.sha256,
            machine=plain if summary else whole,
            network=MachineNetworkView.of(whole.get("topology")),
            created_at=machine.created_at,
        )


class MachinePage(BaseModel):
    """A page of machines, newest first."""

    items: list[MachineView]
    cursor: str | None = Field(description="Fetches the next page; null on the last.")


class NetworkFileView(BaseModel):
    """What a file with a network holds."""

    format: str = Field(description="What the file was read as, such as `ibnetdiscover`.")
    hosts: int
    switches: int = Field(description="Switches without a host; 0 where each host is one.")
    cables: int


class HostFileView(BaseModel):
    """What hwloc's XML tells of a host."""

    cores: int
    levels: list[int] = Field(
        description="Parts of each part, from the host to its cores; empty where these differ."
    )


class MachineFilesView(BaseModel):
    """What the files of a machine tell, and the machine that was stored."""

    machine: MachineView | None = Field(
        description="Null where only the inside of a host was sent, and no machine to put it in."
    )
    network: NetworkFileView | None
    host: HostFileView | None
    assumed: dict[str, str] = Field(
        description="Fields of the machine of which neither files nor form say anything."
    )
