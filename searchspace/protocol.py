"""How messages become packets: the transport and the MPI library under the `packets` model.

Packets are cut through or stored and forwarded (Kermani and Kleinrock 1979) by output-queued
switches (Karol, Hluchyj and Morgan 1987); long messages go as trains of packets (Jain and Routhier
1986); processors spend time on messages as in LogP and LogGP (Culler et al. 1993, Alexandrov et al.
1995).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from searchspace.errors import InvalidInput
from searchspace.units import machine_latency, parse_size
from searchspace.validation import Description, field_error

__all__ = ["DEFAULT_PROTOCOL", "PROTOCOLS", "Overhead", "Protocol"]

DEFAULT_PROTOCOL = "tcp-openmpi"
"""The protocol of a machine that names none."""

LEAST_MTU = 16
MOST_PACKET = 1 << 30
MOST_HEADER = 1 << 16
MOST_BYTES = 1 << 50
MOST_TRAINS = 1_000_000
MOST_PIECES = 100
MOST_PROCESSORS = 1 << 20
MOST_SECONDS_PER_BYTE = 1e-3

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_PIECE = re.compile(rf"(\d+):({_NUMBER}):({_NUMBER})")


def _quantity(read: Callable[[Any], Any]) -> BeforeValidator:
    def within(value: Any) -> Any:
        try:
            return read(value)
        except InvalidInput as error:
            raise ValueError(error.message) from error

    return BeforeValidator(within)


Size = Annotated[
    int,
    _quantity(parse_size),
    WithJsonSchema({"type": ["integer", "string"], "examples": ["64KiB"]}),
]
Seconds = Annotated[
    float,
    _quantity(machine_latency),
    WithJsonSchema({"type": ["number", "string"], "examples": ["1us"]}),
]
HeaderSize = Annotated[Size, Field(ge=0, le=MOST_HEADER)]
AnySize = Annotated[Size, Field(ge=0, le=MOST_BYTES)]

Piece = tuple[int, float, float]


def _read_overhead(value: Any) -> list[Piece]:
    """Reads pieces from lists or from the text of SMPI's options `smpi/os`, `ois` and `or`."""
    if isinstance(value, str):
        value = [_piece_of(part) for part in value.split(";")]
    if not isinstance(value, list | tuple):
        raise ValueError("must list [bytes, seconds, seconds per byte], or be like '0:1e-6:1e-10'")
    if len(value) > MOST_PIECES:
        raise ValueError(f"must have at most {MOST_PIECES} pieces")
    pieces = [_read_piece(piece) for piece in value]
    sizes = [piece[0] for piece in pieces]
    if sizes and sizes[0] != 0:
        raise ValueError("must begin at message size 0, like '0:1e-6:1e-10;1000:2e-6:0'")
    if any(later <= size for size, later in pairwise(sizes)):
        raise ValueError("must list message sizes that increase")
    return pieces


def _piece_of(text: str) -> list[float | str]:
    match = _PIECE.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"'{text}' is not 'bytes:seconds:seconds per byte'; "
            "write a list like '0:1e-6:1e-10;1000:2e-6:0'"
        )
    return [int(match[1]), float(match[2]), float(match[3])]


def _read_piece(piece: Any) -> Piece:
    if not isinstance(piece, list | tuple) or len(piece) != 3:
        raise ValueError(f"{piece!r} is not [bytes, seconds, seconds per byte]")
    try:
        size, seconds = parse_size(piece[0]), machine_latency(piece[1])
    except InvalidInput as error:
        raise ValueError(error.message) from error
    per_byte = piece[2]
    if isinstance(per_byte, bool) or not isinstance(per_byte, int | float):
        raise ValueError(f"{per_byte!r} is not a number of seconds per byte")
    if not (math.isfinite(per_byte) and 0 <= per_byte <= MOST_SECONDS_PER_BYTE):
        raise ValueError(f"seconds per byte must be between 0 and {MOST_SECONDS_PER_BYTE:g}")
    if size > MOST_BYTES:
        raise ValueError(f"a message size must be at most {MOST_BYTES}")
    return size, seconds, float(per_byte)


Overhead = Annotated[
    tuple[Piece, ...],
    BeforeValidator(_read_overhead),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "array", "minItems": 3, "maxItems": 3}},
                {"type": "string"},
            ],
            "examples": [[[0, 1e-6, 1e-10], [1000, 2e-6, 0]], "0:1e-6:1e-10;1000:2e-6:0"],
        }
    ),
]
"""`[bytes, seconds, seconds per byte]` by message size: a message of at least `bytes`, up to the
next piece, takes the processor for the seconds and, for each of its bytes, the seconds per byte.
They are numbers of SMPI's options `smpi/os`, `smpi/ois` and `smpi/or`. None listed: no time."""


class Protocol(Description):
    """What the `packets` model knows of transport and MPI library: a name, or fields over one.

    The defaults are those of `tcp-openmpi`: Open MPI over TCP on Ethernet. Sizes and times may be
    written with units.

    Example:
        >>> Protocol.model_validate({"name": "verbs", "mtu": "2KiB"}).text
        'verbs with mtu of its own'
    """

    switching: Literal["store-and-forward", "cut-through"] = "cut-through"
    """Whether a switch sends a packet on when it has all of it or as soon as its way is free. A
    stored packet pays its length at every hop. Cut-through is what measured runs of Open MPI over
    shaped cables came nearest to, where most routes have a queue of one packet."""
    mtu: Annotated[Size, Field(ge=LEAST_MTU, le=MOST_PACKET)] = 1500
    """Bytes of a packet with the headers of network and transport in it: 1500 on Ethernet."""
    header: HeaderSize = 52
    """Bytes of the mtu that are headers: 20 of IP, 20 of TCP, 12 of TCP's timestamps, which Linux
    sends by default."""
    framing: HeaderSize = 14
    """Bytes that a cable adds to each packet: the header of Ethernet, which is what Linux counts
    where it shapes traffic. A wire itself has 38 (8 of preamble, 14, 4 of checksum, 12 of gap)."""
    message_header: HeaderSize = 22
    """Bytes that MPI adds to each message: Open MPI's matching header (14) behind that of its
    transport (8)."""
    control_bytes: HeaderSize = 64
    """Bytes of each control message of a rendezvous: Open MPI answers an announcement (40) with
    where to put the data (64)."""
    eager_limit: AnySize | None = 65_480
    """Larger messages, bytes, wait until their receiver is ready (rendezvous); the others travel at
    once and wait there. Open MPI's `btl_tcp_eager_limit` of 65,536 less 56 of headers, so that
    64 KiB is the first common size that waits; null: none waits."""
    send_buffer: AnySize | None = 1_000_000
    """Bytes for each pair of ranks that the transport takes off a sender before the cables have
    them; a blocking send returns when it has all. What Linux's TCP takes over a connection in use;
    null for no limit."""
    exchange: Literal["full", "half", "ordered"] = "half"
    """How large messages between two ranks cross each other: `full`, both at once; `half`, one
    direction at a time; `ordered`, what one rank tells the other about a message waits behind what
    it sends it, so that who was asked first goes first, and both go at once only where neither was.
    Open MPI's put protocol over TCP is ordered; `half` is what mostly comes of it, and simpler."""
    exchange_above: AnySize = 65_480
    """The size, bytes, above which `half` holds: that of the put protocol, the eager limit."""
    stagger: Seconds = 0.0
    """Seconds by which a rank is late at most when it has received a message of several packets,
    each time drawn anew from its number. Two real ranks are not in step for long; simulated ones
    that do alike are, and where `exchange` is `ordered` that decides how their messages cross."""
    trains: int = Field(default=64, ge=1, le=MOST_TRAINS)
    """Most trains of packets that one message is cut into: what large messages cost to simulate,
    and how finely they share cables."""
    turn: AnySize = 65_536
    """Bytes that a message sends over its host's first cable before it is another message's turn
    there; 0: one train. Linux hands a device up to 64 KiB of a TCP connection at once (the limit of
    its segmentation offload), so messages that a host sends leave it one after the other rather
    than together. Where `buffer` is finite it is one train."""
    buffer: AnySize | None = None
    """Bytes that wait for a cable at most; the cables before it are held up then, as by the credits
    of a lossless fabric. Null for no limit, which stands for TCP too, whose window keeps queues
    short of what its senders have."""
    burst: AnySize = 0
    """Bytes that a cable which was idle lets pass at once, after which it has its rate: the bucket
    of a token bucket, as where Linux or a cloud limits rates. A cable of its own has none."""
    send_overhead: Overhead = ()
    """Time of the sender's processor for a blocking send (LogP's o). None by default: it is to be
    measured, and what a trace was recorded with has part of it."""
    isend_overhead: Overhead = ()
    """The same for a send that does not block."""
    receive_overhead: Overhead = ()
    """Time of the receiver's processor for a message."""
    peer_overhead: Seconds = 0.0
    """Seconds of the sender's processor at its first message to each peer: connections are set up
    then. 0: they stand."""
    processors: int | None = Field(default=None, ge=1, le=MOST_PROCESSORS)
    """How many processors spend the times above for all hosts together, first come, first served:
    those of the machine that plays an emulated cluster. Null: each host has its own."""

    @model_validator(mode="before")
    @classmethod
    def _build_on_a_named_one(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"name": value}
        if not isinstance(value, Mapping):
            return value
        for field in value:
            if field != "name" and field not in cls.model_fields:
                allowed = ", ".join(("name", *cls.model_fields))
                raise field_error(f"unknown field; allowed: {allowed}", str(field))
        over = {field: one for field, one in value.items() if field != "name"}
        if "name" not in value:
            return over
        name = value["name"]
        if not isinstance(name, str) or name not in PROTOCOLS:
            raise field_error(f"unknown protocol {name!r}; allowed: {', '.join(PROTOCOLS)}")
        return {**PROTOCOLS[name].numbers(), **over}

    @model_validator(mode="after")
    def _check_sizes(self) -> Protocol:
        if self.header >= self.mtu:
            raise field_error(
                f"must be less than the mtu of {self.mtu}, not {self.header}", "header"
            )
        packet = self.mtu + self.framing
        if self.buffer is not None and self.buffer < packet:
            raise field_error(
                f"must hold a packet of {packet} bytes (mtu and framing), not {self.buffer}",
                "buffer",
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        described = handler.resolve_ref_schema(schema)
        names = {"type": "string", "enum": list(PROTOCOLS)}
        fields = dict(described)
        base = {**names, "default": DEFAULT_PROTOCOL, "description": "The protocol below these."}
        fields["properties"] = {"name": base, **fields["properties"]}
        described.clear()
        described["anyOf"] = [names, fields]
        return schema

    @model_serializer(mode="wrap")
    def _without_what_says_nothing(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # So that protocols from before the field keep their identity.
        written: dict[str, Any] = fields(self)
        if self.processors is None:
            del written["processors"]
        if self.stagger == 0:
            del written["stagger"]
        return written

    def numbers(self) -> dict[str, Any]:
        """Every field as JSON, in bytes and seconds: what the simulator is told."""
        return self.model_dump(mode="json")

    @property
    def text(self) -> str:
        """The protocol for people: the named one nearest to it, and which fields differ."""
        name, fields = self.nearest
        return f"{name} with {', '.join(fields)} of its own" if fields else name

    @property
    def nearest(self) -> tuple[str, list[str]]:
        """The name of the protocol that shares most fields with it, and the fields that differ."""
        own = self.numbers()
        differing = {
            name: [
                field
                for field in {**named.numbers(), **own}
                if named.numbers().get(field) != own.get(field)
            ]
            for name, named in PROTOCOLS.items()
        }
        return min(differing.items(), key=lambda one: len(one[1]))


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        DEFAULT_PROTOCOL: Protocol(),
        # InfiniBand with MPI on its verbs. A packet has 4096 bytes of payload; around it 8 of the
        # local route header, 12 of the base transport header, 4 and 2 of checksums. Open MPI's
        # btl_openib_eager_limit is 12288. The adapter reads the sender's own memory, so nothing is
        # taken off a sender early, and both directions are at work at once.
        "verbs": Protocol(
            mtu=4096,
            header=0,
            framing=26,
            eager_limit=12_288,
            send_buffer=0,
            exchange="full",
            turn=0,
        ),
        # Nothing but bytes through queues: for closed forms, and to see what a protocol costs.
        "ideal": Protocol(
            header=0,
            framing=0,
            message_header=0,
            control_bytes=0,
            eager_limit=None,
            send_buffer=None,
            exchange="full",
            turn=0,
        ),
    }
)
"""The protocols that have names."""
