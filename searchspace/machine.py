"""The machine: hosts, the cables between them, and how SimGrid models a message on them.

The network is direct: a host and its switch are one node. Every cable carries both directions at
full bandwidth; crossing it takes the latency of the cable and of the switch that it enters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from searchspace.configuration import sha256_of
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.units import parse_bandwidth, parse_duration, parse_speed

__all__ = ["Machine", "ModelFactors", "NetworkDescription"]

MAX_NODES = 16_384
MAX_CORES = 1_024


def _quantity(parse: Callable[[Any], float], *, positive: bool) -> BeforeValidator:
    def read(value: Any) -> float:
        try:
            quantity = parse(value)
        except InvalidInput as error:
            raise ValueError(error.message) from error
        if positive and quantity == 0:
            raise ValueError("must be greater than 0")
        return quantity

    return BeforeValidator(read)


Speed = Annotated[float, _quantity(parse_speed, positive=True)]
Bandwidth = Annotated[float, _quantity(parse_bandwidth, positive=True)]
Latency = Annotated[float, _quantity(parse_duration, positive=False)]

_BOUNDARY = re.compile(r"(\d+):(\d*\.?\d+(?:[eE][+-]?\d+)?)")


def _read_factors(value: Any) -> str:
    """Brings factors into one form: increasing message sizes from 0 on.

    SimGrid 3.32 crashes on a bare number and on text that it cannot read, so nothing but a checked
    list reaches it.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"0:{value!r}"
    if not isinstance(value, str):
        raise ValueError("must be a number or a list like '0:0.9;65536:0.95'")
    factors: dict[int, float] = {}
    for part in value.split(";"):
        match = _BOUNDARY.fullmatch(part.strip())
        if match is None:
            raise ValueError(
                f"'{part}' is not 'bytes:factor'; write a list like '0:0.9;65536:0.95'"
            )
        boundary = int(match[1])
        if boundary in factors:
            raise ValueError(f"the message size {boundary} is listed twice")
        factors[boundary] = float(match[2])
    if 0 not in factors:
        raise ValueError("must begin at message size 0, like '0:0.9;65536:0.95'")
    if not all(0 < factor < 1e6 for factor in factors.values()):
        raise ValueError("every factor must be greater than 0 and below 1e6")
    return ";".join(f"{boundary}:{factors[boundary]!r}" for boundary in sorted(factors))


Factors = Annotated[str, BeforeValidator(_read_factors)]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelFactors(_Frozen):
    """Factors on the user's bandwidth and latency by message size, from measurements.

    Attributes:
        bandwidth_factor: `bytes:factor;...`: from that message size on, bandwidth x factor.
        latency_factor: The same for latencies.
    """

    bandwidth_factor: Factors
    latency_factor: Factors


class NetworkDescription(_Frozen):
    """A network that exists: its cables, each a pair of node numbers."""

    edges: list[tuple[int, int]] = Field(min_length=1)


class Machine(_Frozen):
    """A machine description. Quantities may be written with units and are kept in SI units.

    Attributes:
        nodes: Hosts, each with its switch.
        degree: Cables a node of the random networks; not needed when `topology` is given.
        host_speed: flop/s of one core.
        cores_per_host: Ranks that one host can run.
        link_bandwidth: Bytes/s of a cable, each way.
        link_latency: Seconds of a cable.
        switch_latency: Seconds of a switch; every hop enters one.
        switch_bandwidth: Bytes/s that a switch can forward in all; None for no limit.
        loopback_bandwidth: Bytes/s between ranks of one host.
        loopback_latency: Seconds between ranks of one host.
        model: What SMPI multiplies bandwidths and latencies with, by message size: its own
            calibration (`smpi-default`), nothing (`plain`), or given factors.
        tie_rule: Which of several shortest routes is used; see `searchspace.kernels.routes`.
        topology: The cables of a network that exists; None to leave the network open.
    """

    nodes: int = Field(ge=1, le=MAX_NODES)
    degree: int | None = Field(default=None, ge=1)
    host_speed: Speed
    cores_per_host: int = Field(default=1, ge=1, le=MAX_CORES)
    link_bandwidth: Bandwidth
    link_latency: Latency = 0.0
    switch_latency: Latency = 0.0
    switch_bandwidth: Bandwidth | None = None
    loopback_bandwidth: Bandwidth = 10e9
    loopback_latency: Latency = 0.0
    model: Literal["smpi-default", "plain"] | ModelFactors = "smpi-default"
    tie_rule: Literal["lowest-id"] = "lowest-id"
    topology: NetworkDescription | None = None

    @model_validator(mode="after")
    def _check_network(self) -> Machine:
        try:
            network = self.given_network
        except InvalidInput as error:
            raise ValueError(f"topology.edges: {error.message}") from error
        if network is not None and not network.connected:
            raise ValueError("topology.edges: the network is not connected")
        return self

    @property
    def given_network(self) -> Graph | None:
        """The network that exists, or None when the network is open."""
        if self.topology is None:
            return None
        return Graph.from_edges(self.nodes, self.topology.edges)

    @property
    def cores(self) -> int:
        """The most ranks that the machine can run at once."""
        return self.nodes * self.cores_per_host

    def canonical(self) -> dict[str, Any]:
        """Returns the machine as JSON in one form: every field, SI units, edges sorted."""
        description = self.model_dump(mode="json")
        network = self.given_network
        if network is not None:
            description["topology"] = {"edges": [list(edge) for edge in network.edges]}
        return description

    @property
    def sha256(self) -> str:
        """The identity of the machine, in hexadecimal."""
        return sha256_of(self.canonical())
