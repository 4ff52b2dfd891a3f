"""What a job's front looks like over REST."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from searchspace.terms import Weighed

__all__ = ["EXAMPLE", "FrontPoint", "FrontView", "Reference"]

By = Weighed

_POINT: dict[str, Any] = {
    "trial": 17,
    "label": None,
    "value": 0.0712,
    "cost": 61400.0,
    "power": 980.0,
    "energy": 753.2,
    "switches": 16,
    "radixes": {"8": 16},
    "cables": 96,
    "adapters": 64,
    "metres": 192.0,
    "diameter": 4,
    "network": "jellyfish (degree = 4, hosts_per_switch = 4, seed 2, hamorder)",
    "configuration": {"topology": "jellyfish", "topology_seed": 2, "ordering": "hamorder"},
}

EXAMPLE: dict[str, Any] = {
    "objective": ["time", "cost"],
    "by": "cost",
    "points": [_POINT],
    "others": [],
    "baselines": [
        {**_POINT, "trial": 1, "label": "torus-3d", "value": 0.084, "cost": 147200.0},
    ],
    "reference": {"seconds": 0.11, "price": 147200.0},
    "hypervolume": 3329.04,
    "share": 0.82,
    "trials": 104,
    "unpriced": 0,
    "note": None,
}


class FrontPoint(BaseModel):
    """A completed trial with what its network comes to."""

    trial: int
    label: str | None = Field(description="Of a baseline.")
    value: float = Field(description="Simulated seconds.")
    cost: float = Field(description="Price of the network, in the currency of the prices.")
    power: float = Field(description="Watts that it draws.")
    energy: float = Field(
        description="Joules of the run: what network and hosts draw meanwhile, and computing."
    )
    switches: int = Field(description="Where every host is a switch, as many as hosts.")
    radixes: dict[int, int] = Field(description="How many switches of which radix are bought.")
    cables: int
    adapters: int
    metres: float = Field(description="Of all cables together.")
    diameter: int = Field(description="Cables between the two hosts that are farthest apart.")
    network: str = Field(description="Family, parameters and ordering in words.")
    configuration: dict[str, Any]


class Reference(BaseModel):
    """Up to where the hypervolume is counted."""

    seconds: float
    price: float = Field(description="Cost, watts or joules, as `by` says.")


class FrontView(BaseModel):
    """The front of a job: what no other completed trial beats in both time and price."""

    objective: list[str] = Field(description="Of the job; it may be time alone.")
    by: By = Field(description="What time is weighed against here.")
    points: list[FrontPoint] = Field(description="The front, the cheapest first.")
    others: list[FrontPoint] = Field(
        description="The fastest trial of each other network, the cheapest first, 500 at most."
    )
    baselines: list[FrontPoint] = Field(description="Baselines outside the search space.")
    reference: Reference | None = Field(
        description="By default the slowest and the dearest trial; null where none is known."
    )
    hypervolume: float | None = Field(
        description="The area between front and reference: seconds times cost, watts or joules."
    )
    share: float | None = Field(
        description="That area over the one of a single trial as fast as the fastest and as cheap "
        "as the cheapest."
    )
    trials: int = Field(description="Completed trials of the search space that were looked at.")
    unpriced: int = Field(description="Of which the network has no price.")
    note: str | None = Field(description="Why there is no front, or what limits it.")
