"""The container of a trace (`.ht`): header and compressed blocks (docs/trace-format.md)."""

from __future__ import annotations

import os
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from searchspace.errors import InvalidInput
from searchspace.formats.measured import Measured
from searchspace.formats.plain_file import check_plain
from searchspace.kernels import trace_summary
from searchspace.kernels._native import TraceWriter, rank_operations

__all__ = [
    "MAX_HEADER_BYTES",
    "MAX_RANKS",
    "MAX_TEXT",
    "MAX_TOTAL_BYTES",
    "Block",
    "CallBlock",
    "PlainBlock",
    "RankBlock",
    "RankFile",
    "Repeats",
    "TraceHeader",
    "check_recording",
    "describe_trace",
    "read_header",
    "read_operations",
    "validate",
    "write_blocks",
    "write_checked_trace",
    "write_trace",
]

MAGIC = b"HAMTRACE"
VERSION = 2
_WHOLE_VERSION = 1
MAX_HEADER_BYTES = 8 << 20
MAX_RANKS = 65_536
MAX_TEXT = 4096
"""Characters of an argument of the program."""
MAX_TOTAL_BYTES = 2 << 30
"""What all blocks together may inflate to."""

_CHUNK = 1 << 20
_FINALIZE = 15
_MANY_OPERATIONS = 1_000_000

_one_at_a_time = threading.Lock()

_Text = Annotated[str, Field(max_length=MAX_TEXT)]
_Count = Annotated[int, Field(ge=1, le=MAX_TOTAL_BYTES)]


class Block(BaseModel):
    """What the header says of one rank's block: bytes in the file, inflated bytes, operations."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    compressed: _Count
    bytes: _Count
    operations: _Count


class CallBlock(Block):
    """What the header says of a block of calls, and how many `ranks` have it."""

    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]


class PlainBlock(BaseModel):
    """What the header says of a block without operations: bytes in the file, inflated bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    compressed: _Count
    bytes: _Count


class Repeats(BaseModel):
    """How much several captures of a program differ, of which a trace was made.

    Attributes:
        captures: How many there were.
        spread: Range of the computation of all ranks together, relative to the median.
        rank_spreads: The same of each rank.
        differing_ranks: Ranks whose calls differ, which have the computation of the first capture
            and not the medians.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    captures: Annotated[int, Field(ge=1)]
    spread: Annotated[float, Field(ge=0)]
    rank_spreads: tuple[Annotated[float, Field(ge=0)], ...]
    differing_ranks: tuple[Annotated[int, Field(ge=0)], ...] = ()


class TraceHeader(BaseModel):
    """The header of a trace.

    Attributes:
        ranks: Ranks of the captured run.
        program: Name of the program, a plain name.
        arguments: Its arguments.
        captured_by: Recorder and MPI library, such as `smpi 3.32`.
        host_speed: Flop/s with which measured seconds became flops; None when declared.
        measured: How computation was measured; None where it was declared, or nothing is known.
        repeats: What is known of repeated captures, if there were some.
        weights: Of a truncated trace, for every stretch between two marks (`pcontrol`; every rank
            has one more of them than there are stretches) how many times more it counts than it is
            played: the estimate, then others that tell how good it is. None for a whole trace.
        calls: The blocks of calls, which ranks that do alike share. These and the following are
            filled in by `write_trace`.
        flops: The lists of what ranks compute.
        table: Which calls, flops and parties each rank has.
        blocks: Of version 1 instead: one per rank.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)]
    program: Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^/\x00-\x1f\x7f]+$")]
    arguments: tuple[_Text, ...] = ()
    captured_by: _Text = ""
    host_speed: Annotated[float, Field(gt=0)] | None = None
    measured: Measured | None = None
    repeats: Repeats | None = None
    weights: tuple[tuple[float, ...], ...] | None = None
    calls: tuple[CallBlock, ...] = ()
    flops: tuple[PlainBlock, ...] = ()
    table: PlainBlock | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def operations(self) -> int:
        """Operations of all ranks together."""
        shared = sum(block.operations * block.ranks for block in self.calls)
        return shared + sum(block.operations for block in self.blocks)

    @property
    def compressed(self) -> tuple[Block | PlainBlock, ...]:
        """All blocks as they follow each other in the file."""
        table = () if self.table is None else (self.table,)
        return (*self.blocks, *self.calls, *self.flops, *table)


@dataclass(frozen=True)
class RankFile:
    """Operations of one rank as a recorder left them: a file, how many, and how it measured."""

    path: Path
    operations: int
    measured: Measured | None = None


@dataclass(frozen=True)
class RankBlock:
    """Encoded operations of one rank and how many they are."""

    encoded: bytes
    operations: int


def check_recording(rank_operations: Sequence[bytes | RankFile | RankBlock]) -> None:
    """Refuse what is too large for a trace by the sizes of its files, without reading them.

    A stranger's program may leave files of any length that hold nothing.

    Raises:
        InvalidInput: The operations of all ranks are more than 2 GiB, or a rank claims more
            operations than it has bytes.
    """
    total = 0
    for rank, operations in enumerate(rank_operations):
        size = _size(operations)
        total += size
        if not isinstance(operations, bytes) and operations.operations > size:
            raise InvalidInput(
                f"rank {rank} left {size} bytes, which cannot hold {operations.operations} "
                "operations"
            )
    if total > MAX_TOTAL_BYTES:
        raise InvalidInput(
            f"the run has more than 2 GiB of operations ({total / (1 << 30):.1f} GiB); capture a "
            "shorter run"
        )


def write_trace(
    path: Path,
    header: TraceHeader,
    rank_operations: Sequence[bytes | RankFile | RankBlock],
    *,
    each_chunk: Callable[[], None] = lambda: None,
) -> TraceHeader:
    """Write a trace: the header with its blocks filled in, and the blocks.

    Args:
        path: The trace; it appears whole or not at all.
        header: Its `blocks` are replaced.
        rank_operations: The encoded operations of each rank, in memory or in a file.
        each_chunk: Called before each MiB is compressed; what it raises ends the writing.

    Returns:
        The header as written.

    Raises:
        InvalidInput: Another number of ranks than the header says, or more than 2 GiB in all.
    """
    if len(rank_operations) != header.ranks:
        raise InvalidInput(f"{len(rank_operations)} blocks for {header.ranks} ranks")
    check_recording(rank_operations)
    with (
        tempfile.TemporaryFile(dir=path.parent) as calls,
        tempfile.TemporaryFile(dir=path.parent) as flops,
    ):
        writer = TraceWriter(calls.fileno(), flops.fileno())
        for rank, operations in enumerate(rank_operations):
            try:
                for chunk in _chunks(operations):
                    each_chunk()
                    writer.feed(chunk)
                writer.end_rank()
            except RuntimeError as error:
                raise InvalidInput(f"rank {rank} of the trace: {error}") from error
        made = writer.blocks()
        table = zlib.compress(made["table"], 6)
        written = _parse_header(
            {
                **header.model_dump(exclude={"blocks"}),
                "calls": tuple(
                    dict(zip(("compressed", "bytes", "operations", "ranks"), block, strict=True))
                    for block in made["calls"]
                ),
                "flops": tuple(
                    dict(zip(("compressed", "bytes"), block, strict=True))
                    for block in made["flops"]
                ),
                "table": {"compressed": len(table), "bytes": len(made["table"])},
            },
            VERSION,
        )
        write_blocks(path, written, calls, flops, table)
    return written


def write_blocks(
    path: Path, header: TraceHeader, calls: IO[bytes], flops: IO[bytes], table: bytes
) -> None:
    """Write a trace whose blocks are compressed: the header says how long they are.

    Raises:
        InvalidInput: The header is too long.
    """
    # A trace without them keeps the form, and so the identity, that it has always had.
    optional = ("measured", "repeats", "weights")
    unused = {name for name in optional if getattr(header, name) is None}
    text = header.model_dump_json(exclude=unused | {"blocks"}).encode()
    if len(text) > MAX_HEADER_BYTES:
        raise InvalidInput(f"the trace's header exceeds {MAX_HEADER_BYTES} bytes")
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as out:
        temporary = Path(out.name)
        try:
            out.write(MAGIC + struct.pack("<II", VERSION, len(text)) + text)
            for body, blocks in ((calls, header.calls), (flops, header.flops)):
                _copy(body, sum(block.compressed for block in blocks), out)
            out.write(table)
            out.close()
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _copy(body: IO[bytes], size: int, out: IO[bytes]) -> None:
    """Copy what was written last; behind it may be what was written in vain."""
    body.seek(0)
    while size > 0:
        chunk = body.read(min(_CHUNK, size))
        out.write(chunk)
        size -= len(chunk)


def write_checked_trace(
    path: Path,
    header: TraceHeader,
    rank_operations: Sequence[bytes | RankFile | RankBlock],
) -> TraceHeader:
    """Write a trace of operations that others encoded: only if it can be replayed.

    Raises:
        InvalidInput: As `write_trace`, or the operations make no sense; then nothing is written.
    """
    with tempfile.TemporaryDirectory(prefix="hamtune-trace-", dir=path.parent) as directory:
        draft = Path(directory) / path.name
        written = write_trace(draft, header, rank_operations)
        trace_summary(draft)
        draft.replace(path)
    return written


def read_header(path: Path) -> TraceHeader:
    """Read the header of a trace and check it against the size of the file.

    Raises:
        InvalidInput: Not a trace, another version, or a header that does not fit the file.
    """
    with _open(path) as file:
        header, start = _read_header(file)
        end = start + sum(block.compressed for block in header.compressed)
        size = path.stat().st_size
    if end != size:
        raise InvalidInput(f"the trace is {size} bytes where its header says {end}: truncated?")
    return header


def validate(path: Path) -> TraceHeader:
    """Check a trace as far as can be done without parsing operations.

    Every block is inflated, in bounded memory, and must be as long as declared and end with the
    finalize operation. Whether the operations make sense is the C++ reader's to say.

    Raises:
        InvalidInput: What is wrong, naming the rank.
    """
    header = read_header(path)
    with _open(path) as file:
        _read_header(file)
        for number, block in enumerate((*header.blocks, *header.calls)):
            what = f"{'rank' if header.blocks else 'calls'} {number} of the trace"
            last = b""
            for chunk in _inflate(file, block, what):
                last = chunk
            if last[-1] != _FINALIZE:
                raise InvalidInput(f"{what} does not end with finalize")
        for number, flops in enumerate(header.flops):
            for _ in _inflate(file, flops, f"flops {number} of the trace"):
                pass
        if header.table is not None:
            for _ in _inflate(file, header.table, "the table of the trace"):
                pass
    return header


def describe_trace(path: Path) -> dict[str, Any]:
    """What a trace holds, as `TraceSummary` tells it, and what its header says of its making.

    That is whether it is `truncated`; how its computation was `measured`, if it was, with the
    `uncertainty` of that; and its `repeats`, if it was made of several captures.

    Raises:
        InvalidInput: The file is no trace, or one that cannot be replayed.
    """
    header = read_header(path)
    # A small file may hold 100 million operations, which take gigabytes while they are looked at.
    large = header.operations > _MANY_OPERATIONS
    with _one_at_a_time if large else nullcontext():
        summary = {**trace_summary(path), "truncated": header.weights is not None}
    if header.measured is not None:
        measured = header.measured.model_dump(mode="json")
        summary["measured"] = measured | {"uncertainty": header.measured.uncertainty}
    if header.repeats is not None:
        summary["repeats"] = header.repeats.model_dump(mode="json")
    return summary


def read_operations(path: Path, rank: int) -> bytes:
    """Inflate the operations of one rank (for `searchspace.formats.operations.decode`).

    Raises:
        InvalidInput: The trace has no such rank or is damaged.
    """
    header = read_header(path)
    if not 0 <= rank < header.ranks:
        raise InvalidInput(f"the trace has ranks 0 to {header.ranks - 1}", field="rank")
    try:
        return rank_operations(str(path), rank)
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error


def _open(path: Path) -> BinaryIO:
    check_plain(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot read the trace {path.name}: {error.strerror}") from error


def _read_header(file: BinaryIO) -> tuple[TraceHeader, int]:
    fixed = file.read(len(MAGIC) + 8)
    if len(fixed) < len(MAGIC) + 8 or not fixed.startswith(MAGIC):
        raise InvalidInput("this is not a Hamtune trace")
    version, length = struct.unpack("<II", fixed[len(MAGIC) :])
    if version not in (_WHOLE_VERSION, VERSION):
        raise InvalidInput(
            f"the trace has version {version}; this Hamtune reads {_WHOLE_VERSION} and {VERSION}"
        )
    if length > MAX_HEADER_BYTES:
        raise InvalidInput(f"the trace's header exceeds {MAX_HEADER_BYTES} bytes")
    text = file.read(length)
    if len(text) != length:
        raise InvalidInput("the trace ends inside its header")
    return _parse_header(text, version), file.tell()


def _parse_header(source: bytes | dict[str, object], version: int) -> TraceHeader:
    try:
        header = (
            TraceHeader.model_validate_json(source)
            if isinstance(source, bytes)
            else TraceHeader.model_validate(source)
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        place = f" at {where}" if where else ""
        raise InvalidInput(f"the trace's header is wrong{place}: {first['msg']}") from error
    _check_blocks(header, version)
    if sum(block.bytes for block in header.compressed) > MAX_TOTAL_BYTES:
        raise InvalidInput("the trace inflates to more than 2 GiB")
    return header


def _check_blocks(header: TraceHeader, version: int) -> None:
    if version == _WHOLE_VERSION:
        if header.calls or header.flops or header.table:
            raise InvalidInput("the trace's header is wrong: blocks of another version")
        if len(header.blocks) != header.ranks:
            raise InvalidInput(
                f"the trace's header lists {len(header.blocks)} blocks for {header.ranks} ranks"
            )
    elif header.blocks or header.table is None:
        raise InvalidInput("the trace's header is wrong: blocks of another version")
    elif sum(block.ranks for block in header.calls) != header.ranks:
        raise InvalidInput("the trace's header does not give each of its ranks a block of calls")


def _inflate(file: BinaryIO, block: Block | PlainBlock, what: str) -> Iterator[bytes]:
    """Inflate the block at the file's position in chunks, never more than it declares."""
    stream = zlib.decompressobj()
    left, size = block.compressed, 0
    try:
        while size <= block.bytes and not stream.eof:
            data = stream.unconsumed_tail or file.read(min(_CHUNK, left))
            if not data:
                break
            left -= 0 if stream.unconsumed_tail else len(data)
            chunk = stream.decompress(data, _CHUNK)
            size += len(chunk)
            if chunk:
                yield chunk
    except zlib.error as error:
        raise InvalidInput(f"{what} is damaged: {error}") from error
    if size != block.bytes or left or not stream.eof or stream.unused_data:
        raise InvalidInput(f"{what} does not inflate to what its header says")


def _size(operations: bytes | RankFile | RankBlock) -> int:
    if isinstance(operations, RankFile):
        return operations.path.stat().st_size
    return len(operations.encoded if isinstance(operations, RankBlock) else operations)


def _chunks(operations: bytes | RankFile | RankBlock) -> Iterable[bytes]:
    if not isinstance(operations, RankFile):
        whole = operations.encoded if isinstance(operations, RankBlock) else operations
        for start in range(0, len(whole), _CHUNK):
            yield whole[start : start + _CHUNK]
        return
    with operations.path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size  # and not what somebody adds meanwhile
        while chunk := file.read(min(_CHUNK, left)):
            left -= len(chunk)
            yield chunk
