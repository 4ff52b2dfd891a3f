"""The machine: hosts, the cables between them, and how SimGrid models a message on them.

The network is direct: a host and its switch are one node. Every cable carries both directions at
full bandwidth; crossing it takes the latency of the cable and of the switch that it enters.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from searchspace.configuration import sha256_of
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.units import parse_bandwidth, parse_duration, parse_speed
from searchspace.validation import Description, check, field_error

__all__ = ["Machine", "ModelFactors", "NetworkDescription", "parse_machine"]

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


def _schema(example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": ["number", "string"], "examples": [example]})


Speed = Annotated[float, _quantity(parse_speed, positive=True), _schema("100Gf")]
Bandwidth = Annotated[float, _quantity(parse_bandwidth, positive=True), _schema("40Gbps")]
Latency = Annotated[float, _quantity(parse_duration, positive=False), _schema("60ns")]

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


class ModelFactors(Description):
    """Factors on the bandwidths and latencies of the machine by message size, from measurements."""

    bandwidth_factor: Factors
    """`bytes:factor;...`: above that message size, bandwidths are multiplied by the factor."""
    latency_factor: Factors
    """The same for latencies."""


class NetworkDescription(Description):
    """A network that exists."""

    edges: list[tuple[int, int]] = Field(min_length=1)
    """The cables: pairs of node numbers, from 0 on."""


def _model_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<factors>"


class Machine(Description):
    """A machine. Quantities may be written with units; they are kept in SI units.

    Example:
        >>> machine = parse_machine({"nodes": 64, "degree": 6, "host_speed": "100Gf",
        ...                          "link_bandwidth": "40Gbps", "switch_latency": "60ns"})
        >>> machine.link_bandwidth
        5000000000.0
    """

    nodes: int = Field(ge=1, le=MAX_NODES)
    """Hosts, each with its switch."""
    degree: int | None = Field(default=None, ge=1)
    """Cables a node of the random networks; taken from `topology` when that is given."""
    host_speed: Speed
    """flop/s of one core."""
    cores_per_host: int = Field(default=1, ge=1, le=MAX_CORES)
    """How many ranks one host can run."""
    link_bandwidth: Bandwidth
    """Bytes/s of a cable, each way."""
    link_latency: Latency = 0.0
    """Seconds of a cable."""
    switch_latency: Latency = 0.0
    """Seconds of a switch; every hop enters one."""
    switch_bandwidth: Bandwidth | None = None
    """Bytes/s that a switch forwards in all; null for no limit."""
    loopback_bandwidth: Bandwidth = 10e9
    """Bytes/s between ranks of one host."""
    loopback_latency: Latency = 0.0
    """Seconds between ranks of one host."""
    model: Annotated[
        Annotated[Literal["smpi-default", "plain"], Tag("<name>")]
        | Annotated[ModelFactors, Tag("<factors>")],
        Discriminator(_model_kind),
    ] = "smpi-default"
    """What SMPI multiplies bandwidths and latencies by, depending on the message size: its own
    calibration (`smpi-default`), nothing (`plain`), or given factors."""
    tie_rule: Literal["lowest-id"] = "lowest-id"
    """Which of several shortest routes is used: that of a breadth-first search in order of ids."""
    topology: NetworkDescription | None = None
    """The network, when it exists already; null to leave it open."""

    @model_validator(mode="after")
    def _check_network(self) -> Machine:
        try:
            network = self.given_network
        except InvalidInput as error:
            raise field_error(error.message, "topology.edges") from error
        if network is not None and not network.connected:
            raise field_error("the network is not connected", "topology.edges")
        return self

    @functools.cached_property
    def given_network(self) -> Graph | None:
        """The network that exists, or None when the network is open."""
        if self.topology is None:
            return None
        return Graph.from_edges(self.nodes, self.topology.edges)

    @property
    def random_degree(self) -> int | None:
        """Cables a node of the random networks: `degree`, or that of the given network."""
        if self.degree is None and self.given_network is not None:
            return max(self.given_network.degrees)
        return self.degree

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

    @functools.cached_property
    def sha256(self) -> str:
        """The identity of the machine, in hexadecimal."""
        return sha256_of(self.canonical())


def parse_machine(document: Any) -> Machine:
    """Reads a machine from plain data.

    Raises:
        InvalidInput: It does not describe a machine; names the field and what is allowed.
    """
    return check(Machine, document)
