"""Synthetic workloads as traces: four patterns of messages, and traffic matrices.

The patterns, and the fields that describe them, are those of Soryani, Analoui and Zarrinchian 2013,
section 5.1, tables 3 to 5. Every round each sender computes for 1/rate seconds and then sends one
message to each of its receivers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.pattern_names import canonical_pattern
from searchspace.formats.trace import MAX_TOTAL_BYTES, RankFile, TraceHeader, write_trace
from searchspace.traffic import Traffic
from searchspace.units import parse_size, parse_speed

__all__ = ["PATTERNS", "matrix_trace", "pattern_trace"]

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


def pattern_trace(description: Mapping[str, Any], output: Path) -> TraceHeader:
    """Write the trace of a pattern.

    Args:
        description: `pattern` (see `PATTERN_NAMES`), `ranks`, `size` (of a message), `count` (of
            rounds), `rate` (messages a second that a sender starts), and `host_speed`
            (default 1Gf), which turns the time between messages into flops.
        output: The trace to write.

    Raises:
        InvalidInput: A field is missing, unknown or out of range; its name is the error's field.
    """
    unknown = description.keys() - {"pattern", "ranks", "size", "count", "rate", "host_speed"}
    if unknown:
        raise InvalidInput("there is no such field", field=str(sorted(map(str, unknown))[0]))
    name = canonical_pattern(description.get("pattern"))
    if name is None:
        raise InvalidInput(f"must be one of: {', '.join(PATTERNS)}", field="pattern")
    ranks = _whole(description, "ranks", 2, _MOST_RANKS)
    count = _whole(description, "count", 1, 10**9)
    rate = _positive(description, "rate")
    size = int(_measured(description, "size", parse_size, ""))
    speed = _measured(description, "host_speed", parse_speed, "1Gf")
    goes = PATTERNS[name]
    index = range(ranks)
    directed = np.array([[goes(i, j) for j in index] for i in index], dtype=np.int64) * size
    return _write(directed, count, speed / rate, speed, name.replace("/", "-"), output)


def matrix_trace(traffic: Traffic, output: Path, *, rounds: int = 1) -> TraceHeader:
    """Write a trace in which every pair exchanges what a traffic matrix says, half each way.

    Args:
        traffic: What the ranks exchange.
        output: The trace to write.
        rounds: How often the exchange is repeated.

    Raises:
        InvalidInput: A message exceeds 2 GiB, or there are too many ranks or rounds.
    """
    if traffic.ranks > _MOST_RANKS:
        raise InvalidInput(f"a trace of a matrix has at most {_MOST_RANKS} ranks")
    both = traffic.to_dense()
    half = both // 2
    directed = np.where(np.tri(len(both), dtype=bool), half, both - half)
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


def _whole(description: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = description.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"must be a whole number from {least} to {most}", field=name)
    return value


def _measured(
    description: Mapping[str, Any], name: str, parse: Callable[[Any], float], default: str
) -> float:
    try:
        return parse(description.get(name, default))
    except InvalidInput as error:
        raise InvalidInput(error.message, field=name) from error


def _positive(description: Mapping[str, Any], name: str) -> float:
    value = description.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e30:
        raise InvalidInput("must be a number greater than 0", field=name)
    return float(value)
