"""Synthetic workloads as traces: four patterns of messages, and traffic matrices.

The patterns, and the fields that describe them, are those of Soryani, Analoui and Zarrinchian 2013,
section 5.1, tables 3 to 5. Every round each sender computes for 1/rate seconds and then sends one
message to each of its receivers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.pattern_names import canonical_pattern
from searchspace.formats.trace import MAX_TOTAL_BYTES, RankFile, TraceHeader, write_trace
from searchspace.machine import Speed
from searchspace.traffic import Traffic
from searchspace.units import parse_size
from searchspace.validation import Description, check

__all__ = ["PATTERNS", "Pattern", "matrix_trace", "pattern_trace"]

_LARGEST_MESSAGE = 2**31 - 1
_MOST_RANKS = 4096

Receives = Callable[[int, int], bool]

PATTERNS: dict[str, Receives] = {
    "all-to-all": lambda sender, receiver: sender != receiver,
    "bcast/scatter": lambda sender, receiver: sender == 0 != receiver,
    "gather/reduce": lambda sender, receiver: receiver == 0 != sender,
    "linear": lambda sender, receiver: receiver == sender + 1,
}
"""Whether a message goes from one rank to another, by name of the pattern."""


def _read_size(value: Any) -> int:
    try:
        return parse_size(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error


class Pattern(Description):
    """A synthetic workload."""

    pattern: str
    """Who sends to whom: `all-to-all`, `bcast/scatter`, `gather/reduce`, `linear`, or the name of a
    collective."""
    ranks: int = Field(ge=2, le=_MOST_RANKS, strict=True)
    """How many ranks there are."""
    size: Annotated[
        int,
        BeforeValidator(_read_size),
        Field(gt=0, le=_LARGEST_MESSAGE),
        WithJsonSchema({"type": ["integer", "string"], "examples": ["64kB"]}),
    ]
    """Bytes of a message."""
    count: int = Field(ge=1, le=10**9, strict=True)
    """Rounds: each sender sends one message to each of its receivers."""
    rate: float = Field(gt=0, lt=1e30, strict=True)
    """Rounds that a sender starts in a second, as far as the network lets it."""
    host_speed: Speed = 1e9
    """Flop/s that turn the time between rounds into flops, which hosts of other speeds take faster
    or slower."""

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, name: str) -> str:
        known = canonical_pattern(name)
        if known is None:
            raise ValueError(f"unknown pattern '{name}'; allowed: {', '.join(PATTERNS)}")
        return known

    @property
    def key(self) -> str:
        """Names the workload: equal for equal ones."""
        fields = self.model_dump()
        name = fields.pop("pattern")
        return ":".join((name, *(f"{field}={value}" for field, value in fields.items())))


def pattern_trace(description: Pattern | Mapping[str, Any], output: Path) -> TraceHeader:
    """Write the trace of a pattern.

    Args:
        description: What is written, or the fields of that as they stand in a file.
        output: The trace to write.

    Raises:
        InvalidInput: A field is missing, unknown or out of range; its name is the error's field.
    """
    wanted = description if isinstance(description, Pattern) else check(Pattern, description)
    goes = PATTERNS[wanted.pattern]
    index = range(wanted.ranks)
    directed = np.array([[goes(i, j) for j in index] for i in index], dtype=np.int64) * wanted.size
    speed = wanted.host_speed
    name = wanted.pattern.replace("/", "-")
    return _write(directed, wanted.count, speed / wanted.rate, speed, name, output)


def matrix_trace(traffic: Traffic, output: Path, *, rounds: int = 1) -> TraceHeader:
    """Write a trace in which every pair exchanges what a traffic matrix says, half each way.

    Args:
        traffic: What the ranks exchange.
        output: The trace to write.
        rounds: How often the exchange is repeated.

    Raises:
        InvalidInput: A message exceeds 2 GiB, there are too many ranks or rounds, or no two ranks
            exchange anything: ranks that do nothing take no time on any machine.
    """
    if not traffic.total:
        raise InvalidInput(
            "there is no traffic: no two ranks exchange a byte in this matrix, so there is nothing "
            "to simulate; 'hamtune map' takes it as it is"
        )
    if traffic.ranks > _MOST_RANKS:
        raise InvalidInput(f"a trace of a matrix has at most {_MOST_RANKS} ranks")
    directed = traffic.to_dense()
    for rank, row in enumerate(directed):  # in place: there may be 128 MiB of them
        row[:rank] //= 2
        row[rank:] -= row[rank:] // 2
    return _write(directed, rounds, 0.0, None, "matrix", output)


def _write(
    directed: NDArray[np.int64],
    rounds: int,
    flops: float,
    speed: float | None,
    name: str,
    output: Path,
) -> TraceHeader:
    if directed.max(initial=0) > _LARGEST_MESSAGE:
        raise InvalidInput(f"a message has at most {_LARGEST_MESSAGE} bytes")
    bodies = [_round(directed, rank, flops) for rank in range(len(directed))]
    if sum(len(body) for body, _ in bodies) * rounds > MAX_TOTAL_BYTES:
        raise InvalidInput("these messages make a trace of more than 2 GiB; ask for fewer")
    with tempfile.TemporaryDirectory(prefix="hamtune-pattern-", dir=output.parent) as directory:
        files = []
        for rank, (body, operations) in enumerate(bodies):
            path = Path(directory) / f"rank-{rank}.operations"
            with path.open("wb") as file:
                for _ in range(rounds):
                    file.write(body)
                file.write(encode("finalize"))
            files.append(RankFile(path, operations * rounds + 1))
        header = TraceHeader(
            ranks=len(directed), program=name, captured_by="synthetic", host_speed=speed
        )
        return write_trace(output, header, files)


def _round(directed: NDArray[np.int64], rank: int, flops: float) -> tuple[bytes, int]:
    """The operations of a rank in one round, and how many there are."""
    sources, targets = np.flatnonzero(directed[:, rank]), np.flatnonzero(directed[rank])
    parts = [encode("compute", flops=flops)] if flops and len(targets) else []
    slot = 0
    for call, peers, sizes in (
        ("irecv", sources, directed[:, rank]),
        ("isend", targets, directed[rank]),
    ):
        for peer in peers.tolist():
            parts.append(encode(call, slot=slot, peer=peer, count=int(sizes[peer]), size=1))
            slot += 1
    if slot:
        parts.append(encode("waitall", slots=range(slot)))
    return b"".join(parts), len(parts)
