"""The machine: hosts, the cables between them, and how a message on them is modelled.

In a direct network a host and its switch are one node; in an indirect one, hosts are plugged into
switches of their own. Every cable carries both directions at full bandwidth; crossing it takes the
latency of the cable and of the switch that it enters.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from searchspace.configuration import canonical_json
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.parts import Parts
from searchspace.protocol import DEFAULT_PROTOCOL, PROTOCOLS, Protocol
from searchspace.units import machine_bandwidth, machine_latency, machine_speed
from searchspace.validation import Description, check, field_error

__all__ = [
    "MOST_CABLES",
    "SMPI_DEFAULT",
    "Calibration",
    "Machine",
    "ModelFactors",
    "NetworkDescription",
    "NetworkModel",
    "Residual",
    "Speed",
    "parse_machine",
]

MAX_NODES = 16_384
MAX_SWITCHES = 16_384
MAX_CORES = 1_024

NetworkModel = Literal["fluid", "packets"]
"""What gives the time of a message: max-min fair shares of the cables, or queues of packets."""

_LATER_FIELDS = (
    "host_speeds", "host_link_bandwidth", "interface_bandwidth", "memory_bandwidth", "protocol",
    "calibration", "parts",
)  # fmt: skip
"""What says nothing when it is null, so that older machines keep their identity."""


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


Speed = Annotated[float, _quantity(machine_speed, positive=True), _schema("100Gf")]
Bandwidth = Annotated[float, _quantity(machine_bandwidth, positive=True), _schema("40Gbps")]
Latency = Annotated[float, _quantity(machine_latency, positive=False), _schema("60ns")]

_BOUNDARY = re.compile(r"(\d+):((?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)")


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


SMPI_DEFAULT = ModelFactors(
    bandwidth_factor="65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;"
    "1426:0.608902;732:0.341987;257:0.338112;0:0.812084",
    latency_factor="65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;"
    "1426:1.61075;732:1.9503;257:1.95341;0:2.01467",
)
"""The calibration that SimGrid's SMPI model comes with, the same from release 3.32 to 4.1. Releases
differ in when they set it, so it is always written out."""


MOST_CABLES = 4096
"""Between two nodes."""


def _cable_kind(value: Any) -> str:
    return "<cables>" if isinstance(value, list | tuple) and len(value) == 3 else "<cable>"


Cable = Annotated[
    Annotated[tuple[int, int], Tag("<cable>")]
    | Annotated[tuple[int, int, Annotated[int, Field(ge=1, le=MOST_CABLES)]], Tag("<cables>")],
    Discriminator(_cable_kind),
]
Name = Annotated[str, Field(min_length=1, max_length=255)]


class NetworkDescription(Description):
    """A network that exists."""

    edges: list[Cable] = Field(min_length=1)
    """The cables: pairs of node numbers, from 0 on; `[u, v, 2]` stands for two parallel cables."""
    switches: int = Field(default=0, ge=0, le=MAX_SWITCHES)
    """Switches without a host: the numbers after those of the hosts. 0 when each host is one."""
    host_names: list[Name] = Field(default_factory=list)
    """The names of the hosts, for exports; may be left out."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_files(cls, value: Any) -> Any:
        if isinstance(value, dict) and "file" in value:
            raise field_error(
                "names a file, which only commands read; 'hamtune topology convert FILE --to json' "
                "prints what to write here",
                "file",
            )
        return value

    def graph(self, hosts: int) -> Graph:
        """Builds the network.

        Raises:
            InvalidInput: The edges are not those of a network of that many hosts.
        """
        nodes = hosts + self.switches
        plain = Graph.from_edges(nodes, [edge[:2] for edge in self.edges], switches=self.switches)
        widths = {(min(e[:2]), max(e[:2])): e[2] if len(e) == 3 else 1 for e in self.edges}
        if max(widths.values()) == 1:
            return plain
        return dataclasses.replace(plain, widths=tuple(widths[edge] for edge in plain.edges))

    @staticmethod
    def of(graph: Graph, host_names: Sequence[str] = ()) -> dict[str, Any]:
        """Describes a network in one form: edges sorted, nothing that goes without saying."""
        description: dict[str, Any] = {
            "edges": [
                [u, v] if graph.width(index) == 1 else [u, v, graph.width(index)]
                for index, (u, v) in enumerate(graph.edges)
            ]
        }
        if graph.switches:
            description["switches"] = graph.switches
        if host_names:
            description["host_names"] = list(host_names)
        return description


RelativeError = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Residual(Description):
    """What a fit leaves of the measurements of one kind: relative differences, without sign."""

    points: int = Field(ge=1)
    """How many there are."""
    median: RelativeError
    """Of the median one."""
    error: RelativeError
    """Their 90th percentile."""

    @model_validator(mode="after")
    def _check_order(self) -> Residual:
        if self.error < self.median:
            raise field_error("must be at least the median", "error")
        return self


class Calibration(Residual):
    """Where the numbers of a machine come from: a fit to what was measured on it.

    Nothing of it is evaluated. `points`, `median` and `error` are those of all measurements that
    last until messages have arrived; `residuals` has the others too.
    """

    date: datetime.date
    """The day of the last measurement."""
    software: dict[Name, str] = Field(min_length=1)
    """What was measured with, by name: the version."""
    scale: float = Field(default=1.0, gt=0, le=1)
    """By what all rates were slowed on an emulated cluster; 1 where none was."""
    residuals: dict[Name, Residual] = Field(default_factory=dict)
    """By the kind of measurement, such as `ping-pong`."""
    intervals: dict[Name, tuple[Finite, Finite]] = Field(default_factory=dict)
    """By the name of a fitted number: between which values it lies with 95% confidence, in SI base
    units."""

    @model_validator(mode="after")
    def _check_intervals(self) -> Calibration:
        for name, (low, high) in self.intervals.items():
            if low > high:
                raise field_error(f"that of {name} must not end before it begins", "intervals")
        return self


def _model_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<factors>"


_ONLY_NETWORKS: tuple[tuple[tuple[int, int], ...], ...] = ((), ((0, 1),))
"""The links of one host and of two."""


class Machine(Description):
    """A machine. Quantities may be written with units; a bare number is in SI base units.

    Example:
        >>> machine = parse_machine({"nodes": 64, "degree": 6, "host_speed": "100Gf",
        ...                          "link_bandwidth": "40Gbps", "switch_latency": "60ns"})
        >>> machine.link_bandwidth
        5000000000.0
    """

    nodes: int = Field(ge=1, le=MAX_NODES)
    """How many hosts there are."""
    degree: int | None = Field(default=None, ge=1)
    """Cables a node of the random networks; taken from `topology` when that is given."""
    host_speed: Speed
    """flop/s of one core."""
    host_speeds: list[Speed] | None = None
    """flop/s of one core of each host, by the hosts' numbers, where they differ; null when all have
    `host_speed`."""
    cores_per_host: int = Field(default=1, ge=1, le=MAX_CORES)
    """How many ranks one host can run."""
    link_bandwidth: Bandwidth
    """Bandwidth of a cable, each way, such as `40Gbps` (bits) or `5GBps` (bytes); a number is
    bytes/s."""
    host_link_bandwidth: Bandwidth | None = None
    """Bandwidth of the cable from a host to its switch, in networks whose switches are not hosts;
    null for that of the other cables."""
    link_latency: Latency = 0.0
    """Seconds of a cable."""
    switch_latency: Latency = 0.0
    """Seconds of a switch; every hop enters one."""
    switch_bandwidth: Bandwidth | None = None
    """Bandwidth that a switch forwards in all; null for no limit."""
    interface_bandwidth: Bandwidth | None = None
    """Bandwidth, each way, that the ranks of a host share to and from the network; null for no
    limit but the cables'."""
    memory_bandwidth: Bandwidth | None = None
    """Bandwidth that all messages between ranks of one host share; null for no limit."""
    loopback_bandwidth: Bandwidth = 10e9
    """Bandwidth of one message between ranks of one host."""
    loopback_latency: Latency = 0.0
    """Seconds between ranks of one host."""
    model: Annotated[
        Annotated[Literal["smpi-default", "plain"], Tag("<name>")]
        | Annotated[ModelFactors, Tag("<factors>")],
        Discriminator(_model_kind),
    ] = "smpi-default"
    """What SMPI multiplies bandwidths and latencies by, depending on the message size. Its own
    calibration (`smpi-default`), nothing (`plain`), or given factors; of the `fluid` model only."""
    network: Literal["fluid", "packets", "auto"] = "fluid"
    """How the time of messages is computed. `fluid` lets them share cables by max-min fairness, as
    SimGrid does; `packets` sends trains of packets through the queues of the cables; `auto`
    searches with `packets` and evaluates the best few with `fluid` as well. A new job whose machine
    does not say gets `auto`, whatever else reads a machine takes that for `fluid`."""
    protocol: Protocol | None = None
    """How messages become packets, where the network is `packets` or `auto`: `tcp-openmpi` unless
    given or told by the file of the network, `verbs`, `ideal`, or `{name: verbs, mtu: 2KiB}`,
    single fields over a named one."""
    tie_rule: Literal["lowest-id", "spread"] = "lowest-id"
    """Which of several shortest routes is used: that of a breadth-first search in order of ids, or
    one chosen by the number of a host at its end, as routing tables of fat trees do (`spread`). A
    job file that names the file of a network gets `spread` where its switches leave several."""
    topology: NetworkDescription | None = None
    """The network, when it exists already; null to leave it open."""
    calibration: Calibration | None = None
    """How well the packets model was fitted to measurements of this machine; not evaluated."""
    parts: Parts | None = None
    """What a network of it is built of, at which prices; not evaluated. Null for round figures."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in_protocol(cls, document: Any) -> Any:
        if (
            isinstance(document, Mapping)
            and document.get("network") in ("packets", "auto")
            and document.get("protocol") is None
        ):
            return {**document, "protocol": DEFAULT_PROTOCOL}
        return document

    @model_validator(mode="after")
    def _check_protocol(self) -> Machine:
        if self.network == "fluid" and self.protocol is not None:
            raise field_error(
                "means nothing to the fluid model; leave it out, or set network to packets or auto",
                "protocol",
            )
        if self.network == "fluid" and self.calibration is not None:
            raise field_error(
                "is of the packets model; leave it out, or set network to packets or auto",
                "calibration",
            )
        return self

    @model_validator(mode="after")
    def _check_speeds(self) -> Machine:
        if self.host_speeds is not None and len(self.host_speeds) != self.nodes:
            raise field_error(
                f"must list the speed of each of the {self.nodes} hosts, not of "
                f"{len(self.host_speeds)}",
                "host_speeds",
            )
        return self

    @model_validator(mode="after")
    def _check_network(self) -> Machine:
        try:
            network = self.given_network
        except InvalidInput as error:
            raise field_error(error.message, "topology.edges") from error
        if network is not None and not network.connected:
            raise field_error("the network is not connected", "topology.edges")
        names = self.topology.host_names if self.topology else []
        if names and (len(names) != self.nodes or len(set(names)) != len(names)):
            raise field_error(
                f"must name each of the {self.nodes} hosts once", "topology.host_names"
            )
        return self

    @functools.cached_property
    def given_network(self) -> Graph | None:
        """The network that exists, or None when the network is open.

        One host and two hosts have the only network there is of them.
        """
        if self.topology is not None:
            return self.topology.graph(self.nodes)
        if self.nodes <= len(_ONLY_NETWORKS):
            return Graph(self.nodes, _ONLY_NETWORKS[self.nodes - 1])
        return None

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of the hosts: those of the given network, or `node-0`, `node-1`, ..."""
        named = self.topology.host_names if self.topology else []
        return tuple(named) or tuple(f"node-{host}" for host in range(self.nodes))

    @property
    def random_degree(self) -> int | None:
        """Cables a node of the random networks: `degree`, or that of the given network."""
        network = self.given_network
        if self.degree is None and network is not None and not network.switches:
            return max(network.degrees)
        return self.degree

    @property
    def cores(self) -> int:
        """The most ranks that the machine can run at once."""
        return self.nodes * self.cores_per_host

    @property
    def trial_model(self) -> NetworkModel:
        """The model that evaluates trials, and decides which is the best."""
        return "fluid" if self.network == "fluid" else "packets"

    @property
    def model_text(self) -> str:
        """The model of trials for people, with what it rests on: `packets, tcp-openmpi`."""
        if self.trial_model == "packets":
            assert self.protocol is not None, "filled in when the machine was read"
            return f"packets, {self.protocol.text}"
        factors = "given factors" if isinstance(self.model, ModelFactors) else self.model
        return f"fluid, {factors}"

    def simulated_by(self, model: NetworkModel) -> Machine:
        """Returns the machine as one model evaluates it, without what means nothing to that one.

        Machines that one model evaluates alike are equal then: those with `auto` and `packets`, and
        under `packets` those that differ in the factors of the fluid model. Where numbers come from
        is left out.
        """
        return self._fluid if model == "fluid" else self._packets

    def with_protocol(self, protocol: Protocol) -> Machine:
        """Returns the machine with another protocol of packets."""
        return self._with(protocol=protocol)

    @functools.cached_property
    def _fluid(self) -> Machine:
        return self._with(network="fluid", protocol=None, calibration=None, parts=None)

    @functools.cached_property
    def _packets(self) -> Machine:
        protocol = self.protocol or PROTOCOLS[DEFAULT_PROTOCOL]
        return self._with(
            network="packets",
            protocol=protocol,
            model="smpi-default",
            calibration=None,
            parts=None,
        )

    def _with(self, **changes: Any) -> Machine:
        # A copy by pydantic would keep what was computed of this one.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Machine.model_construct(**{**fields, **changes})

    def canonical(self) -> dict[str, Any]:
        """Returns the machine as JSON in one form: every field, SI units, edges sorted.

        Fields that only some machines have are left out where they say nothing.
        """
        description = self.model_dump(mode="json")
        if self.network == "fluid":
            del description["network"]
        for field in _LATER_FIELDS:
            if description[field] is None:
                del description[field]
        network = self.given_network
        if network is not None and self.topology is not None:
            description["topology"] = NetworkDescription.of(network, self.topology.host_names)
        return description

    @functools.cached_property
    def canonical_json(self) -> str:
        """`canonical` with sorted keys and no spaces."""
        return canonical_json(self.canonical())

    @functools.cached_property
    def sha256(self) -> str:
        """The identity of the machine, in hexadecimal."""
        return hashlib.sha256(self.canonical_json.encode()).hexdigest()


def parse_machine(document: Any) -> Machine:
    """Reads a machine from plain data.

    Raises:
        InvalidInput: It does not describe a machine; names the field and what is allowed.
    """
    return check(Machine, document)
