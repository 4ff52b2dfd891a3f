"""The parts that a network is built of: what they cost and draw, and the floor it stands on.

What a machine says under `parts`. Defaults are those of `Prices` and `Floor`: round figures in no
currency, to be replaced by one's own.
"""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import Field

from searchspace.topology.cost import SWITCHES, Prices, Switch
from searchspace.topology.layout import Floor
from searchspace.validation import Description

__all__ = ["AdapterPart", "CablePart", "FloorPlan", "HostPart", "Parts", "SwitchPart"]

MOST_RADIX = 65_536
MOST_SWITCHES = 100

Amount = Annotated[float, Field(ge=0, lt=1e12, allow_inf_nan=False)]
Metres = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]

_PRICES, _FLOOR = Prices(), Floor()


class SwitchPart(Description):
    """A switch that can be bought."""

    radix: int = Field(ge=1, le=MOST_RADIX)
    """Its ports."""
    price: Amount
    """Of the whole switch."""
    watts: Amount = 0.0
    """That it draws."""


class CablePart(Description):
    """Cables by their length: copper up to a reach, optical ones beyond."""

    reach: Metres = _PRICES.reach
    """Metres up to which a cable is of copper."""
    copper: Amount = _PRICES.copper
    """Price of a copper cable, without its length."""
    copper_metre: Amount = _PRICES.copper_metre
    """Price of a metre of it."""
    optical: Amount = _PRICES.optical
    """Price of an optical cable with its two transceivers, without its length."""
    optical_metre: Amount = _PRICES.optical_metre
    """Price of a metre of it."""
    optical_watts: Amount = _PRICES.optical_watts
    """What the transceivers at both its ends draw."""


class AdapterPart(Description):
    """What a host is plugged into a switch with; hosts that are switches have none."""

    price: Amount = _PRICES.adapter
    """Of one."""
    watts: Amount = _PRICES.adapter_watts
    """That it draws."""


class HostPart(Description):
    """What a host draws, without the adapter or the switch in it.

    The model is that of SimGrid's plugin `host_energy` (Heinrich et al., "Predicting the energy
    consumption of MPI applications at scale using a single node", IEEE Cluster 2017): what an idle
    host draws, and more for each core that computes. A core that waits for a message is idle.
    """

    watts: Amount = 150.0
    """With all its cores idle."""
    core_watts: Amount = 5.0
    """More for each core that computes."""


class FloorPlan(Description):
    """Racks in a nearly square grid, filled row by row in the order of the nodes' numbers."""

    rack_nodes: int = Field(default=_FLOOR.rack_nodes, ge=1, le=100_000)
    """Nodes in a rack: hosts that are switches, else switches with their hosts."""
    width: Metres = _FLOOR.width
    """Metres from a rack to the next in its row."""
    depth: Metres = _FLOOR.depth
    """Metres from a row to the next, with the aisle."""
    inside: Metres = _FLOOR.inside
    """Metres of a cable that stays in its rack."""
    overhead: Metres = _FLOOR.overhead
    """Metres that a cable between racks is longer than its way along the floor."""


def _round_figures() -> list[SwitchPart]:
    return [SwitchPart(radix=s.radix, price=s.price, watts=s.watts) for s in SWITCHES]


class Parts(Description):
    """What a network is built of. The defaults are round figures: replace them by your own."""

    switches: list[SwitchPart] = Field(
        default_factory=_round_figures, min_length=1, max_length=MOST_SWITCHES
    )
    """The switches there are to buy. Each switch of a network, also that inside a host, is the
    cheapest with ports for all its cables."""
    cables: CablePart = CablePart()
    """What cables cost and draw."""
    adapters: AdapterPart = AdapterPart()
    """What adapters cost and draw."""
    hosts: HostPart = HostPart()
    """What hosts draw. They are the same whatever the network, so only energy counts them."""
    floor: FloorPlan = FloorPlan()
    """Where the nodes stand, which decides how long cables are."""

    @functools.cached_property
    def prices(self) -> Prices:
        """What the parts cost and draw."""
        return Prices(
            adapter=self.adapters.price,
            adapter_watts=self.adapters.watts,
            switches=tuple(Switch(s.radix, s.price, s.watts) for s in self.switches),
            **self.cables.model_dump(),
        )

    @functools.cached_property
    def plan(self) -> Floor:
        """Where the nodes stand."""
        return Floor(**self.floor.model_dump())
