"""Stock time-independent traces of SimGrid (`smpirun -trace-ti`, `-replay`) as our traces.

The actions and the order of their arguments are those of SMPI's replay in SimGrid 3.32. Every
collective is one of all ranks; what the format leaves open (requests that only a test completed) is
waited for before finalize.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Value, encode
from searchspace.formats.plain_file import check_plain
from searchspace.formats.slots import Slots
from searchspace.formats.time_independent import WTIME_SECONDS
from searchspace.formats.trace import MAX_RANKS, RankBlock, TraceHeader, write_trace

__all__ = ["import_time_independent"]

SIZES = {
    **{0: 8, 1: 4, 2: 1, 3: 2, 4: 8, 5: 4, 6: 1},
    **{17: 1, 18: 2, 19: 4, 20: 8, 21: 1, 22: 2, 23: 4, 24: 8, 25: 8, 26: 16, 43: 16},
}
"""Bytes of a datatype by SMPI's id: DOUBLE, INT, CHAR, SHORT, LONG, FLOAT, BYTE; from 17 INT8_T to
UINT64_T, C_FLOAT_COMPLEX, C_DOUBLE_COMPLEX; COMPLEX16."""

_LINE = re.compile(r"\s*(\d{1,6})\s+([A-Za-z_]+)\b(.*)", re.ASCII)
_IGNORED = ("init", "test", "comm_size", "comm_split", "comm_dup", "location")
_BYTE, _DOUBLE = 1, 8


def import_time_independent(
    sources: Sequence[Path], output: Path, *, host_speed: float | None = None
) -> TraceHeader:
    """Write the trace that stock time-independent traces hold.

    Args:
        sources: One file a rank, one file of all ranks, a directory of such files, or a file that
            lists them as `smpirun -trace-ti` writes it.
        output: The trace to write.
        host_speed: Flop/s that turn the seconds of a sleep into flops.

    Raises:
        InvalidInput: A file cannot be read, a line cannot be understood (the message names file,
            line and action), or ranks are missing.
    """
    files = [file for source in sources for file in _files(source)]
    found = {rank for file in files for _, rank, _, _ in _lines(file)}
    if not found:
        raise InvalidInput("there is no action in these files")
    ranks = max(found) + 1
    if ranks > MAX_RANKS:
        raise InvalidInput(f"a trace has at most {MAX_RANKS} ranks, not {ranks}")
    missing = [rank for rank in range(ranks) if rank not in found]
    if missing:
        shown = ", ".join(map(str, missing[:8])) + (" ..." if len(missing) > 8 else "")
        raise InvalidInput(f"there is no action of rank {shown} of {ranks}")
    writers = [_Rank(rank, ranks, host_speed) for rank in range(ranks)]
    for file in files:
        for number, rank, action, words in _lines(file):
            try:
                writers[rank].add(action, words)
            except (InvalidInput, ValueError, IndexError, OverflowError) as error:
                reason = error.message if isinstance(error, InvalidInput) else "wrong arguments"
                raise InvalidInput(f"{file}, line {number}, action {action}: {reason}") from error
    unfinished = [str(writer.rank) for writer in writers if not writer.finished]
    if unfinished:
        raise InvalidInput(f"there is no finalize of rank {', '.join(unfinished[:8])}")
    header = TraceHeader(
        ranks=ranks,
        program=sources[0].stem or "trace",
        captured_by="time-independent trace",
        host_speed=host_speed,
    )
    blocks = [RankBlock(bytes(writer.encoded), writer.operations) for writer in writers]
    return write_trace(output, header, blocks)


class _Rank:
    """Encodes the actions of one rank."""

    def __init__(self, rank: int, ranks: int, host_speed: float | None) -> None:
        self.rank = rank
        self.encoded = bytearray()
        self.operations = 0
        self.finished = False
        self._ranks = ranks
        self._host_speed = host_speed
        self._default = _BYTE
        self._open: dict[tuple[int, int, int], deque[int]] = {}
        self._slots = Slots()

    def add(self, action: str, words: Sequence[str]) -> None:
        """Add one action.

        Raises:
            InvalidInput: It is unknown, or its arguments are out of range.
            ValueError, IndexError, OverflowError: Its arguments are no numbers, or too few.
        """
        if self.finished:
            raise InvalidInput(f"rank {self.rank} has finished before")
        if action in _IGNORED:
            if action == "init" and words:
                self._default = _DOUBLE
            return
        if action not in _ACTIONS:
            allowed = ", ".join(sorted((*_ACTIONS, *_IGNORED)))
            raise InvalidInput(f"no such action; allowed: {allowed}")
        _ACTIONS[action](self, action, words)

    def compute(self, _: str, words: Sequence[str]) -> None:
        """`compute flops`."""
        self._flops(words[0])

    def sleep(self, _: str, words: Sequence[str]) -> None:
        """`sleep seconds`; what SMPI charges for a look at the clock stands for such a look."""
        if float(words[0]) == float(WTIME_SECONDS):
            self._put("wtime")
        elif self._host_speed is None:
            raise InvalidInput("--host-speed must say how many flops a second of sleep stands for")
        else:
            self._flops(str(float(words[0]) * self._host_speed))

    def message(self, action: str, words: Sequence[str]) -> None:
        """`send|isend|recv|irecv peer tag count [type]`."""
        peer, tag = self._peer(words[0]), int(words[1])
        if tag < 0:
            raise InvalidInput("messages with any tag cannot be imported")
        fields = {"peer": peer, "tag": tag, "count": _count(words[2]), "size": self._size(words, 3)}
        if action.startswith("i"):
            slot = self._slots.take()
            key = (self.rank, peer, tag) if action == "isend" else (peer, self.rank, tag)
            self._open.setdefault(key, deque()).append(slot)
            fields["slot"] = slot
        self._put(action, **fields)

    def sendrecv(self, _: str, words: Sequence[str]) -> None:
        """`sendRecv sent target received source [type type]`, which tells no tags."""
        fields: dict[str, Value] = {"to": self._peer(words[1]), "from": self._peer(words[3])}
        fields |= {"send_count": _count(words[0]), "send_size": self._size(words, 4)}
        fields |= {"recv_count": _count(words[2]), "recv_size": self._size(words, 5)}
        self._put("sendrecv", **fields)

    def wait(self, _: str, words: Sequence[str]) -> None:
        """`wait source target tag`, which does nothing where no such request is open."""
        key = int(words[0]), int(words[1]), int(words[2])
        waiting = self._open.get(key)
        if waiting:
            slot = waiting.popleft()
            if not waiting:
                del self._open[key]
            self._slots.free([slot])
            self._put("wait", slot=slot)

    def waitall(self, *_: object) -> None:
        """`waitall`, of all open requests."""
        if self._slots:
            self._put("waitall", slots=self._slots.taken)
        self._open.clear()
        self._slots = Slots()

    def finalize(self, *_: object) -> None:
        """`finalize`."""
        self.waitall()
        self._put("finalize")
        self.finished = True

    def barrier(self, *_: object) -> None:
        """`barrier`."""
        self._put("barrier")

    def bcast(self, _: str, words: Sequence[str]) -> None:
        """`bcast count [root [type]]`."""
        count, root = _count(words[0]), self._root(words, 1)
        self._put("bcast", root=root, count=count, size=self._size(words, 2))

    def reduction(self, action: str, words: Sequence[str]) -> None:
        """`reduce count flops [root [type]]`; without the root: allreduce, scan, exscan."""
        rooted = action == "reduce"
        fields = {"count": _count(words[0]), "size": self._size(words, 2 + rooted)}
        self._put(action, **fields, **({"root": self._root(words, 2)} if rooted else {}))
        self._flops(words[1])

    def blocks(self, action: str, words: Sequence[str]) -> None:
        """`gather|scatter|allgather|alltoall sent received [root] [type [type]]`."""
        rooted = action in ("gather", "scatter")
        fields = {
            "send_count": _count(words[0]),
            "send_size": self._size(words, 2 + rooted),
            "recv_count": _count(words[1]),
            "recv_size": self._size(words, 3 + rooted),
        }
        self._put(action, **fields, **({"root": self._root(words, 2)} if rooted else {}))

    def gatherv(self, _: str, words: Sequence[str]) -> None:
        """`gatherv sent received... [root [type type]]`."""
        root = self._root(words, 1 + self._ranks)
        self._put(
            "gatherv",
            root=root,
            send_count=_count(words[0]),
            send_size=self._size(words, 2 + self._ranks),
            recv_size=self._size(words, 3 + self._ranks),
            recv_counts=self._counts(words, 1) if root == self.rank else (),
        )

    def scatterv(self, _: str, words: Sequence[str]) -> None:
        """`scatterv sent... received [root [type type]]`."""
        root = self._root(words, 1 + self._ranks)
        self._put(
            "scatterv",
            root=root,
            send_size=self._size(words, 2 + self._ranks),
            recv_count=_count(words[self._ranks]),
            recv_size=self._size(words, 3 + self._ranks),
            send_counts=self._counts(words, 0) if root == self.rank else (),
        )

    def allgatherv(self, _: str, words: Sequence[str]) -> None:
        """`allgatherv sent received... [type [type]]`, also with displacements for types."""
        rest = list(words[1 + self._ranks :])
        only_displacements = len(rest) == self._ranks > 2
        types = [] if only_displacements else rest[: 2 if len(rest) == 2 else 1]
        self._put(
            "allgatherv",
            send_count=_count(words[0]),
            send_size=self._size(types, 0),
            recv_size=self._size(types, max(len(types) - 1, 0)),
            recv_counts=self._counts(words, 1),
        )

    def alltoallv(self, _: str, words: Sequence[str]) -> None:
        """`alltoallv sum sent... sum received... [type type]`."""
        self._put(
            "alltoallv",
            send_size=self._size(words, 2 + 2 * self._ranks),
            recv_size=self._size(words, 3 + 2 * self._ranks),
            send_counts=self._counts(words, 1),
            recv_counts=self._counts(words, 2 + self._ranks),
        )

    def reducescatter(self, _: str, words: Sequence[str]) -> None:
        """`reducescatter count... flops [type]`."""
        size = self._size(words, 1 + self._ranks)
        self._put("reduce_scatter", size=size, counts=self._counts(words, 0))
        self._flops(words[self._ranks])

    def _put(self, name: str, **fields: Value) -> None:
        self.encoded += encode(name, **fields)
        self.operations += 1

    def _flops(self, word: str) -> None:
        flops = float(word)
        if not 0 <= flops < 1e30:
            raise InvalidInput(f"{word} is no amount of computation")
        if flops:
            self._put("compute", flops=flops)

    def _peer(self, word: str) -> int:
        peer = int(word)
        if peer < 0:
            raise InvalidInput("messages from any source, or to nobody, cannot be imported")
        return self._known(peer)

    def _root(self, words: Sequence[str], at: int) -> int:
        return self._known(int(words[at])) if at < len(words) else 0

    def _known(self, rank: int) -> int:
        if not 0 <= rank < self._ranks:
            raise InvalidInput(f"there is no rank {rank}: the trace has {self._ranks}")
        return rank

    def _counts(self, words: Sequence[str], at: int) -> list[int]:
        if at + self._ranks > len(words):
            raise InvalidInput(f"a collective of all {self._ranks} ranks needs a count of each")
        return [_count(word) for word in words[at : at + self._ranks]]

    def _size(self, words: Sequence[str], at: int) -> int:
        if at >= len(words):
            return self._default
        if int(words[at]) not in SIZES:
            known = ", ".join(map(str, SIZES))
            raise InvalidInput(f"the datatype {words[at]} is not known; known: {known}")
        return SIZES[int(words[at])]


_ACTIONS: dict[str, Callable[[_Rank, str, Sequence[str]], None]] = {
    "compute": _Rank.compute,
    "sleep": _Rank.sleep,
    "sendRecv": _Rank.sendrecv,
    "wait": _Rank.wait,
    "waitall": _Rank.waitall,
    "finalize": _Rank.finalize,
    "barrier": _Rank.barrier,
    "bcast": _Rank.bcast,
    "gatherv": _Rank.gatherv,
    "scatterv": _Rank.scatterv,
    "allgatherv": _Rank.allgatherv,
    "alltoallv": _Rank.alltoallv,
    "reducescatter": _Rank.reducescatter,
    **dict.fromkeys(("send", "isend", "recv", "irecv"), _Rank.message),
    **dict.fromkeys(("reduce", "allreduce", "scan", "exscan"), _Rank.reduction),
    **dict.fromkeys(("gather", "scatter", "allgather", "alltoall"), _Rank.blocks),
}


def _count(word: str) -> int:
    """A count, which SimGrid writes as a floating-point number."""
    value = float(word)
    if value < 0 or value != int(value):
        raise InvalidInput(f"{word} is no count")
    return int(value)


def _files(source: Path) -> list[Path]:
    """The files with actions: the source, what it lists, or those of a directory, each once."""
    if source.is_dir():
        parts = sorted(source.iterdir())
        for path in parts:
            check_plain(path)  # to pass over it would leave out a rank
        found = [file for path in parts if path.is_file() for file in _files(path)]
        return list({file.resolve(): file for file in found}.values())
    words = next((line.split() for line in _text(source) if line.strip()), ["0"])
    if words[0].isdigit():
        return [source]
    return [_listed(source, line.strip()) for line in _text(source) if line.strip()]


def _listed(source: Path, name: str) -> Path:
    """The file that a list names.

    smpirun takes names from where it runs, which is the folder of the list, one above it, or the
    working directory. Whatever they say, nothing outside of the folder of the list is read.
    """
    folder = source.parent.resolve()
    check_plain(folder / name)
    candidates = [base / name for base in (folder, Path.cwd(), *folder.parents)]
    files = [file for file in candidates if _is_file(file)]
    inside = [file for file in files if file.resolve().is_relative_to(folder)]
    if not inside:
        reason = "outside of its folder" if files else "neither an action of a rank nor a file"
        raise InvalidInput(f"{source}: {reason}: {name[:80]}")
    return inside[0]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or has a null character
        return False


def _lines(file: Path) -> Iterator[tuple[int, int, str, list[str]]]:
    """Line number, rank, action and arguments of every line."""
    for number, line in enumerate(_text(file), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            raise InvalidInput(f"{file}, line {number}: this is not a rank and its action")
        yield number, int(match[1]), match[2], match[3].split()


def _text(file: Path) -> Iterator[str]:
    check_plain(file)
    try:
        with file.open(errors="replace") as lines:
            yield from lines
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
